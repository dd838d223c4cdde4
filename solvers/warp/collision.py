"""Half-spaces that keep a body clear of the changed environment, and its contacts at their distance."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np

from ..skeleton.joint_tree import JointTree
from ..surface.sides import sided
from ..surface.track import SurfaceTrack
from .energy import SparseTerm
from .sparse_residuals import Halfspaces

# Metres at a 1.8 m body between samples of a bone: the edge of a box must not pass between two of them.
SPACING = 0.04
# Metres at a 1.8 m body: clearance beyond CLEARANCE is not defended; deeper than REACH a point counts as outside.
CLEARANCE = 0.05
REACH = 0.3
# Share of the reach within which points between joints are looked up: a bone that is deeper in an object has other
# points nearer to its surface, or joints.
BETWEEN_SHARE = 0.4
# Share of the reach that a sample may travel to leave an object by the side it was on.
EXIT_SHARE = 0.5
# Metres at a 1.8 m body that a sample near a surface may move before it is asked again.
FRESH = 0.004
# Share of the reach that a point beyond it must move before it is asked again: it may be deep inside, not outside.
MARGIN = 0.25


@dataclass(frozen=True)
class BodySamples:
    """Points on a skeleton's centre lines: the roots, then evenly spaced ones on the way to every joint.

    body (P,): the joint whose rotation moves the sample;  child (P,), fraction (P,): place on the bone to the child.
    Joints are numbered in tree order.
    """

    body: np.ndarray
    child: np.ndarray
    fraction: np.ndarray

    @classmethod
    def of(cls, tree: JointTree, lengths: np.ndarray, spacing: float) -> BodySamples:
        """All samples of a tree. lengths: (J,) from each joint's parent, tree order;  spacing: metres."""
        roots = np.arange(tree.roots)
        joints = np.arange(tree.roots, len(tree.parents))
        count = np.maximum(np.ceil(lengths[tree.roots :] / spacing - 1e-6).astype(int), 1)
        child = np.repeat(joints, count)
        place = np.arange(1, len(child) + 1) - np.repeat(np.cumsum(count) - count, count)
        return cls(
            np.concatenate((roots, tree.parents[child])),
            np.concatenate((roots, child)),
            np.concatenate((np.zeros(tree.roots), place / np.repeat(count, count))),
        )

    def positions(self, joints: np.ndarray) -> np.ndarray:
        """(P, 3, F) from joints (J, 3, F) in tree order."""
        start = joints[self.body]
        return start + self.fraction[:, None, None] * (joints[self.child] - start)

    @property
    def at_joints(self) -> np.ndarray:
        """(J,) the sample that is each joint, in tree order."""
        whole = np.flatnonzero((self.fraction == 1.0) | (self.fraction == 0.0))
        return whole[np.argsort(self.child[whole], kind="stable")]


@dataclass(frozen=True)
class DistanceGoals:
    """Wanted distances of P samples to O objects over F frames, metres.

    least: (O, P, F) never nearer than this.  hold: (O, P, F) in [0, 1], how much ``held`` (O, P, F) is kept both ways.
    side: (O, P, F) the triangle each sample was nearest to at bind, -1 for none.
    """

    least: np.ndarray
    held: np.ndarray
    hold: np.ndarray
    side: np.ndarray

    def take(self, keep) -> DistanceGoals:
        return DistanceGoals(*(a[..., keep] for a in (self.least, self.held, self.hold, self.side)))


class Colliders(SparseTerm):
    """The changed environment for a batch of frames.

    A sample that was found farther away than its goal cannot collide before it has moved by the difference, so it is
    not asked again until then. A sample that is near keeps the tangent plane of its closest place for ``fresh`` metres
    of its way: at the distance d of an edge that is wrong by fresh^2 / 2d at most, a quarter of a millimetre at 3 cm.
    """

    def __init__(
        self,
        surfaces: list[SurfaceTrack],
        samples: BodySamples,
        goals: DistanceGoals,
        frames: np.ndarray,
        weight: float,
        hold_weight: float,
        reach: float,
        fresh: float,
    ):
        self._surfaces, self._samples, self._goals, self._frames = surfaces, samples, goals, frames
        self._weight, self._hold_weight, self._reach, self._fresh = weight, hold_weight, reach, fresh
        objects, count, frames = goals.least.shape
        # Where each sample was asked, how far it may move unasked, and what was found: distance and its gradient.
        self._seen = np.full((objects, count, 3, frames), np.inf)
        self._slack = np.zeros((objects, count, frames))
        self._distance = np.zeros((objects, count, frames))
        self._gradient = np.zeros((objects, count, 3, frames))

    _KEPT = ("_seen", "_slack", "_distance", "_gradient")

    def take(self, keep) -> Colliders:
        """The obstacles of some of the frames, with what is known of them."""
        out = copy(self)
        out._goals, out._frames = self._goals.take(keep), self._frames[keep]
        for name in self._KEPT:
            setattr(out, name, getattr(self, name)[..., keep])
        return out

    def weighted(self, weight: float, hold_weight: float) -> Colliders:
        """The same obstacles with other weights; what is known of distances is kept."""
        out = copy(self)
        for name in self._KEPT:
            setattr(out, name, getattr(self, name).copy())
        out._weight, out._hold_weight = weight, hold_weight
        return out

    def __call__(self, joints: np.ndarray) -> Halfspaces:
        """joints: (J, 3, F) in tree order."""
        points = self._samples.positions(joints)
        parts = [self._near(obj, points) for obj in range(len(self._surfaces))]
        sample, frame, normal, short, weight = (np.concatenate(part) for part in zip(*parts, strict=True))
        s = self._samples
        return Halfspaces(s.body[sample], s.child[sample], s.fraction[sample], frame, normal, short, weight)

    def residual(self, tree, pose, quats) -> Halfspaces:
        return self(pose.joints)

    def _near(self, obj, points):
        """Rows (sample, frame, normal, shortfall, weight) of one object."""
        moved = points - self._seen[obj]
        free = np.maximum(self._slack[obj], self._fresh)
        sample, frame = np.nonzero(moved[:, 0] ** 2 + moved[:, 1] ** 2 + moved[:, 2] ** 2 >= free * free)
        self._ask(obj, points, sample, frame)
        goals = self._goals
        sample, frame = np.nonzero(self._slack[obj] < self._fresh)
        gradient = self._gradient[obj][sample, :, frame]
        way = points[sample, :, frame] - self._seen[obj][sample, :, frame]
        distance = self._distance[obj][sample, frame] + np.einsum("ni,ni->n", gradient, way)
        least, held, hold = (a[obj][sample, frame] for a in (goals.least, goals.held, goals.hold))
        hits = np.flatnonzero(least > distance)
        holds = np.flatnonzero(hold > 0)
        rows = np.concatenate((hits, holds))
        shortfall = np.concatenate(((least - distance)[hits], held[holds] - distance[holds]))
        weight = np.concatenate((np.full(len(hits), self._weight), self._hold_weight * hold[holds]))
        return sample[rows], frame[rows], gradient[rows], shortfall, weight

    def _ask(self, obj, points, sample, frame):
        """Look up the closest places of some samples and remember them: joints far, points between them near."""
        joint = np.isin(self._samples.fraction[sample], (0.0, 1.0))
        for chosen, reach in ((joint, self._reach), (~joint, BETWEEN_SHARE * self._reach)):
            self._ask_within(obj, points, sample[chosen], frame[chosen], reach)

    def _ask_within(self, obj, points, sample, frame, reach):
        at, when = points[sample, :, frame], self._frames[frame]
        margin = MARGIN * self._reach
        goals, surface = self._goals, self._surfaces[obj]
        found = surface.query(at, when, reach + margin)
        least, hold, side = (a[obj][sample, frame] for a in (goals.least, goals.hold, goals.side))
        distance, gradient = sided(surface, at, when, found, side, EXIT_SHARE * self._reach)
        self._seen[obj][sample, :, frame] = at
        self._slack[obj][sample, frame] = slacks(found.distance, least, hold, reach, margin, self._fresh)
        self._distance[obj][sample, frame] = distance
        self._gradient[obj][sample, :, frame] = gradient


def slacks(
    distance: np.ndarray, least: np.ndarray, hold: np.ndarray, reach: float | np.ndarray, margin: float, fresh: float
) -> np.ndarray:
    """How far samples (M,) may move before they matter, metres; below ``fresh`` they matter now.

    distance: found, inf beyond reach + margin, or -inf.  least, hold: of ``DistanceGoals``.
    """
    deep = distance < -reach
    slack = np.where(deep, -distance - reach, distance - least)
    slack[np.isinf(distance)] = margin
    near = np.abs(distance) <= reach
    # A held sample matters at any distance within reach.
    slack = np.where(hold > 0, np.where(near, -1.0, np.minimum(slack, np.abs(distance) - reach)), slack)
    return np.maximum(slack, np.where(near, -np.inf, fresh))
