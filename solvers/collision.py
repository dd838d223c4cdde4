"""Half-spaces that keep a body clear of the changed environment, and its contacts at their distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .joint_tree import JointTree
from .sides import sided
from .surface_track import SurfaceTrack
from .tree_goals import Halfspaces

# Metres at a 1.8 m body between samples of a bone: the edge of a box must not pass between two of them.
SPACING = 0.04
# Metres at a 1.8 m body: clearance beyond CLEARANCE is not defended; deeper than REACH a point counts as outside.
CLEARANCE = 0.05
REACH = 0.3
# Share of the reach that a sample may travel to leave an object by the side it was on.
EXIT_SHARE = 0.5
# Share of the reach that a point beyond it must move before it is asked again: it may be deep inside, not outside.
_MARGIN = 0.25


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


class Colliders:
    """Obstacles of a warp (``tree_goals.Obstacles``): the changed environment for a batch of frames.

    A sample that was found farther away than its goal cannot collide before it has moved by the difference, so it is
    not asked again until then: after the first look only the samples near a surface cost anything.
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
    ):
        self._surfaces, self._samples, self._goals, self._frames = surfaces, samples, goals, frames
        self._weight, self._hold_weight, self._reach = weight, hold_weight, reach
        shape = goals.least.shape
        self._seen = np.zeros((shape[0], shape[1], 3, shape[2]))
        self._slack = np.full(shape, -1.0)

    def take(self, keep) -> Colliders:
        """The obstacles of some of the frames, with what is known of them."""
        out = Colliders.__new__(Colliders)
        out._surfaces, out._samples, out._goals = self._surfaces, self._samples, self._goals.take(keep)
        out._frames, out._weight, out._hold_weight = self._frames[keep], self._weight, self._hold_weight
        out._reach, out._seen, out._slack = self._reach, self._seen[..., keep], self._slack[..., keep]
        return out

    def weighted(self, weight: float, hold_weight: float) -> Colliders:
        """The same obstacles with other weights; what is known of distances is kept."""
        out = self.take(slice(None))
        out._seen, out._slack = self._seen.copy(), self._slack.copy()
        out._weight, out._hold_weight = weight, hold_weight
        return out

    def __call__(self, joints: np.ndarray) -> Halfspaces:
        """joints: (J, 3, F) in tree order."""
        points = self._samples.positions(joints)
        parts = [self._near(obj, points) for obj in range(len(self._surfaces))]
        sample, frame, normal, short, weight = (np.concatenate(part) for part in zip(*parts, strict=True))
        s = self._samples
        return Halfspaces(s.body[sample], s.child[sample], s.fraction[sample], frame, normal, short, weight)

    def _near(self, obj, points):
        """Rows (sample, frame, normal, shortfall, weight) of one object."""
        moved = points - self._seen[obj]
        slack = self._slack[obj]
        moved2 = moved[:, 0] ** 2 + moved[:, 1] ** 2 + moved[:, 2] ** 2
        sample, frame = np.nonzero((slack <= 0) | (moved2 >= slack * slack))
        at = points[sample, :, frame]
        margin = _MARGIN * self._reach
        goals, surface, when = self._goals, self._surfaces[obj], self._frames[frame]
        found = surface.query(at, when, self._reach + margin)
        distance = found.distance
        least, held, hold, side = (a[obj][sample, frame] for a in (goals.least, goals.held, goals.hold, goals.side))
        seen = np.abs(distance) <= self._reach
        slack = np.where(distance < -self._reach, -distance - self._reach, distance - least)
        slack[np.isinf(distance)] = margin
        # A held sample is asked every time, like one that collides.
        self._slack[obj][sample, frame] = np.where(hold > 0, -1.0, slack)
        self._seen[obj][sample, :, frame] = at
        distance, normal = sided(surface, at, when, found, side, EXIT_SHARE * self._reach)
        short = np.where(seen, least - distance, 0.0)
        hits = np.flatnonzero(short > 0)
        holds = np.flatnonzero(seen & (hold > 0))
        rows = np.concatenate((hits, holds))
        shortfall = np.concatenate((short[hits], held[holds] - distance[holds]))
        weight = np.concatenate((np.full(len(hits), self._weight), self._hold_weight * hold[holds]))
        return sample[rows], frame[rows], normal[rows], shortfall, weight
