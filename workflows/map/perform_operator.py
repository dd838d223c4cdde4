"""Pairs by performing: the source plays or streams, and a key says when it is in the pose that the target shows."""

from __future__ import annotations

import bpy

from ...solvers.core.errors import MotionLoomError
from ..interface.operators import ExplainedOperator
from ..mesh.target import target_in
from . import pairs

_ADD, _SKIP, _END = {"RET", "NUMPAD_ENTER"}, {"BACK_SPACE"}, {"ESC"}


class MOTION_LOOM_OT_map_perform(ExplainedOperator, bpy.types.Operator):
    """Show poses of the target one after the other; press Enter whenever the source is in the one that answers"""

    bl_idname = "motion_loom.map_perform"
    bl_label = "Perform Pairs"
    bl_options = {"UNDO", "INTERNAL"}
    needs = pairs.why_no_pairs

    count: bpy.props.IntProperty(name="Poses", description="How many poses of the target are shown", default=6, min=2)

    def invoke(self, context, _event):
        try:
            self._frames = pairs.poses_to_perform(target_in(context), self.count)
        except MotionLoomError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self._added, self._shown = 0, 0
        self._before = target_in(context).motion_loom_map.target_frame
        self._show(context)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.value != "PRESS" or event.type not in _ADD | _SKIP | _END:
            return {"PASS_THROUGH"}  # playback, the view and all else go on
        if pairs.why_no_pairs(context):
            return self._end(context)  # another object was made active, or undo went back past what was learnt
        if event.type in _END:
            return self._end(context)
        if event.type in _ADD:
            try:
                self.report({"INFO"}, pairs.add_pair(context))
                self._added += 1
            except MotionLoomError as error:
                self.report({"ERROR"}, str(error))
                return {"RUNNING_MODAL"}
        self._shown += 1
        if self._shown == len(self._frames):
            return self._end(context)
        self._show(context)
        return {"RUNNING_MODAL"}

    def cancel(self, context):
        context.workspace.status_text_set(None)

    def _show(self, context):
        target_in(context).motion_loom_map.target_frame = self._frames[self._shown]
        which = f"Pose {self._shown + 1} of {len(self._frames)}"
        context.workspace.status_text_set(f"{which}   Enter: the source is in it now   Backspace: skip   Esc: end")

    def _end(self, context):
        context.workspace.status_text_set(None)
        if not self._added:
            if target_in(context) is not None:
                target_in(context).motion_loom_map.target_frame = self._before
            return {"CANCELLED"}
        self.report({"INFO"}, f"Added {self._added} pairs")
        return {"FINISHED"}
