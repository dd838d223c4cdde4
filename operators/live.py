"""Live on and off, and the two ways to bring it up to date."""

from __future__ import annotations

import bpy

from .. import workflows
from ..solvers.errors import MotionLoomError
from .steps import StepOperator


class _LiveOperator(StepOperator):
    def _offered(self, workflow) -> bool:
        return workflow.is_live


class MOTION_LOOM_OT_live(_LiveOperator, bpy.types.Operator):
    """Follow every change from now on, in the viewport, on playback and in renders; once more: play the source again"""

    bl_idname = "motion_loom.live"
    bl_label = "Live"
    step = "live_on"

    @classmethod
    def poll(cls, context):
        workflow_id = getattr(context, "motion_loom_workflow", None)
        if workflow_id and workflows.by_id(workflow_id).is_on(context):
            return True
        return super().poll(context)

    def execute(self, context):
        return self._off(context) if self._is_on(context) else super().execute(context)

    def invoke(self, context, event):
        return self._off(context) if self._is_on(context) else super().invoke(context, event)

    def _is_on(self, context) -> bool:
        try:
            return workflows.by_id(self.workflow).is_on(context)
        except KeyError:
            return False  # reported when it starts

    def _off(self, context):
        try:
            return self._done(workflows.by_id(self.workflow).live_off(context))
        except MotionLoomError as error:
            return self._failed(error)


class MOTION_LOOM_OT_live_refresh(_LiveOperator, bpy.types.Operator):
    """Step through the frames to read what moves or deforms, and solve all of them again"""

    bl_idname = "motion_loom.live_refresh"
    bl_label = "Refresh"
    step = "live_refresh"


class MOTION_LOOM_OT_live_resume(_LiveOperator, bpy.types.Operator):
    """Play the live action again and follow from here"""

    bl_idname = "motion_loom.live_resume"
    bl_label = "Resume"
    step = "live_on"
