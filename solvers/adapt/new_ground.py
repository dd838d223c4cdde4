"""A surface that takes the place of another one, and how a bound motion goes over it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..core.types import TriangleMesh
from ..surface.followed_ground import Ground
from ..surface.ground_heights import GroundHeights
from ..surface.point_transfer import (
    CLOSEST,
    Levels,
    TransferredPoints,
    along_gravity,
    by_closest_point,
    highest,
    stood_on,
)
from .binding import Binding
from .stances import feet

# Metres at 1.8 m: a step that a body goes up or down; how far over the level around it, and below, points may lie.
STEP, UP, DOWN = 0.5, 0.6, 1.0


@dataclass(frozen=True)
class NewGround:
    """mesh: Z up.  heights: of its faces that look up; None where there is none.  ways: (F, W, 2) of the root and of
    the feet that stand on what it replaces, as seen from above, and levels: (F, W) of the ground there; None where the
    root never comes over it.  upright: (3, 3) the rotation of the world that makes gravity point down.
    positions: (F, J, 3) joints at bind, Z up.  scale: body height / 1.8 m."""

    mesh: TriangleMesh
    heights: GroundHeights | None
    ways: np.ndarray
    levels: np.ndarray | None
    upright: np.ndarray
    positions: np.ndarray
    scale: float

    @classmethod
    def of(cls, binding: Binding, number: int, mesh: TriangleMesh, gravity) -> NewGround:
        """number: of the object that is replaced.  mesh: world.  gravity: (3,) unit vector."""
        upright, scale, levels = _upright(gravity), binding.scale, None
        mesh = TriangleMesh(mesh.name, mesh.vertices @ upright.T, mesh.triangles)
        heights, positions = stood_on(mesh), binding.track.positions @ upright.T
        roots = positions[:, binding.tree.order[: binding.tree.roots]].mean(axis=1)
        stands = [foot for foot in feet(binding) if binding.touched[number][:, foot].any()]
        ways = np.stack((roots, *(positions[:, foot.argmax()] for foot in stands)), axis=1)[..., :2]
        if heights is not None:
            way = Levels.along(heights, ways[:, 0], float(roots[0, 2]), STEP * scale)
            levels = None if way is None else _levels(heights, ways, way.heights, STEP * scale)
        return cls(mesh, heights, ways, levels, upright, positions, scale)

    @property
    def reach(self) -> tuple[float, float]:
        """Metres above and below the levels."""
        return UP * self.scale, DOWN * self.scale

    def over(self, origins: np.ndarray, axes: np.ndarray, how: str) -> TransferredPoints:
        """Points (N, 3) with axes (N, 3, 3), world, on the ground, GRAVITY or CLOSEST; see ``point_transfer``."""
        places = origins @ self.upright.T, self.upright @ axes
        if how == CLOSEST:
            return self.in_world(by_closest_point(*places, self.mesh))
        known = self.levels
        levels = None if known is None else Levels(self.ways.reshape(-1, 2), known.ravel())
        return self.in_world(along_gravity(*places, self.mesh, self.heights, levels, *self.reach))

    def levels_at(self, rows: np.ndarray, points: np.ndarray) -> np.ndarray:
        """(N,) of the ground at points (N, 2 or 3) that the body comes to at rows (N,): those at its root or at the
        foot that is nearest then. The fore legs of an animal are on other steps of a stair than its root."""
        away = ((self.ways[rows] - points[:, None, :2]) ** 2).sum(axis=-1)
        return self.levels[rows, away.argmin(axis=1)]

    def in_world(self, points: TransferredPoints) -> TransferredPoints:
        """Points that were found with gravity down."""
        return replace(points, origins=points.origins @ self.upright, axes=self.upright.T @ points.axes)

    def faced(self, binding: Binding, number: int, rows: slice) -> np.ndarray:
        """(f, P) triangles below the body's samples, or above them where they are inside, at some frames; -1 where
        there are none, or the samples were far from the object that this one replaces."""
        out = np.full(binding.side[number, rows].shape, -1, np.int32)
        if self.levels is None:
            return out
        near = np.nonzero(binding.side[number, rows] >= 0)
        joints = np.moveaxis(self.positions[rows], 0, -1)[binding.tree.order]
        samples = np.moveaxis(binding.samples.positions(joints), -1, 0)[near]
        up = np.broadcast_to([0.0, 0.0, 1.0], samples.shape)
        levels = self.levels_at(near[0] + range(len(self.levels))[rows].start, samples)
        triangle, hit, _ = highest(self.heights, self.mesh, samples, up, levels, *self.reach)
        out[near[0][hit], near[1][hit]] = triangle
        return out


def _levels(heights, ways, roots, step):
    """(F, W) along ways (F, W, 2), of which the first is the roots', whose levels (F,) are known: at every frame from
    the root to each other one by steps."""
    others = ways[:, 1:].reshape(1, -1, 2)
    count = ways.shape[1] - 1
    if not count:
        return roots[:, None]
    starts, level = (np.repeat(part, count, axis=0) for part in (ways[:, 0], roots))
    found = Ground(heights, level, starts).along(others, step).levels
    return np.column_stack((roots, found.reshape(-1, count)))


def _upright(gravity) -> np.ndarray:
    up = -np.asarray(gravity, float)
    if (up == (0.0, 0.0, 1.0)).all():
        return np.eye(3)
    side = np.eye(3)[np.abs(up).argmin()]
    first = np.cross(side, up) / np.linalg.norm(np.cross(side, up))
    return np.stack((first, np.cross(up, first), up))
