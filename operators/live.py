"""Live on and off, and the two ways to bring it up to date."""

from __future__ import annotations

import bpy

from ..workflows.core import registry
from .steps import StepOperator


class _LiveOperator(StepOperator):
    def offered(self, workflow) -> bool:
        return workflow.is_live


class MOTION_LOOM_OT_live(_LiveOperator, bpy.types.Operator):
    """Follow every change from now on, in the viewport, on playback and in renders; once more: play the source again"""

    bl_idname = "motion_loom.live"
    bl_label = "Live"
    step = "live_on"

    @classmethod
    def needs(cls, context) -> str | None:
        workflow_id = getattr(context, "motion_loom_workflow", None)
        is_on = workflow_id and registry.by_id(workflow_id).is_on(context)
        return None if is_on else super().needs(context)

    def apply(self, context):
        return registry.by_id(self.workflow).live_off(context) if self._is_on(context) else super().apply(context)

    def invoke(self, context, event):
        return self.execute(context) if self._is_on(context) else super().invoke(context, event)

    def _is_on(self, context) -> bool:
        try:
            return registry.by_id(self.workflow).is_on(context)
        except KeyError:
            return False  # reported when it starts


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
