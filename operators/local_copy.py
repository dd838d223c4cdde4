"""A local copy of a linked rig or mesh, in its place."""

from __future__ import annotations

import bpy

from ..workflows.interface.operators import ChangeOperator
from ..workflows.mesh.local_copy import local_copy
from ..workflows.mesh.target import target_in


def why_no_copy(context) -> str | None:
    """Why there is nothing linked to be copied, or None."""
    ob = _chosen(context)
    if ob is None:
        return "Make the armature or the mesh the active object"
    return f"'{ob.name}' is not linked, it can be changed as it is" if ob.library is None else None


class MOTION_LOOM_OT_make_local_copy(ChangeOperator, bpy.types.Operator):
    """Copy the linked mesh, or rig with the objects that hang on it, into this file, and hide the linked ones"""

    bl_idname = "motion_loom.make_local_copy"
    bl_label = "Make Local Copy"
    needs = why_no_copy

    def apply(self, context):
        ob = _chosen(context)
        copies = {ob: local_copy(context, ob)} if ob.type == "MESH" else _copied_rig(context, ob)
        for copy in copies.values():
            _point_to_copies(copy, copies)
        layer = context.view_layer
        for linked in {*copies, context.object}:  # the active one may be the live copy of the linked one
            if linked in layer.objects.values():
                linked.select_set(False)
                linked.hide_set(True)
        layer.objects.active = copies[ob]
        copies[ob].select_set(True)
        return f"'{copies[ob].name}' is local; the linked '{ob.name}' is hidden"


def _chosen(context):
    """The active rig or mesh, the latter also by its live copy; None where there is none."""
    ob = getattr(context, "object", None)  # timers have no such context
    return ob if ob is None or ob.type == "ARMATURE" else target_in(context)


def _copied_rig(context, rig) -> dict:
    return {ob: _copied(ob, context.scene) for ob in _with_skin(rig, context.view_layer)}


def _is_carried(ob, rig) -> bool:
    """Whether an object hangs on the rig as its child, however deep."""
    while ob is not None and ob != rig:
        ob = ob.parent
    return ob is not None


def _with_skin(rig, view_layer) -> list:
    """The rig, and the linked objects of the view layer that it carries or deforms."""
    return [
        ob for ob in view_layer.objects
        if ob == rig or (ob.library is not None and (_is_carried(ob, rig) or _is_deformed_by(ob, rig)))
    ]  # fmt: skip


def _is_deformed_by(ob, rig) -> bool:
    return any(modifier.type == "ARMATURE" and modifier.object == rig for modifier in ob.modifiers)


def _copied(ob, scene):
    # Object data and actions stay linked; the object, its pose and what it plays are the copy's own.
    copy = ob.copy()
    copy.name = f"{ob.name} (local)"
    scene.collection.objects.link(copy)
    return copy


def _point_to_copies(copy, copies: dict) -> None:
    """Let a copy depend on the other copies where it depended on their originals."""
    if copy.parent in copies:
        inverse = copy.matrix_parent_inverse.copy()
        copy.parent = copies[copy.parent]
        copy.matrix_parent_inverse = inverse
    bones = copy.pose.bones if copy.pose else ()
    for holder in (*copy.modifiers, *copy.constraints, *(c for bone in bones for c in bone.constraints)):
        for prop in holder.bl_rna.properties:
            if prop.type == "POINTER" and not prop.is_readonly and getattr(holder, prop.identifier) in copies:
                setattr(holder, prop.identifier, copies[getattr(holder, prop.identifier)])
