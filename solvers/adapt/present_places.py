"""Where the descriptors of a binding are now: on their objects, or on what has taken the place of those."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..core.types import MeshTrack, TriangleMesh
from ..surface.descriptor_frames import DescriptorPoints, descriptor_frames
from ..surface.point_transfer import (
    CLOSEST,
    GRAVITY,
    Levels,
    TransferredPoints,
    along_gravity,
    by_closest_point,
    stood_on,
)
from .binding import Binding
from .options import SurfaceUse

# Metres at 1.8 m: a step that a body goes up or down; how far over the level of its way, and below, points may lie.
STEP, UP, DOWN = 0.5, 0.6, 1.0
# What a point without ground counts beside others: it matters where a joint has no other.
LOST = 1e-3


@dataclass(frozen=True)
class PresentPlaces:
    """origins (S, N, 3), axes (S, N, 3, 3): of the descriptors now, S = 1 or F.
    transferred: by the number of each object that is replaced, its points on the other surface."""

    origins: np.ndarray
    axes: np.ndarray
    transferred: Mapping[int, TransferredPoints]

    def shares(self, binding: Binding) -> np.ndarray | None:
        """(N,) how much each descriptor counts; None where all count alike."""
        if all(points.found.all() for points in self.transferred.values()):
            return None
        return np.where(found_points(binding, self.transferred), 1.0, LOST)


def found_points(binding: Binding, transferred: Mapping[int, TransferredPoints]) -> np.ndarray:
    """(N,) bool: descriptors that are on something now."""
    out = np.ones(len(binding.points), bool)
    for number, points in transferred.items():
        out[binding.points.object_index == number] = points.found
    return out


def present_places(
    binding: Binding,
    environment: Sequence[MeshTrack],
    uses: Sequence[SurfaceUse],
    gravity=(0.0, 0.0, -1.0),
    known: Mapping[int, TransferredPoints] | None = None,
) -> PresentPlaces:
    """Of an environment in the binding's order, in all its states.

    known: of objects that are replaced, by their numbers, where that is known.
    Raises InputError where nothing of a replacement lies where the motion goes, by name.
    """
    replaced = [k for k, use in enumerate(uses) if use.replaced]
    if not replaced:
        return PresentPlaces(*descriptor_frames(binding.points, environment), {})
    transferred = {
        k: (known or {}).get(k) or transfer(binding, k, environment[k].state(0), uses[k].replaced, gravity)
        for k in replaced
    }
    parts = [_frames(binding, k, mesh, transferred.get(k)) for k, mesh in enumerate(environment)]
    states = max(len(origins) for _, origins, _ in parts)
    count = len(binding.points)
    out = np.empty((states, count, 3)), np.empty((states, count, 3, 3))
    for columns, origins, axes in parts:
        out[0][:, columns], out[1][:, columns] = origins, axes
    return PresentPlaces(*out, transferred)


def _frames(binding, number, mesh, points):
    """Which descriptors are of an object, and their origins and axes."""
    columns = columns_of(binding, number)
    if points is not None:
        return columns, *points.frames(mesh)
    return columns, *descriptor_frames(points_of(binding, columns), [mesh])


def columns_of(binding: Binding, number: int) -> np.ndarray:
    """The numbers of the descriptors of an object."""
    return np.flatnonzero(binding.points.object_index == number)


def points_of(binding: Binding, columns: np.ndarray) -> DescriptorPoints:
    """Descriptors of one object, as if there were no other."""
    points = binding.points
    return DescriptorPoints(np.zeros(len(columns), int), points.triangle[columns], points.barycentric[columns])


def transfer(binding: Binding, number: int, mesh: TriangleMesh, how: str, gravity) -> TransferredPoints:
    """The descriptors of an object on what takes its place: those of its first state, where it moved at bind.

    how: GRAVITY or CLOSEST.  Raises InputError where there is no place for any of them.
    """
    columns = columns_of(binding, number)
    origins, axes = binding.origins[0, columns], binding.axes[0, columns]
    if how == CLOSEST:
        return by_closest_point(origins, axes, mesh)
    upright = _upright(gravity)
    mesh = TriangleMesh(mesh.name, mesh.vertices @ upright.T, mesh.triangles)
    ground, scale = stood_on(mesh), binding.scale
    found = along_gravity(
        origins @ upright.T, upright @ axes, mesh, ground, way_over(binding, ground, upright), UP * scale, DOWN * scale
    )
    return TransferredPoints(
        found.places, found.local, found.found, found.origins @ upright, np.swapaxes(upright, 0, 1) @ found.axes
    )


def way_over(binding: Binding, ground, upright: np.ndarray) -> Levels | None:
    """The way of the body over a ground, Z up; None where there is none."""
    if ground is None:
        return None
    roots = binding.track.positions[:, binding.tree.order[: binding.tree.roots]].mean(axis=1) @ upright.T
    return Levels.along(ground, roots[:, :2], float(roots[0, 2]), STEP * binding.scale)


def _upright(gravity) -> np.ndarray:
    """(3, 3) the rotation that makes gravity point down."""
    up = -np.asarray(gravity, float)
    if (up == (0.0, 0.0, 1.0)).all():
        return np.eye(3)
    side = np.eye(3)[np.abs(up).argmin()]
    first = np.cross(side, up) / np.linalg.norm(np.cross(side, up))
    return np.stack((first, np.cross(up, first), up))


__all__ = ["CLOSEST", "GRAVITY", "PresentPlaces", "found_points", "present_places", "transfer"]
