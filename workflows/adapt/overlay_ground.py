"""What has taken the place of objects, as the viewport shows it: where their points and the feet on them are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...scene.instances import ShownInstances
from ...scene.present import mesh_now
from ...solvers.adapt.binding import Binding
from ...solvers.adapt.options import IGNORE, SurfaceUse
from ...solvers.adapt.present_places import Replaced, known_places
from ...solvers.adapt.standing import Standing
from ...solvers.core.errors import InputError
from ...solvers.core.types import MeshTrack, TriangleMesh
from ..environment.replaced import is_replaced, known_objects, together


@dataclass(frozen=True)
class PresentGrounds:
    """replaced: by the numbers of objects what has taken their places.  meshes: by these, world.  standing: the feet on
    all of them, at bind and, origins (M, 3) and axes (M, 3, 3), now."""

    replaced: Mapping[int, Replaced]
    meshes: Mapping[int, TriangleMesh]
    standing: Standing
    origins: np.ndarray
    axes: np.ndarray

    def points(self, binding: Binding, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of an object the rows (K,) of its descriptors that have ground, their origins (K, 3) and axes (K, 3, 3)."""
        found = self.replaced[number].points
        origins, axes = found.frames(self.meshes[number])
        return binding.points.of_object(number)[found.found], origins[0, found.found], axes[0, found.found]

    def carried(self, binding: Binding, number: int, row: int, joints: np.ndarray):
        """Of joints (D,) that touch an object at a row, whether a stance holds them (D,), and of those that it does
        their places (D, 3) and the origins and normals (D, 3) of the ground they are on; without ground they are NaN.
        """
        stances = self.standing.stances
        here = (stances.joints[:, joints] & (stances.number == number)[:, None]) * stances.weights[:, row, None]
        if not len(stances):
            return np.zeros(len(joints), bool), *np.zeros((3, len(joints), 3))
        best = here.argmax(axis=0)
        stands = here[best, np.arange(len(joints))] > 0.5
        turn = self.axes[best] @ np.swapaxes(self.standing.axes[best], -1, -2)
        away = binding.track.positions[row, joints] - self.standing.origins[best]
        origins = np.where(self.standing.found[best, None], self.origins[best], np.nan)
        return stands, origins + np.einsum("dab,db->da", turn, away), origins, self.axes[best, :, 0]


def present_grounds(depsgraph, binding: Binding, used) -> PresentGrounds | None:
    """Of the entries of the list of each object that was bound, None for those that are not in it; None where nothing
    is replaced by what can be used."""
    chosen = {k: item for k, item in enumerate(used) if _is_shown(item)}
    objects = {k: known_objects(item) for k, item in chosen.items()}
    shown = ShownInstances(depsgraph, [ob for group in objects.values() for ob in group])
    meshes = {k: _together(depsgraph, group, shown) for k, group in objects.items()}
    meshes = {k: mesh for k, mesh in meshes.items() if mesh is not None}
    uses = [SurfaceUse(replaced=chosen[k].along) if k in meshes else SurfaceUse() for k in range(len(used))]
    try:
        if not meshes:
            return None
        replaced, standing = known_places(binding, meshes, uses)
        origins, axes = standing.frames([meshes.get(k) for k in range(len(used))])
    except InputError:  # nothing of it lies where the motion goes; solving says so
        return None
    return PresentGrounds(replaced, meshes, standing, origins[0], axes[0])


def _is_shown(item) -> bool:
    return item is not None and is_replaced(item) and item.mode != IGNORE and item.influence > 0.0


def _together(depsgraph, objects, shown) -> TriangleMesh | None:
    """Objects as one surface; None where one of them is not there."""
    parts = [mesh_now(depsgraph, ob, shown) for ob in objects]
    if not parts or any(part is None for part in parts):
        return None
    return together([MeshTrack(part.name, part.vertices[None], part.triangles) for part in parts]).state(0)
