"""Fit and Bake: run a workflow's generator with progress and Esc, or to the end where nobody watches."""

from __future__ import annotations

import time
from collections.abc import Sequence

import bpy

from ..workflows.core import registry
from ..workflows.core.base import Workflow, run_to_end
from ..workflows.core.live import paused, while_paused
from ..workflows.interface.operators import REPORTED, WorkflowOperator

# Work this long between two redraws: long enough to lose little, short enough for Esc to feel immediate.
_SLICE_SECONDS = 0.05
_TIMER_SECONDS = 0.01


class StepOperator(WorkflowOperator):
    """One step of the workflow named by ``workflow``; subclasses say which."""

    bl_options = {"UNDO", "INTERNAL"}

    asked: bpy.props.BoolProperty(
        name="Asked", description="The user was asked whether to go on", options={"HIDDEN", "SKIP_SAVE"}
    )

    @classmethod
    def description(cls, _context, properties):
        try:
            return registry.by_id(properties.workflow).tips.get(cls.step, "")  # empty: the docstring
        except KeyError:
            return ""

    def apply(self, context):
        return run_to_end(self._start(context))

    def invoke(self, context, event):
        if bpy.app.background:
            return self.execute(context)
        try:
            question = None if self.asked else self._question(context)
            if question is not None:
                return self._ask(question)
            self._steps = self._start(context)
        except REPORTED as error:
            return self.failed(error)
        self._timer = context.window_manager.event_timer_add(_TIMER_SECONDS, window=context.window)
        self._show(context, 0.0, self._title())
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            self.report({"INFO"}, f"{self._title()} cancelled, nothing was changed")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        try:
            self._work(context)
            return {"RUNNING_MODAL"}
        except StopIteration as end:
            self._finish(context)
            return self.done(end.value)
        except REPORTED as error:
            self._finish(context)
            return self.failed(error)
        except BaseException:
            self._finish(context)
            raise

    def cancel(self, context):
        self._steps.close()
        self._finish(context)

    def _question(self, context):
        workflow = self.ready(context)
        with paused():  # it may look at another frame
            return workflow.question(context, self.step)

    def _ask(self, question):
        step = self.bl_idname.rpartition("_OT_")[2]
        asked = {"lines": "\n".join(question.lines), "meaning": question.meaning, "button": question.button}
        bpy.ops.motion_loom.ask("INVOKE_DEFAULT", workflow=self.workflow, step=step, **asked)
        return {"CANCELLED"}

    def _start(self, context):
        """The generator to run; raises where it cannot be, see ``ready``."""
        return while_paused(getattr(self.ready(context), self.step)(context))

    def offered(self, workflow) -> bool:
        return self.step in workflow.steps

    def _title(self) -> str:
        return registry.by_id(self.workflow).steps.get(self.step, self.bl_label)

    def _work(self, context):
        until = time.monotonic() + _SLICE_SECONDS
        while True:
            fraction, text = next(self._steps)
            if time.monotonic() >= until:
                self._show(context, fraction, text)
                return

    def _show(self, context, fraction, text):
        context.workspace.status_text_set(f"{text}  {fraction:.0%}   Esc: cancel")

    def _finish(self, context):
        context.window_manager.event_timer_remove(self._timer)
        context.workspace.status_text_set(None)


class MOTION_LOOM_OT_fit(StepOperator, bpy.types.Operator):
    """Measure how the motion relates to its surroundings as they are now"""

    bl_idname = "motion_loom.fit"
    bl_label = "Bind"
    step = "fit"


class MOTION_LOOM_OT_bake(StepOperator, bpy.types.Operator):
    """Write the result to a new action; the source action is not touched"""

    bl_idname = "motion_loom.bake"
    bl_label = "Bake"
    step = "bake"


def declared_steps(workflows: Sequence[Workflow]) -> list[type]:
    """An operator class for each other step that workflows have; the first that has it names it."""
    own: dict[str, tuple[str, str]] = {}
    for workflow in workflows:
        for step, label in workflow.steps.items():
            own.setdefault(step, (label, workflow.tips.get(step, "")))
    return [_made(step, *look) for step, look in own.items() if step not in ("fit", "bake")]


def _made(step: str, label: str, tip: str) -> type:
    content = {"bl_idname": f"motion_loom.{step}", "bl_label": label, "bl_description": tip, "step": step}
    return type(f"MOTION_LOOM_OT_{step}", (StepOperator, bpy.types.Operator), content)
