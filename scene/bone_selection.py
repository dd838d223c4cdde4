"""Selecting a bone of a rig, in Object and Pose Mode, and what is selected."""

from __future__ import annotations

import bpy

from ..solvers.core.errors import SceneError

# Since 5.0 a pose holds what is selected and hidden in it, before that the armature does.
_IN_POSE = "select" in bpy.types.PoseBone.bl_rna.properties


def select_bone(ob: bpy.types.Object, name: str) -> str | None:
    """Make a bone of a rig the active one and the only one that is selected; returns why it cannot be seen, or None.

    Raises SceneError where the rig has no such bone, or is in Edit Mode.
    """
    bones = ob.data.bones
    if ob.mode == "EDIT":
        raise SceneError(f"'{ob.name}' is in Edit Mode, which shows its rest pose; leave that first (Tab).")
    if name not in bones:
        raise SceneError(f"'{ob.name}' has no bone '{name}' any more.")
    holders = ob.pose.bones if _IN_POSE else bones
    for holder in holders:
        holder.select = holder.name == name
    bones.active = bones[name]
    return _why_unseen(ob, bones[name], holders[name])


def selected_bones(ob: bpy.types.Object) -> list[str]:
    """Names of the bones of a rig that are selected."""
    holders = ob.pose.bones if _IN_POSE else ob.data.bones
    return [holder.name for holder in holders if holder.select]


def _why_unseen(ob, bone, holder) -> str | None:
    if bone.hide or holder.hide:
        return f"Bone '{bone.name}' is hidden (Alt H in Pose Mode shows it)"
    if len(bone.collections) and not any(group.is_visible_effectively for group in bone.collections):
        return f"Bone '{bone.name}' is in bone collections that are hidden, such as '{bone.collections[0].name}'"
    if not ob.visible_get():
        return f"'{ob.name}' is hidden"
    return None
