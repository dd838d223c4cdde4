"""What only Transfer has: clips, parts, pairs, and suggestions for them."""

from __future__ import annotations

import bpy

from ..interface.operators import ChangeOperator
from ..mesh.target import why_no_target
from . import pairs, parts


class MOTION_LOOM_OT_transfer_add_clip(ChangeOperator, bpy.types.Operator):
    """Add a pair of clips: of the other selected meshes of the two subjects, else of the subjects themselves"""

    bl_idname = "motion_loom.transfer_add_clip"
    bl_label = "Add Clips"
    needs = why_no_target

    def apply(self, context):
        return pairs.add_clip(context)


class MOTION_LOOM_OT_transfer_remove_clip(ChangeOperator, bpy.types.Operator):
    """Remove the pair of clips, with its pairs of poses"""

    bl_idname = "motion_loom.transfer_remove_clip"
    bl_label = "Remove Clips"
    needs = pairs.why_no_clip

    def apply(self, context):
        return pairs.remove_clip(context)


class MOTION_LOOM_OT_transfer_suggest_parts(ChangeOperator, bpy.types.Operator):
    """Find torso and limbs of both subjects by their shapes as they are now, and make a vertex group of each"""

    bl_idname = "motion_loom.transfer_suggest_parts"
    bl_label = "Suggest Parts"
    needs = parts.why_no_suggestion

    def apply(self, context):
        return parts.suggest(context)


class MOTION_LOOM_OT_transfer_add_part(ChangeOperator, bpy.types.Operator):
    """Add a body part, to be given a vertex group of each subject"""

    bl_idname = "motion_loom.transfer_add_part"
    bl_label = "Add Part"
    needs = why_no_target

    def apply(self, context):
        return parts.add_part(context)


class MOTION_LOOM_OT_transfer_remove_part(ChangeOperator, bpy.types.Operator):
    """Remove the body part from the list; its vertex groups stay"""

    bl_idname = "motion_loom.transfer_remove_part"
    bl_label = "Remove Part"
    needs = parts.why_no_part

    def apply(self, context):
        return parts.remove_part(context)


class MOTION_LOOM_OT_transfer_add_pair(ChangeOperator, bpy.types.Operator):
    """Pair the source as it is at this frame with the target's pose that is chosen"""

    bl_idname = "motion_loom.transfer_add_pair"
    bl_label = "Add Pair"
    needs = pairs.why_no_pairs

    def apply(self, context):
        return pairs.add_pair(context)


class MOTION_LOOM_OT_transfer_remove_pair(ChangeOperator, bpy.types.Operator):
    """Remove a pair"""

    bl_idname = "motion_loom.transfer_remove_pair"
    bl_label = "Remove Pair"
    needs = pairs.why_no_choice

    index: bpy.props.IntProperty(name="Pair", description="Counts from 0; -1: the active one", default=-1)

    def apply(self, context):
        return pairs.remove_pair(context, self.index)


class MOTION_LOOM_OT_transfer_show_pair(ChangeOperator, bpy.types.Operator):
    """Go to the poses of the active pair"""

    bl_idname = "motion_loom.transfer_show_pair"
    bl_label = "Go to Pair"
    needs = pairs.why_no_choice

    def apply(self, context):
        return pairs.show_pair(context)


class MOTION_LOOM_OT_transfer_suggest_pair(ChangeOperator, bpy.types.Operator):
    """Go to the frame of the source where a pair would tell most, and to the target's that is likely to answer to it"""

    bl_idname = "motion_loom.transfer_suggest_pair"
    bl_label = "Suggest Pair"
    needs = pairs.why_no_pairs

    def apply(self, context):
        return pairs.suggest_pair(context)


CLASSES = (
    MOTION_LOOM_OT_transfer_add_clip,
    MOTION_LOOM_OT_transfer_remove_clip,
    MOTION_LOOM_OT_transfer_suggest_parts,
    MOTION_LOOM_OT_transfer_add_part,
    MOTION_LOOM_OT_transfer_remove_part,
    MOTION_LOOM_OT_transfer_add_pair,
    MOTION_LOOM_OT_transfer_remove_pair,
    MOTION_LOOM_OT_transfer_show_pair,
    MOTION_LOOM_OT_transfer_suggest_pair,
)
