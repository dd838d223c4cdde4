"""Goes to the frame and the bone that a report names."""

from __future__ import annotations

import bpy

from ..workflows.interface.operators import ReportingOperator
from ..workflows.rig.operators import why_no_rig
from ..workflows.rig.show_bone import show_bone


class MOTION_LOOM_OT_show_bone(ReportingOperator, bpy.types.Operator):
    """Go to this frame and select this bone"""

    bl_idname = "motion_loom.show_bone"
    bl_label = "Show"
    bl_options = {"UNDO", "INTERNAL"}
    needs = why_no_rig

    bone: bpy.props.StringProperty(name="Bone", description="Empty: none")
    frame: bpy.props.FloatProperty(name="Frame")

    def apply(self, context):
        return show_bone(context, self.bone, self.frame)
