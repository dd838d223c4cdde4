"""The environment of a rig as a list: name, mode, influence, and what is wrong with an entry."""

from __future__ import annotations

import bpy


class MOTION_LOOM_UL_surfaces(bpy.types.UIList):
    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0):
        row = layout.row(align=True)
        if item.target is None:
            row.label(text=f"{item.name} (deleted)", icon="ERROR")
            return
        row.label(text=item.target.name, icon="LINKED" if item.bound_name else "UNLINKED")
        # Mode and influence of the active entry stand below the list; here only what is out of the ordinary.
        if item.mode != "ATTACH" or item.influence < 1.0:
            side = row.row()
            side.alignment = "RIGHT"
            side.label(text=f"{item.mode.capitalize()} {item.influence:.2f}")
