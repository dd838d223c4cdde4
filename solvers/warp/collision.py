"""Half-spaces that keep a body clear of the changed environment, and its contacts at their distance."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ..skeleton.joint_tree import JointTree
from ..surface.closest_point import SurfaceHits
from ..surface.sides import SidedSurface, sided
from .energy import Keep, SparseTerm, part
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

    least: (O, P, F) never nearer than this.  hold: (O, P, F) how much ``held`` (O, P, F) is kept both ways, from 0.
    side: (O, P, F) the triangle each sample was nearest to at bind, -1 for none.
    """

    least: np.ndarray
    held: np.ndarray
    hold: np.ndarray
    side: np.ndarray

    def take(self, keep: Keep) -> DistanceGoals:
        return DistanceGoals(*(part(a, keep) for a in (self.least, self.held, self.hold, self.side)))


class Surfaces(SidedSurface, Protocol):
    """What ``Colliders`` ask: ``PresentSurfaces`` of a frame, ``SurfaceTracks`` of a batch. A point says by a number
    against which object, at which frame, it is asked."""

    def query(self, points: np.ndarray, number: np.ndarray, reach: np.ndarray | float) -> SurfaceHits: ...

    def at_least(self, points: np.ndarray, number: np.ndarray) -> np.ndarray: ...


class Colliders(SparseTerm):
    """Samples keep their distances to the environment as it is now.

    A sample that was found farther away than its goal cannot collide before it has moved by the difference, so it is
    not asked again until then. A sample that is near keeps the tangent plane of its closest place for ``fresh`` metres
    of its way: at the distance d of an edge that is wrong by fresh^2 / 2d at most, a quarter of a millimetre at 3 cm.
    """

    def __init__(
        self,
        surfaces: Surfaces,
        number: np.ndarray,
        samples: BodySamples,
        goals: DistanceGoals,
        weight: float,
        hold_weight: float,
        reach: float,
        fresh: float,
    ):
        """number: (O, F) by which the surfaces know each object at each frame; F = 1 for a frame alone.

        goals: (O, P, F).  weight: of never nearer;  hold_weight: of distances that are held.  reach: metres within
        which joints look for surfaces.  fresh: metres.
        """
        self._surfaces, self._number, self._samples, self._goals = surfaces, number, samples, goals
        self._weight, self._hold_weight, self._fresh = weight, hold_weight, fresh
        objects, count, frames = goals.least.shape
        joint = (samples.fraction == 0.0) | (samples.fraction == 1.0)
        self._reach, self._margin = np.where(joint, reach, BETWEEN_SHARE * reach), MARGIN * reach
        self._farthest = reach
        # Where each sample was asked, how far it may move unasked, and what was found: distance and its gradient.
        # Components come first, so that the number of a pair, (object P + sample) F + frame, finds it everywhere.
        self._seen = np.full((3, objects, count, frames), np.inf)
        self._slack = np.zeros((objects, count, frames))
        self._distance = np.zeros((objects, count, frames))
        self._gradient = np.zeros((3, objects, count, frames))
        self._planes: _Planes | None = None

    _KEPT = ("_seen", "_slack", "_distance", "_gradient")

    def take(self, keep: np.ndarray | int) -> Colliders:
        """The obstacles of some of the frames, with what is known of them."""
        out, keep = copy(self), np.atleast_1d(keep)
        out._goals, out._number, out._planes = self._goals.take(keep), self._number[:, keep], None
        for name in self._KEPT:
            setattr(out, name, part(getattr(self, name), keep))
        return out

    def raised(self, pose, by: float) -> Colliders:
        """The same, but samples that are too near have to keep so many metres more."""
        near, distance = self._distances(pose)
        short = near.least - distance
        hits = short > 0
        least = self._goals.least.copy()
        least.reshape(-1)[near.pairs[hits]] += by
        out = copy(self)
        out._goals, out._planes = replace(self._goals, least=least), None
        for name in self._KEPT:
            setattr(out, name, getattr(self, name).copy())
        return out

    def residual(self, tree, pose, quats) -> Halfspaces:
        near, distance = self._distances(pose)
        s, short = self._samples, near.least - distance
        hits, holds = np.flatnonzero(short > 0), near.holds
        chosen = np.concatenate((hits, holds))
        sample, frame = np.divmod(near.place[chosen], self._slack.shape[-1])
        return Halfspaces(
            s.body[sample],
            s.child[sample],
            s.fraction[sample],
            frame,
            near.gradient.take(chosen, axis=1).T,
            np.concatenate((short[hits], near.held[holds] - distance[holds])),
            np.concatenate((np.full(len(hits), self._weight), self._hold_weight * near.hold[holds])),
        )

    def lacking(self, pose) -> np.ndarray:
        """(F,) metres that the sample of each frame that is too near by most has to move away, 0 where none is."""
        near, distance = self._distances(pose)
        out = np.zeros(self._slack.shape[-1])
        np.maximum.at(out, near.place % len(out), near.least - distance)
        return out

    def slipping(self, pose) -> np.ndarray:
        """(F,) metres by which the held sample of each frame that is off by most misses its distance."""
        near, distance = self._distances(pose)
        out, held = np.zeros(self._slack.shape[-1]), near.holds
        np.maximum.at(out, near.place[held] % len(out), near.hold[held] * np.abs(near.held[held] - distance[held]))
        return out

    def _distances(self, pose):
        """The planes of the samples near a surface, and how far these are (N,)."""
        points = self._samples.positions(pose.joints.reshape(len(pose.joints), 3, -1))
        points = np.ascontiguousarray(points.transpose(1, 0, 2))
        way = points[:, None] - self._seen
        free = np.maximum(self._slack, self._fresh)
        asked = np.flatnonzero(np.einsum("kopf,kopf->opf", way, way) >= free * free)
        points = points.reshape(3, -1)
        if asked.size:
            self._ask(points, asked)
            self._planes = None
        if self._planes is None:
            self._planes = self._near()
        near = self._planes
        way = points.take(near.place, axis=1) - near.seen
        return near, near.distance + np.einsum("kn,kn->n", near.gradient, way)

    def _near(self):
        """What the samples near a surface know of it."""
        pairs = np.flatnonzero(self._slack < self._fresh)
        seen, gradient = (a.reshape(3, -1).take(pairs, axis=1) for a in (self._seen, self._gradient))
        goals = (self._goals.least, self._goals.held, self._goals.hold)
        distance, least, held, hold = (a.reshape(-1)[pairs] for a in (self._distance, *goals))
        place = pairs % self._slack[0].size
        return _Planes(pairs, place, seen, distance, gradient, least, held, hold, np.flatnonzero(hold > 0))

    def _ask(self, points, pairs):
        """Look up the closest places of some pairs and remember them: joints far, points between them near."""
        _, count, frames = self._slack.shape
        obj, place = np.divmod(pairs, count * frames)
        at, sample = points.take(place, axis=1), place // frames
        self._seen.reshape(3, -1)[:, pairs] = at
        at, number = np.ascontiguousarray(at.T), self._number[obj, place % frames]
        least, hold = self._goals.least.reshape(-1)[pairs], self._goals.hold.reshape(-1)[pairs]
        away = self._surfaces.at_least(at, number)
        # A sample that may be inside matters as well: bounds do not tell how deep it is.
        enough = np.maximum(np.where(hold > 0, np.maximum(least, self._farthest), least), 0.0)
        self._slack.reshape(-1)[pairs] = np.maximum(away - enough, self._fresh)
        close = np.flatnonzero(away <= enough)
        if close.size:
            self._query(pairs[close], at[close], number[close], self._reach[sample[close]])

    def _query(self, pairs, at, number, reach):
        found = self._surfaces.query(at, number, reach + self._margin)
        least, hold, side = (a.reshape(-1)[pairs] for a in (self._goals.least, self._goals.hold, self._goals.side))
        distance, gradient = sided(self._surfaces, at, number, found, side, EXIT_SHARE * self._farthest)
        self._slack.reshape(-1)[pairs] = slacks(found.distance, least, hold, reach, self._margin, self._fresh)
        self._distance.reshape(-1)[pairs] = distance
        self._gradient.reshape(3, -1)[:, pairs] = gradient.T


@dataclass(frozen=True)
class _Planes:
    """Tangent planes of N near samples.

    pairs: (N,) numbers of object, sample and frame.  place: (N,) sample F + frame.  seen: (3, N) where the sample was
    asked, with the distance (N,) and its gradient
    (3, N) there.  least, held, hold: (N,) of ``DistanceGoals``.  holds: those that are held.
    """

    pairs: np.ndarray
    place: np.ndarray
    seen: np.ndarray
    distance: np.ndarray
    gradient: np.ndarray
    least: np.ndarray
    held: np.ndarray
    hold: np.ndarray
    holds: np.ndarray


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
