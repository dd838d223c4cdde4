"""The pairs of a target mesh as a list: used or not, frame of the source and of the target."""

from __future__ import annotations

import bpy


class MOTION_LOOM_UL_pairs(bpy.types.UIList):
    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0):
        row = layout.row(align=True)
        row.use_property_split = False  # the panel's split would leave the numbers no room
        row.prop(item, "use", text="")
        if item.performed:
            row.label(text=f"Stored {index + 1}", icon="REC")
        else:
            row.prop(item, "source_frame", text="", emboss=False)
        row.label(text="", icon="FORWARD")
        row.prop(item, "target_frame", text="", emboss=False)


CLASSES = (MOTION_LOOM_UL_pairs,)
