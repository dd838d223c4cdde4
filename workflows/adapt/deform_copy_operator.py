"""A copy of a rig's deform bones, in one press."""

from __future__ import annotations

import bpy

from ..interface.operators import ChangeOperator
from .deform_copy import copy_rig, summary, why_no_copy


class MOTION_LOOM_OT_copy_deform_bones(ChangeOperator, bpy.types.Operator):
    """Make a rig of the deform bones alone that moves as this one does, by plain keys; this one is not touched"""

    bl_idname = "motion_loom.copy_deform_bones"
    bl_label = "Copy Deform Bones"
    needs = why_no_copy

    move_skin: bpy.props.BoolProperty(
        name="Move Skin", description="What the rig deforms, and what its bones carry, follows the copy"
    )

    def apply(self, context):
        return summary(copy_rig(context, context.object, skin=self.move_skin))
