"""Bases of operators that change something: grey with the reason, typed errors for the user."""

from __future__ import annotations

import bpy

from ...solvers.core.errors import InputError, MotionLoomError, SceneError, TooLargeError
from ..core import registry

# What a user can mend is reported in words; anything else is a bug, which Blender shows as one.
REPORTED = (MotionLoomError, MemoryError)


class ExplainedOperator:
    """A button that is grey, with the reason, where it can do nothing.

    needs: (context) -> why not, or None; must be cheap, it runs at every redraw.
    """

    @classmethod
    def poll(cls, context):
        reason = cls.needs(context)
        if reason:
            cls.poll_message_set(reason)
        return reason is None


class ReportingOperator(ExplainedOperator):
    """What ``apply(context)`` does, and the line that it returns, or None; it changes nothing where it fails."""

    def execute(self, context):
        try:
            return self.done(self.apply(context))
        except REPORTED as error:
            return self.failed(error)

    def done(self, text: str | None):
        """Say so, and end."""
        if text:
            self.report({"INFO"}, text)
        return {"FINISHED"}

    def failed(self, error: Exception):
        """Say why, and end.  error: one of ``REPORTED``."""
        if isinstance(error, MemoryError):
            error = TooLargeError("this", error)
        self.report({"ERROR"}, str(error))
        return {"CANCELLED"}


class ChangeOperator(ReportingOperator):
    """A change of what is saved in the file: a step of undo."""

    bl_options = {"REGISTER", "UNDO"}


class OwnedOperator:
    """A base of operators that each workflow that has the button has of its own; see ``owned_by``."""

    workflow_id: str

    @classmethod
    def owner(cls):
        """The workflow."""
        return registry.by_id(cls.workflow_id)


def owned_by(workflow_id: str, name: str, base: type, **content) -> type:
    """An operator class ``motion_loom.<workflow_id>_<name>`` with what a base does; content: of the class, beside."""
    name = f"{workflow_id}_{name}"
    content |= {"bl_idname": f"motion_loom.{name}", "workflow_id": workflow_id, "__doc__": base.__doc__}
    return type(f"MOTION_LOOM_OT_{name}", (base, bpy.types.Operator), content)


class WorkflowOperator(ReportingOperator):
    """Something of the workflow named by ``workflow``; subclasses say which ``step`` its poll is asked about."""

    step: str

    workflow: bpy.props.StringProperty(name="Workflow", description="Identifier of the workflow")

    @classmethod
    def needs(cls, context) -> str | None:
        # Buttons name their workflow in the layout's context; scripts name it in the call, checked there.
        workflow_id = getattr(context, "motion_loom_workflow", None)
        return registry.by_id(workflow_id).poll(context, cls.step) if workflow_id else None

    def offered(self, workflow) -> bool:
        """Whether a workflow has the step."""
        return True

    def ready(self, context):
        """The workflow; raises InputError where there is none or it has no such step, SceneError with its reason."""
        try:
            workflow = registry.by_id(self.workflow)
        except KeyError as error:
            raise InputError(error.args[0]) from error
        if not self.offered(workflow):
            raise InputError(f"{workflow.label} has no step '{self.step}'.")
        reason = workflow.poll(context, self.step)
        if reason:
            raise SceneError(reason)
        return workflow
