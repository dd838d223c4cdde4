"""What only Map has: pairs, suggestions, and pairs in files."""

from __future__ import annotations

import bpy

from ...scene.blend_file import from_scene
from ..interface.operators import ChangeOperator
from ..mesh.target import target_in
from . import pairs
from .pair_file import pair_file, read_pairs, save_pairs_of, use_pairs
from .perform_operator import MOTION_LOOM_OT_map_perform

_FILTER = "*.json"


class _PairOperator(ChangeOperator):
    """A change of the pairs of the active mesh."""

    needs = pairs.why_no_pairs


class MOTION_LOOM_OT_map_show_pair(_PairOperator, bpy.types.Operator):
    """Go to the poses of the active pair"""

    bl_idname = "motion_loom.map_show_pair"
    bl_label = "Go to Pair"
    needs = pairs.why_no_choice

    def apply(self, context):
        return pairs.show_pair(context)


class MOTION_LOOM_OT_map_suggest(_PairOperator, bpy.types.Operator):
    """Find the frames of the source where a pair would tell most, and go to the best one"""

    bl_idname = "motion_loom.map_suggest"
    bl_label = "Suggest"

    def apply(self, context):
        return pairs.suggest(context)


class MOTION_LOOM_OT_map_next_suggestion(_PairOperator, bpy.types.Operator):
    """Go to the next of the frames that were suggested"""

    bl_idname = "motion_loom.map_next_suggestion"
    bl_label = "Next Suggestion"
    needs = pairs.why_no_suggestion

    step: bpy.props.IntProperty(name="Step", description="1: the next one, -1: the one before", default=1)

    def apply(self, context):
        return pairs.next_suggestion(context, self.step)


class _FileOperator(_PairOperator):
    filepath: bpy.props.StringProperty(name="File", subtype="FILE_PATH", default="pairs.json")
    filter_glob: bpy.props.StringProperty(default=_FILTER, options={"HIDDEN"})

    def invoke(self, context, _event):
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}


class MOTION_LOOM_OT_map_save_pairs(_FileOperator, bpy.types.Operator):
    """Save the pairs with their source poses to a file, for another source of the same points"""

    bl_idname = "motion_loom.map_save_pairs"
    bl_label = "Save Pairs"
    bl_options = {"REGISTER"}

    def apply(self, context):
        return save_pairs_of(target_in(context), pair_file(from_scene(self.filepath)))


class MOTION_LOOM_OT_map_load_pairs(_FileOperator, bpy.types.Operator):
    """Replace the pairs by those of a file"""

    bl_idname = "motion_loom.map_load_pairs"
    bl_label = "Load Pairs"

    def apply(self, context):
        path = from_scene(self.filepath)
        return use_pairs(target_in(context), path, read_pairs(path))


CLASSES = (
    MOTION_LOOM_OT_map_show_pair,
    MOTION_LOOM_OT_map_suggest,
    MOTION_LOOM_OT_map_next_suggestion,
    MOTION_LOOM_OT_map_save_pairs,
    MOTION_LOOM_OT_map_load_pairs,
    MOTION_LOOM_OT_map_perform,
)
