"""The command line of what a panel is set to, for the clipboard."""

from __future__ import annotations

import bpy

from .. import workflows
from ..solvers.errors import MotionLoomError


class MOTION_LOOM_OT_copy_command(bpy.types.Operator):
    """Copy the command line that does the same without a window, with the file on disk"""

    bl_idname = "motion_loom.copy_command"
    bl_label = "Copy Command"
    bl_options = {"INTERNAL"}

    workflow: bpy.props.StringProperty(name="Workflow", description="Identifier of the workflow")

    @classmethod
    def poll(cls, context):
        # As the other buttons of a workflow: the layout's context names it.
        workflow_id = getattr(context, "motion_loom_workflow", None)
        reason = workflows.by_id(workflow_id).poll(context, "copy_command") if workflow_id else None
        if reason:
            cls.poll_message_set(reason)
        return reason is None

    def execute(self, context):
        try:
            workflow = workflows.by_id(self.workflow)
            reason = workflow.poll(context, "copy_command")
            if reason:
                self.report({"ERROR"}, reason)
                return {"CANCELLED"}
            command = workflow.command_line(context, bpy.app.binary_path or "blender")
        except (MotionLoomError, KeyError) as error:
            self.report({"ERROR"}, str(error.args[0]))
            return {"CANCELLED"}
        context.window_manager.clipboard = command
        if bpy.data.is_dirty:
            self.report({"WARNING"}, "Save the file first: the command works on the file on disk")
        else:
            self.report({"INFO"}, f"Copied: {command}")
        return {"FINISHED"}
