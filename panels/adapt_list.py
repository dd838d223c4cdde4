"""The environment of a rig as a list: bound or not, name, mode and influence, and what is wrong with an entry."""

from __future__ import annotations

import bpy

_NAME_SHARE = 0.55  # of a row; names are cut in the middle by Blender where they are longer


class MOTION_LOOM_UL_surfaces(bpy.types.UIList):
    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0):
        # What is deleted in the viewport may be kept alive by the list alone.
        if item.target is None or not item.target.users_scene:
            layout.label(text=f"{item.name} (deleted)", icon="ERROR")
            return
        split = layout.split(factor=_NAME_SHARE)
        split.label(text=item.target.name, icon="LINKED" if item.bound_name else "UNLINKED")
        row = split.row(align=True)
        row.prop(item, "mode", text="", icon_only=True)
        slider = row.row(align=True)
        slider.active = item.mode != "IGNORE"
        slider.prop(item, "influence", text="", slider=True)
