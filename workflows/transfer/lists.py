"""The clips, parts and pairs of Transfer as lists."""

from __future__ import annotations

import bpy


class MOTION_LOOM_UL_transfer_clips(bpy.types.UIList):
    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0):
        row = layout.row(align=True)
        row.use_property_split = False  # the panel's split would leave the names no room
        row.prop(item, "use", text="")
        row.label(text=_named(item.source), icon="CHECKMARK" if item.stored else "FILE_REFRESH", translate=False)
        row.label(text=f"→ {_named(item.target)}")  # an icon would leave long names three letters
        count = row.row()
        count.alignment = "RIGHT"  # as wide as it is, however long the names are
        count.label(text=f"{len(item.pairs)}", icon="KEYFRAME_HLT")


class MOTION_LOOM_UL_transfer_parts(bpy.types.UIList):
    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0):
        layout.use_property_split = False
        layout.prop(item, "name", text="", emboss=False, icon="GROUP_VERTEX" if index else "ARMATURE_DATA")


class MOTION_LOOM_UL_transfer_pairs(bpy.types.UIList):
    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0):
        row = layout.row(align=True)
        row.use_property_split = False
        row.prop(item, "source_frame", text="", emboss=False)
        row.label(text="", icon="FORWARD")
        row.prop(item, "target_frame", text="", emboss=False)


def _named(ob) -> str:
    if ob is None:
        return "(choose)"
    return ob.name if ob.users_scene else f"{ob.name} (deleted)"


CLASSES = (MOTION_LOOM_UL_transfer_clips, MOTION_LOOM_UL_transfer_parts, MOTION_LOOM_UL_transfer_pairs)
