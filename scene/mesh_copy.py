"""Copies of a mesh object without anything that moves or deforms it over time, to be moved by a result instead."""

from __future__ import annotations

import bpy

from .discarding import discard as discard_unused
from .mesh_sequence import evaluated_mesh, require_mesh
from .modifier_split import deforming_modifiers, kept_modifiers, kept_switched_off
from .object_motion import carries_along_path
from .topology import read_faces

LIVE_MARK = "motion_loom_live"  # on live copies; see `live_mesh`
_SETTINGS = "motion_loom_"


def plain_copy(context: bpy.types.Context, ob: bpy.types.Object, name: str) -> bpy.types.Object:
    """A local copy of a mesh object with a mesh of its own, not in any collection yet.

    Shape keys, animation, constraints and modifiers that deform over time are gone: its vertices are those that
    `mesh_sequence` reads. Other modifiers, materials and display settings stay, as does a parent that is an object
    as a whole.
    Raises SceneError for an object that is no mesh, is being edited or is not updated where its modifiers matter.
    """
    require_mesh(ob)
    mesh = _base_mesh(context, ob)
    kept = {modifier.name for modifier in kept_modifiers(ob)}
    new = ob.copy()
    try:
        new.make_local(clear_liboverride=True)  # a copy of an override is one too
        new.name = mesh.name = name
        new.data = mesh
        new.animation_data_clear()
        mesh.animation_data_clear()
        new.constraints.clear()
        for modifier in [modifier for modifier in new.modifiers if modifier.name not in kept]:
            new.modifiers.remove(modifier)
        _loosen(new)
        forget_settings(new)
    except BaseException:
        discard(new)
        raise
    return new


def _base_mesh(context: bpy.types.Context, ob: bpy.types.Object) -> bpy.types.Mesh:
    """The mesh before the modifiers that are kept: the object's own, unless others change its faces."""
    if deforming_modifiers(ob):
        with kept_switched_off(context.scene, ob):
            depsgraph = context.evaluated_depsgraph_get()
            with evaluated_mesh(ob, depsgraph) as (evaluated, mesh):
                if not read_faces(mesh).same_as(read_faces(ob.data)):
                    return bpy.data.meshes.new_from_object(
                        evaluated, preserve_all_data_layers=True, depsgraph=depsgraph
                    )
    mesh = ob.data.copy()
    if mesh.shape_keys is not None:
        bpy.data.batch_remove([mesh.shape_keys])  # Object.shape_key_clear leaves them in the file before 5.3
    return mesh


def _loosen(new: bpy.types.Object) -> None:
    """Keep only a parent whose world matrix says where the object is."""
    if new.parent is None:
        return
    if new.parent_type in {"ARMATURE", "LATTICE"}:
        new.parent_type = "OBJECT"
    if new.parent_type != "OBJECT" or carries_along_path(new.parent):
        new.parent = None


def forget_settings(new: bpy.types.Object) -> None:
    """Drop settings and marks of Motion Loom, which speak of the original."""
    for prop in new.bl_rna.properties:
        if prop.identifier.startswith(_SETTINGS):
            new.property_unset(prop.identifier)
    if LIVE_MARK in new:
        del new[LIVE_MARK]


def link_beside(context: bpy.types.Context, ob: bpy.types.Object, new: bpy.types.Object) -> None:
    """Put a copy into the collections of the original that can be changed, else into the scene's own."""
    for collection in ob.users_collection:
        if collection.library is None and collection.override_library is None:
            collection.objects.link(new)
    if context.scene not in new.users_scene:  # a linked object of the same name is another one
        context.scene.collection.objects.link(new)


def discard(ob: bpy.types.Object) -> None:
    """Remove a copy with its mesh and actions, unless something else uses them."""
    mesh, played = ob.data, [actions_of(ob), actions_of(ob.data), actions_of(ob.data.shape_keys)]
    bpy.data.objects.remove(ob)
    if not mesh.users:
        bpy.data.meshes.remove(mesh)
    for action in played:
        discard_unused(action)


def actions_of(owner: bpy.types.ID | None) -> bpy.types.Action | None:
    """The action that is assigned to a datablock."""
    data = owner and owner.animation_data
    return data.action if data else None
