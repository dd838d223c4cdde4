"""Which meshes make up one body: those that an armature moves, that hang on a mesh, and that move beside it."""

from __future__ import annotations

from collections.abc import Iterator

import bpy

# Modifiers that play a deformation which was made elsewhere, and that follow another object's surface.
_PLAYED = {"MESH_CACHE", "MESH_SEQUENCE_CACHE"}
_BOUND = {"SURFACE_DEFORM", "MESH_DEFORM"}
# Constraints by which an object goes where another one goes.
_CARRIED = {"CHILD_OF", "ARMATURE", "COPY_TRANSFORMS", "COPY_LOCATION"}


def armature_of(ob: bpy.types.Object) -> bpy.types.Object | None:
    """The armature that deforms a mesh, or that it hangs on; None where there is none."""
    return ob.find_armature() or next((above for above in _above(ob) if above.type == "ARMATURE"), None)


def meshes_of(scene: bpy.types.Scene, armature: bpy.types.Object) -> list[bpy.types.Object]:
    """Meshes of a scene that are shown and deformed by an armature or hang on it, in the scene's order."""
    below = set(armature.children_recursive)
    return [ob for ob in _shown(scene) if ob in below or ob.find_armature() == armature or _is_carried(ob, armature)]


def meshes_on(scene: bpy.types.Scene, ob: bpy.types.Object) -> list[bpy.types.Object]:
    """Meshes of a scene that are shown and hang on an object, on what hangs on it, or are bound to its surface."""
    below = set(ob.children_recursive)
    return [mesh for mesh in _shown(scene) if mesh in below or _is_bound(mesh, ob) or _is_carried(mesh, ob)]


def meshes_beside(scene: bpy.types.Scene, ob: bpy.types.Object) -> tuple[bpy.types.ID | None, list[bpy.types.Object]]:
    """Meshes of a scene that are shown and move beside an object, and what they have in common with it.

    That is the nearest object above it below which others move by themselves, or, where nothing is above either of
    them, a cache file that they play as well, as of an Alembic file that was written flat.  What has as many vertices
    is left out, for it is the same mesh in another performance, and so is what another armature moves.
    """
    armature = armature_of(ob)
    others = [mesh for mesh in _shown(scene) if len(mesh.data.vertices) != len(ob.data.vertices)]
    others = [mesh for mesh in others if armature_of(mesh) in (None, armature)]
    for above in _above(ob if armature is None else armature):
        if beside := [mesh for mesh in others if _moves_below(mesh, above)]:
            return above, beside
    flat = [mesh for mesh in others if ob.parent is None and mesh.parent is None]
    file = next(iter(_cache_files(ob)), None)
    return file, [mesh for mesh in flat if file in _cache_files(mesh)]


def _shown(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """An object of a collection that is left out of every view layer is in none of them."""
    seen = {ob for layer in scene.view_layers for ob in layer.objects}
    return [ob for ob in scene.objects if ob.type == "MESH" and ob in seen and not ob.hide_viewport]


def _above(ob: bpy.types.Object) -> Iterator[bpy.types.Object]:
    while (ob := ob.parent) is not None:
        yield ob


def _moves_below(mesh: bpy.types.Object, ancestor: bpy.types.Object) -> bool:
    chain = [mesh, *_above(mesh)]
    if ancestor not in chain:
        return False
    keys = mesh.data.shape_keys
    return (
        any(modifier.type in _PLAYED for modifier in mesh.modifiers)
        or bool(keys and keys.animation_data)
        or any(ob.animation_data or ob.constraints for ob in chain[: chain.index(ancestor) + 1])
    )


def _cache_files(ob: bpy.types.Object) -> list[bpy.types.ID]:
    played = [modifier for modifier in ob.modifiers if modifier.type == "MESH_SEQUENCE_CACHE"]
    played += [constraint for constraint in ob.constraints if constraint.type == "TRANSFORM_CACHE"]
    return [each.cache_file for each in played if each.cache_file is not None]


def _is_bound(mesh: bpy.types.Object, ob: bpy.types.Object) -> bool:
    bound = [modifier for modifier in mesh.modifiers if modifier.type in _BOUND]
    return any(ob == (modifier.target if modifier.type == "SURFACE_DEFORM" else modifier.object) for modifier in bound)


def _is_carried(mesh: bpy.types.Object, ob: bpy.types.Object) -> bool:
    held = [each for each in mesh.constraints if each.type in _CARRIED and not each.mute]
    return any(
        ob in ([of.target for of in each.targets] if each.type == "ARMATURE" else [each.target]) for each in held
    )
