"""Asks before a step that would do away with something."""

from __future__ import annotations

import bpy

_WIDTH = 460


class MOTION_LOOM_OT_ask(bpy.types.Operator):
    """Go on all the same"""

    bl_idname = "motion_loom.ask"
    bl_label = "What Has Changed since Bind"
    bl_options = {"INTERNAL"}

    workflow: bpy.props.StringProperty(options={"SKIP_SAVE"})
    step: bpy.props.StringProperty(description="The operator to call", options={"SKIP_SAVE"})
    lines: bpy.props.StringProperty(description="What has changed, a line each", options={"SKIP_SAVE"})
    meaning: bpy.props.StringProperty(description="What the step makes of that", options={"SKIP_SAVE"})
    button: bpy.props.StringProperty(description="What the step does all the same", options={"SKIP_SAVE"})

    def invoke(self, context, event):
        return context.window_manager.invoke_props_dialog(self, width=_WIDTH, confirm_text=self.button)

    def draw(self, context):
        column = self.layout.column(align=True)
        for number, line in enumerate(self.lines.splitlines()):
            column.label(text=line, icon="BLANK1" if number else "ERROR", translate=False)
        column.separator()
        column.label(text=self.meaning, icon="BLANK1")

    def execute(self, context):
        # As if its button were pressed: with progress, Esc and an undo step of its own.
        getattr(bpy.ops.motion_loom, self.step)("INVOKE_DEFAULT", True, workflow=self.workflow, asked=True)
        return {"FINISHED"}
