"""A rig and its surroundings at this very moment, read while the viewport draws: nothing is evaluated for it."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ..solvers.core.errors import StaleBindingError
from ..solvers.core.types import TriangleMesh
from .evaluation import is_updated
from .instances import MeshSurface, ShownInstances


@dataclass(frozen=True)
class Shape:
    """positions: (V, 3) float32, local.  world: (4, 4)."""

    positions: np.ndarray
    world: np.ndarray

    def corners(self, triangles: np.ndarray) -> np.ndarray:
        """(M, 3, 3) world corners of triangles (M, 3)."""
        flat = self.positions[triangles.reshape(-1)] @ self.world[:3, :3].T + self.world[:3, 3]
        return flat.reshape(*triangles.shape, 3)


def shape_now(
    depsgraph: bpy.types.Depsgraph, ob: bpy.types.Object, shown: ShownInstances | None = None
) -> Shape | None:
    """The surface of an object as it was evaluated last, or None where Blender does not update it.

    shown: where what objects show as instances is to be part of them.
    """
    return _read_now(depsgraph, ob, shown, lambda surface, world: Shape(surface.positions, world))


def mesh_now(depsgraph: bpy.types.Depsgraph, ob: bpy.types.Object, shown: ShownInstances) -> TriangleMesh | None:
    """As ``shape_now`` with its triangles, world."""

    def whole(surface, world):
        vertices = surface.positions.astype(float) @ world[:3, :3].T + world[:3, 3]
        return TriangleMesh(ob.name_full, vertices, surface.triangles)

    return _read_now(depsgraph, ob, shown, whole)


def _read_now(depsgraph, ob, shown, made):
    """What is made of the surface of an object and its world, None where Blender does not update it."""
    if not is_updated(ob, depsgraph) or (shown is not None and not shown.are_told(ob)):
        return None
    evaluated = ob.evaluated_get(depsgraph)
    world = np.array(evaluated.matrix_world)
    try:
        mesh = evaluated.to_mesh()
        parts = () if mesh is None else mesh.vertices if shown is None else mesh.polygons
        own = MeshSurface(mesh) if len(parts) else None
        surface = own if shown is None else shown.with_own(ob, own, world, "")
        return None if surface is None else made(surface, world)
    finally:
        evaluated.to_mesh_clear()


def joints_now(depsgraph: bpy.types.Depsgraph, ob: bpy.types.Object, names: tuple[str, ...]) -> np.ndarray:
    """(J, 3) world places of joints as the rig was evaluated last: heads of bones, tails of those named "<bone>/tail".

    Raises StaleBindingError where a bone is gone.
    """
    evaluated = ob.evaluated_get(depsgraph)
    bones = evaluated.pose.bones
    count = len(bones)
    ends = np.empty((2, count, 3), np.float32)
    bones.foreach_get("head", ends[0].reshape(-1))
    bones.foreach_get("tail", ends[1].reshape(-1))
    index = {name: k for k, name in enumerate(bones.keys())}
    rows = [index[name] if name in index else count + index.get(name.removesuffix("/tail"), count) for name in names]
    if max(rows) >= 2 * count:
        lost = names[int(np.argmax(rows))].removesuffix("/tail")
        raise StaleBindingError(f"'{ob.name}' has no bone '{lost}' as it was bound; undo the renaming or bind again.")
    world = np.array(evaluated.matrix_world)
    return ends.reshape(-1, 3)[rows] @ world[:3, :3].T + world[:3, 3]
