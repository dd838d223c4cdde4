"""What objects show as instances: geometry nodes that do not realize them, vertices, faces and particles.

Instances are no part of an object's own mesh, and stand on it all the same: what one sees is one surface.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import bpy
import numpy as np

from ..solvers.core.errors import SceneError
from .evaluation import is_updated
from .reached import node_trees
from .stillness import is_timeless
from .topology import Faces, read_faces, read_positions, read_triangles

# Nodes that make instances in versions of Blender that do not tell whether there are any.
_INSTANCING_NODES = frozenset(
    """GeometryNodeCollectionInfo GeometryNodeGeometryToInstance GeometryNodeGreasePencilToCurves GeometryNodeImportOBJ
    GeometryNodeImportPLY GeometryNodeImportSTL GeometryNodeInstanceOnPoints GeometryNodeObjectInfo
    GeometryNodeSplitToInstances GeometryNodeStringToCurves""".split()
)


class MeshSurface:
    """Geometry of a mesh, each part read when it is asked for and as long as the mesh is there."""

    def __init__(self, mesh: bpy.types.Mesh):
        self._mesh = mesh

    @cached_property
    def positions(self) -> np.ndarray:
        """(V, 3) float32, local."""
        return read_positions(self._mesh)

    @cached_property
    def faces(self) -> Faces:
        return read_faces(self._mesh)

    @cached_property
    def triangles(self) -> np.ndarray:
        """(T, 3), as Blender splits the faces."""
        return read_triangles(self._mesh)


@dataclass(frozen=True)
class JoinedSurface:
    """As `MeshSurface`, of several."""

    positions: np.ndarray
    faces: Faces
    triangles: np.ndarray


@dataclass(frozen=True)
class _Found:
    """instances: by ``session_uid`` and mesh, the surface and world matrices (n, 4, 4) at which an object shows it.
    themselves: ``session_uid`` of objects that are shown themselves too."""

    instances: dict[int, dict[int, tuple[MeshSurface, np.ndarray]]]
    themselves: set[int]


class ShownInstances:
    """The instances of some objects in one depsgraph, which is looked through once, when one of them is asked for.

    For handlers too: they may look in the depsgraph that they are handed.
    """

    def __init__(self, depsgraph: bpy.types.Depsgraph, objects: Iterable[bpy.types.Object]):
        self._depsgraph = depsgraph
        self._wanted = {ob.session_uid for ob in objects if shows_instances(ob, depsgraph)}

    def with_own(
        self, ob: bpy.types.Object, own: MeshSurface | None, world: np.ndarray, when: str
    ) -> MeshSurface | JoinedSurface | None:
        """The surface that an object shows, in its own space: its faces, if any, and its instances.

        own: of its mesh, None without faces.  world: (4, 4), of the object.
        Raises SceneError for one whose instances are not handed out.
        """
        if ob.session_uid not in self._wanted or not np.linalg.det(world[:3, :3]):
            return own
        if not self.are_told(ob):
            raise SceneError(
                f"'{ob.name_full}' is hidden from view{when}, and Blender reports the instances of visible "
                "objects only; show it, realize its instances (Realize Instances) or take it out of the environment."
            )
        uid, away = ob.session_uid, np.linalg.inv(world)
        shown = [(own, np.eye(4)[None])] if own is not None and uid in self._found.themselves else []
        shown += [(surface, away @ worlds) for surface, worlds in self._found.instances.get(uid, {}).values()]
        return _joined(shown) if shown else None

    def are_told(self, ob: bpy.types.Object) -> bool:
        """Whether Blender tells the instances that an object shows, if any: in the viewport those of visible ones."""
        is_wanted = ob.session_uid in self._wanted and self._depsgraph.mode != "RENDER"
        return not is_wanted or ob.visible_get(view_layer=self._depsgraph.view_layer)

    def has_faces(self, ob: bpy.types.Object) -> bool:
        """Whether an object shows instances with faces, as far as Blender tells."""
        return ob.session_uid in self._wanted and bool(self._found.instances.get(ob.session_uid))

    @cached_property
    def _found(self) -> _Found:
        meshes: dict[int, MeshSurface] = {}
        worlds: dict[int, dict[int, list]] = {}
        themselves: set[int] = set()
        for each in self._depsgraph.object_instances if self._wanted else ():
            if not each.show_self:
                continue
            owner = (each.parent if each.is_instance else each.object).original.session_uid
            if not each.is_instance:
                themselves.add(owner)
            elif owner in self._wanted and isinstance(each.object.data, bpy.types.Mesh):
                key = each.object.data.as_pointer()
                if key not in meshes:
                    meshes[key] = self._read(each.object)
                worlds.setdefault(owner, {}).setdefault(key, []).append(np.array(each.matrix_world))
        instances = {
            owner: {key: (meshes[key], np.array(found)) for key, found in of.items() if len(meshes[key].triangles)}
            for owner, of in worlds.items()
        }
        return _Found(instances, themselves)

    def _read(self, shown: bpy.types.Object) -> MeshSurface:
        """The surface of what is shown, read at once: the mesh may be a temporary one."""
        source = shown.original.evaluated_get(self._depsgraph)
        # Of an object's own mesh `to_mesh` tells more, such as in Edit Mode; another one comes from geometry nodes.
        is_own = source.data == shown.data
        try:
            surface = MeshSurface(source.to_mesh() if is_own else shown.data)
            _ = surface.positions, surface.faces, surface.triangles
        finally:
            if is_own:
                source.to_mesh_clear()
        return surface


def shows_instances(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether an object may show instances as it was evaluated; cheap."""
    if ob.is_instancer:
        return True
    trees = [each.node_group for each in ob.modifiers if each.type == "NODES" and not is_timeless(each)]
    if not trees or not is_updated(ob, depsgraph):
        return False
    evaluated = ob.evaluated_get(depsgraph)
    if hasattr(evaluated, "evaluated_geometry"):  # not in 4.2
        geometry = evaluated.evaluated_geometry()  # owns the points
        points = geometry.instances_pointcloud()
        return points is not None and len(points.points) > 0
    return any(_makes_instances(tree) for tree in trees)


def instanced_objects(ob: bpy.types.Object) -> list[bpy.types.Object]:
    """Objects that vertices, faces or particles of an object show as instances."""
    found = list(ob.children) if instances_children(ob) else []
    for system in ob.particle_systems:
        settings = system.settings
        if settings.render_type == "OBJECT" and settings.instance_object is not None:
            found.append(settings.instance_object)
        elif settings.render_type == "COLLECTION" and settings.instance_collection is not None:
            found += settings.instance_collection.all_objects
    return found


def instance_sources(ob: bpy.types.Object) -> set[int]:
    """``session_uid`` of the objects that an object's vertices, faces or particles show, directly or through others,
    and of their data: it may look otherwise when one of them was evaluated."""
    found: dict[bpy.types.Object, None] = {}
    new = [ob]
    while new:
        new = [each for owner in new for each in instanced_objects(owner) if each not in found]
        found.update(dict.fromkeys(new))
    return {owner.session_uid for each in found for owner in (each, each.data) if owner is not None}


def instances_children(ob: bpy.types.Object) -> bool:
    """Whether an object shows its children as instances, and nowhere else."""
    return ob.instance_type in {"VERTS", "FACES"}


def _makes_instances(tree: bpy.types.NodeTree) -> bool:
    return any(node.bl_idname in _INSTANCING_NODES for each in node_trees(tree) for node in each.nodes)


def _joined(parts: Sequence[tuple[MeshSurface, np.ndarray]]) -> JoinedSurface:
    """One surface of several; each with the matrices (n, 4, 4) at which it is shown."""
    positions, corners, starts, triangles = [], [], [], []
    vertex, corner = 0, 0
    for surface, matrices in parts:
        count, faces = len(matrices), surface.faces
        shifts = vertex + len(surface.positions) * np.arange(count)
        mirrored = np.linalg.det(matrices[:, :3, :3]) < 0.0
        turned = np.swapaxes(matrices[:, :3, :3], 1, 2)
        positions.append(surface.positions.astype(float) @ turned + matrices[:, None, :3, 3])
        wound = np.where(mirrored[:, None], _reversed_corners(faces), faces.corners)
        corners.append(wound + shifts[:, None])
        starts.append(faces.starts + corner + len(faces.corners) * np.arange(count)[:, None])
        split = np.where(mirrored[:, None, None], surface.triangles[:, ::-1], surface.triangles)
        triangles.append(split + shifts[:, None, None])
        vertex += count * len(surface.positions)
        corner += count * len(faces.corners)
    flat = [np.concatenate([part.reshape(-1) for part in found]) for found in (corners, starts)]
    faces = Faces(vertex, *(part.astype(np.int32) for part in flat))
    shape = np.concatenate([part.reshape(-1, 3) for part in positions]).astype(np.float32)
    return JoinedSurface(shape, faces, np.concatenate([part.reshape(-1, 3) for part in triangles]).astype(np.int32))


def _reversed_corners(faces: Faces) -> np.ndarray:
    """(C,) the corners of each face the other way round."""
    sizes = np.diff(faces.starts, append=len(faces.corners))
    ends = np.repeat(2 * faces.starts + sizes - 1, sizes)
    return faces.corners[ends - np.arange(len(faces.corners))]
