"""Bases of operators that change something: grey with the reason, typed errors for the user."""

from __future__ import annotations

from ..solvers.errors import MotionLoomError


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
            text = self.apply(context)
        except MotionLoomError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if text:
            self.report({"INFO"}, text)
        return {"FINISHED"}


class ChangeOperator(ReportingOperator):
    """A change of what is saved in the file: a step of undo."""

    bl_options = {"REGISTER", "UNDO"}
