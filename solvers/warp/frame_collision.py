"""Half-spaces that keep a body clear of the environment, for a single frame: ``collision.Colliders`` in few calls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..surface.present import PresentSurfaces
from ..surface.sides import sided
from .collision import BETWEEN_SHARE, EXIT_SHARE, MARGIN, BodySamples, DistanceGoals, slacks
from .energy import SparseTerm
from .sparse_residuals import Halfspaces


class FrameColliders(SparseTerm):
    """Obstacles of ``frame_warp``: all pairs of O objects and P samples in one row, pair = object P + sample.

    Pairs are asked for by the rules of ``Colliders``; where a sample is farther from an object's bounds than it has to
    be from the object, the bounds answer.
    """

    def __init__(
        self,
        surfaces: PresentSurfaces,
        objects: np.ndarray,
        samples: BodySamples,
        goals: DistanceGoals,
        weight: float,
        hold_weight: float,
        reach: float,
        fresh: float,
    ):
        """objects: (O,) numbers of the surfaces that count.  goals: of one frame, (O, P).  The rest as of
        ``Colliders``."""
        count = goals.least.shape[1]
        self._surfaces, self._samples = surfaces, samples
        self._weight, self._hold_weight, self._reach, self._fresh = weight, hold_weight, reach, fresh
        self._least, self._held, self._hold, self._side = (
            part.ravel() for part in (goals.least, goals.held, goals.hold, goals.side)
        )
        self._object, self._sample = np.repeat(objects, count), np.tile(np.arange(count), len(objects))
        joint = (samples.fraction == 0.0) | (samples.fraction == 1.0)
        self._reaches = np.tile(np.where(joint, reach, BETWEEN_SHARE * reach), len(objects))
        self._seen = np.full((len(objects), count, 3), np.inf)
        self._slack, self._distance = np.full(self._least.size, fresh), np.zeros(self._least.size)
        self._gradient = np.zeros((self._least.size, 3))
        self._near = np.zeros(0, int)

    def __call__(self, joints: np.ndarray) -> Halfspaces:
        """joints: (J, 3) in tree order; the half-spaces' ``frame`` is 0."""
        s = self._samples
        start = joints[s.body]
        points = start + s.fraction[:, None] * (joints[s.child] - start)
        way = points - self._seen
        free = np.maximum(self._slack, self._fresh)
        asked = np.flatnonzero(np.einsum("opk,opk->op", way, way).ravel() >= free * free)
        if asked.size:
            self._ask(points, asked)
        near = self._near
        sample = self._sample[near]
        gradient = self._gradient[near]
        way = points[sample] - self._seen.reshape(-1, 3)[near]
        distance = self._distance[near] + np.einsum("ni,ni->n", gradient, way)
        short, hold = self._least[near] - distance, self._hold[near]
        hits, holds = np.flatnonzero(short > 0), np.flatnonzero(hold > 0)
        rows = np.concatenate((hits, holds))
        sample = sample[rows]
        return Halfspaces(
            s.body[sample],
            s.child[sample],
            s.fraction[sample],
            np.zeros(len(rows), int),
            gradient[rows],
            np.concatenate((short[hits], (self._held[near] - distance)[holds])),
            np.concatenate((np.full(len(hits), self._weight), self._hold_weight * hold[holds])),
        )

    def residual(self, tree, pose, quats) -> Halfspaces:
        return self(pose.joints)

    def take(self, keep):
        raise NotImplementedError

    def _ask(self, points, pairs):
        """Look up the closest places of some pairs and remember them."""
        at, obj = points[self._sample[pairs]], self._object[pairs]
        self._seen.reshape(-1, 3)[pairs] = at
        outside = np.maximum(np.maximum(self._surfaces.lo[obj] - at, at - self._surfaces.hi[obj]), 0.0)
        outside = np.sqrt(np.einsum("mi,mi->m", outside, outside))
        enough = np.where(self._hold[pairs] > 0, np.maximum(self._least[pairs], self._reach), self._least[pairs])
        self._slack[pairs] = np.maximum(outside - enough, self._fresh)
        close = np.flatnonzero(outside <= enough)
        if close.size:
            self._query(at[close], obj[close], pairs[close])
        self._near = np.flatnonzero(self._slack < self._fresh)

    def _query(self, at, obj, pairs):
        reach, margin = self._reaches[pairs], MARGIN * self._reach
        found = self._surfaces.query(at, obj, self._reach + margin)
        found = replace(found, distance=np.where(np.abs(found.distance) <= reach + margin, found.distance, np.inf))
        self._slack[pairs] = slacks(found.distance, self._least[pairs], self._hold[pairs], reach, margin, self._fresh)
        limit = EXIT_SHARE * self._reach
        self._distance[pairs], self._gradient[pairs] = sided(
            self._surfaces, at, obj, found, self._side[pairs], limit
        )
