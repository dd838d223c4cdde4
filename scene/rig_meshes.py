"""Which meshes make up one body: those that an armature moves, that hang on a mesh, and that deform beside it."""

from __future__ import annotations

import bpy

# Modifiers that play a deformation which was made elsewhere.
_PLAYED = {"MESH_CACHE", "MESH_SEQUENCE_CACHE"}


def armature_of(ob: bpy.types.Object) -> bpy.types.Object | None:
    """The armature that deforms a mesh, or that it hangs on; None where there is none."""
    below = ob.parent is not None and ob.parent.type == "ARMATURE"
    return ob.find_armature() or (ob.parent if below else None)


def meshes_of(scene: bpy.types.Scene, armature: bpy.types.Object) -> list[bpy.types.Object]:
    """Meshes of a scene that are shown, deformed by an armature or parented to it, in the scene's order."""
    return [ob for ob in _shown(scene) if ob.parent == armature or ob.find_armature() == armature]


def meshes_on(scene: bpy.types.Scene, ob: bpy.types.Object) -> list[bpy.types.Object]:
    """Meshes of a scene that are shown and hang on an object, or on what hangs on it, in the scene's order."""
    below = set(ob.children_recursive)
    return [mesh for mesh in _shown(scene) if mesh in below]


def meshes_beside(scene: bpy.types.Scene, ob: bpy.types.Object) -> list[bpy.types.Object]:
    """Meshes of a scene that are shown, have a mesh's parent, which is no armature, and deform by themselves.

    Of files that hold vertices over time, as Alembic, that is what a body of several meshes looks like.  What has as
    many vertices is left out, for it is the same mesh in another performance.
    """
    if ob.parent is None or ob.parent.type == "ARMATURE":
        return []
    beside = [mesh for mesh in _shown(scene) if mesh.parent == ob.parent and _plays(mesh)]
    return [mesh for mesh in beside if len(mesh.data.vertices) != len(ob.data.vertices)]


def _shown(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    return [ob for ob in scene.objects if ob.type == "MESH" and not ob.hide_viewport]


def _plays(mesh: bpy.types.Object) -> bool:
    keys = mesh.data.shape_keys
    return any(modifier.type in _PLAYED for modifier in mesh.modifiers) or bool(keys and keys.animation_data)
