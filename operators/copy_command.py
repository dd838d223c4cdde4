"""The command line of what a panel is set to, for the clipboard."""

from __future__ import annotations

import bpy

from ..workflows.interface.operators import WorkflowOperator


class MOTION_LOOM_OT_copy_command(WorkflowOperator, bpy.types.Operator):
    """Copy the command line that does the same without a window, with the file on disk"""

    bl_idname = "motion_loom.copy_command"
    bl_label = "Copy Command"
    bl_options = {"INTERNAL"}
    step = "copy_command"

    def apply(self, context):
        command = self.ready(context).command_line(context, bpy.app.binary_path or "blender")
        context.window_manager.clipboard = command
        if bpy.data.is_dirty:
            self.report({"WARNING"}, "Save the file first: the command works on the file on disk")
            return None
        return f"Copied: {command}"
