"""A surface that takes the place of another one, and how a bound motion goes over it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..core.types import TriangleMesh
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

# Metres at 1.8 m: a step that a body goes up or down; how far over the level of its way, and below, points may lie.
STEP, UP, DOWN = 0.5, 0.6, 1.0


@dataclass(frozen=True)
class NewGround:
    """mesh: Z up.  heights: of its faces that look up; None where there is none.  levels: of the body's way over them;
    None where it never comes there.  upright: (3, 3) the rotation of the world that makes gravity point down.
    positions: (F, J, 3) joints at bind, Z up.  scale: body height / 1.8 m."""

    mesh: TriangleMesh
    heights: GroundHeights | None
    levels: Levels | None
    upright: np.ndarray
    positions: np.ndarray
    scale: float

    @classmethod
    def of(cls, binding: Binding, mesh: TriangleMesh, gravity) -> NewGround:
        """mesh: world.  gravity: (3,) unit vector."""
        upright, scale, levels = _upright(gravity), binding.scale, None
        mesh = TriangleMesh(mesh.name, mesh.vertices @ upright.T, mesh.triangles)
        heights, positions = stood_on(mesh), binding.track.positions @ upright.T
        if heights is not None:
            roots = positions[:, binding.tree.order[: binding.tree.roots]].mean(axis=1)
            levels = Levels.along(heights, roots[:, :2], float(roots[0, 2]), STEP * scale)
        return cls(mesh, heights, levels, upright, positions, scale)

    @property
    def reach(self) -> tuple[float, float]:
        """Metres above and below the levels."""
        return UP * self.scale, DOWN * self.scale

    def over(self, origins: np.ndarray, axes: np.ndarray, how: str) -> TransferredPoints:
        """Points (N, 3) with axes (N, 3, 3), world, on the ground, GRAVITY or CLOSEST; see ``point_transfer``."""
        places = origins @ self.upright.T, self.upright @ axes
        if how == CLOSEST:
            return self.in_world(by_closest_point(*places, self.mesh))
        return self.in_world(along_gravity(*places, self.mesh, self.heights, self.levels, *self.reach))

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
        levels = self.levels.heights[rows][near[0]]
        triangle, hit, _ = highest(self.heights, self.mesh, samples, up, levels, *self.reach)
        out[near[0][hit], near[1][hit]] = triangle
        return out


def _upright(gravity) -> np.ndarray:
    up = -np.asarray(gravity, float)
    if (up == (0.0, 0.0, 1.0)).all():
        return np.eye(3)
    side = np.eye(3)[np.abs(up).argmin()]
    first = np.cross(side, up) / np.linalg.norm(np.cross(side, up))
    return np.stack((first, np.cross(up, first), up))
