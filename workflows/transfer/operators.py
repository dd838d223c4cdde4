"""What only Transfer has: clips, parts, pairs, and suggestions for them."""

from __future__ import annotations

import bpy

from ..interface.operators import ChangeOperator
from ..mesh.target import target_in
from . import pairs, parts
from .path_operator import MOTION_LOOM_OT_transfer_edit_path


class MOTION_LOOM_OT_transfer_suggest_parts(ChangeOperator, bpy.types.Operator):
    """Find torso and limbs of both subjects by their shapes as they are now, and make a vertex group of each"""

    bl_idname = "motion_loom.transfer_suggest_parts"
    bl_label = "Suggest Parts"
    needs = parts.why_no_suggestion

    def apply(self, context):
        return parts.suggest_for(context, target_in(context))


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
    MOTION_LOOM_OT_transfer_suggest_parts,
    MOTION_LOOM_OT_transfer_show_pair,
    MOTION_LOOM_OT_transfer_suggest_pair,
    MOTION_LOOM_OT_transfer_edit_path,
)
