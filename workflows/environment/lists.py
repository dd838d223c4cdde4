"""The lists of what surrounds a rig, and of its bones, of any workflow with ``EnvironmentSettings``."""

from __future__ import annotations

import bpy

from .replaced import is_filled, is_replaced

_ROLES = {"SOLVED": "BONE_DATA", "RIDES": "LINKED", "STAYS": "UNLINKED"}
_NAMES_SHARE = 0.6  # of a row, for two of them
_NAME_SHARE = 0.55  # of a row; names are cut in the middle by Blender where they are longer


class MOTION_LOOM_UL_surfaces(bpy.types.UIList):
    """Bound or not, name, mode and influence, and what is wrong with an entry."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0):
        # What is deleted in the viewport may be kept alive by the list alone.
        is_gone = item.target is None or not item.target.users_scene
        if is_gone and not is_replaced(item):
            layout.label(text=f"{item.name} (deleted)", icon="ERROR", translate=False)
            return
        split = layout.split(factor=_NAME_SHARE)
        name = item.name if item.target is None else item.target.name
        present = filter(is_filled, item.replacements)
        by = ", ".join(each.target.name if each.target else each.name for each in present)
        text = f"{name}: {by}" if is_replaced(item) else name
        split.label(text=text, icon="LINKED" if item.bound_name else "UNLINKED", translate=False)
        row = split.row(align=True)
        row.prop(item, "mode", text="", icon_only=True)
        slider = row.row(align=True)
        slider.active = item.mode != "IGNORE"
        slider.prop(item, "influence", text="", slider=True)


class MOTION_LOOM_UL_joints(bpy.types.UIList):
    """Whether a bone is solved, rides or stays, its limb, and what the user chose instead."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0):
        split = layout.split(factor=_NAME_SHARE)
        split.label(text=item.name, icon=_ROLES.get(item.role, "QUESTION"), translate=False)
        rest = split.row(align=True)
        limb = rest.row()
        limb.active = item.role == "SOLVED"
        limb.label(text=item.limb, translate=False)
        rest.prop(item, "mode", text="", icon_only=True)


class MOTION_LOOM_UL_contacts(bpy.types.UIList):
    """The bone, once for all of its contacts, the object, the frames and whether it is held."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0):
        before = data.contacts[index - 1].bone if index else ""
        # Without an icon, which would take the name's room.
        split = layout.split(factor=_NAMES_SHARE)
        names = split.split(factor=_NAME_SHARE)
        is_first = item.bone != before or bool(self.filter_name)
        names.label(text=item.bone if is_first else "", translate=False)
        # Of the body itself: a bone, not an object.
        names.label(text=item.object, icon="BONE_DATA" if item.is_own else "NONE", translate=False)
        row = split.row(align=True)
        frames = row.row()
        frames.active = item.state != "OFF"
        frames.label(text=f"{item.start}-{item.end}" + ("" if item.is_found else " +"), translate=False)
        row.prop(item, "state", text="", icon_only=True)


class MOTION_LOOM_UL_controls(bpy.types.UIList):
    """Whether a control is keyed, its name, what it carries, and whether results may be written to it."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0):
        row = layout.row(align=True)
        # A check box would take half of the name's room, an icon takes its own width.
        row.prop(item, "use", text="", icon="CHECKBOX_HLT" if item.use else "CHECKBOX_DEHLT", emboss=False)
        split = row.split(factor=_NAME_SHARE)
        split.label(text=item.name, icon="KEYFRAME_HLT" if item.keyed else "KEYFRAME", translate=False)
        carries = split.row()
        carries.active = item.use
        carries.label(text=item.carries, translate=False)


CLASSES = (MOTION_LOOM_UL_surfaces, MOTION_LOOM_UL_joints, MOTION_LOOM_UL_contacts, MOTION_LOOM_UL_controls)
