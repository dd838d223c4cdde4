"""Buttons of results on rigs, of any ``RigWorkflow``."""

from __future__ import annotations

from ..interface.operators import ChangeOperator, OwnedOperator, owned_by
from .action import play_source, plays_result


def why_no_rig(context) -> str | None:
    """That the active object is no armature, or None."""
    ob = getattr(context, "object", None)  # timers have no such context
    return None if ob is not None and ob.type == "ARMATURE" else "Make the armature the active object"


class _PlaySource(OwnedOperator, ChangeOperator):
    """Play the bound action again, with everything that only the result animated as it was before"""

    bl_label = "Play Source"

    @classmethod
    def needs(cls, context) -> str | None:
        reason, workflow = why_no_rig(context), cls.owner()
        if reason is None and not plays_result(context.object, workflow):
            return f"The rig does not play a result of {workflow.label}"
        return reason

    def apply(self, context):
        play_source(context.object, self.owner())


def rig_operators(workflow_id: str) -> tuple[type, ...]:
    """The way back from a workflow's result."""
    return (owned_by(workflow_id, "play_source", _PlaySource),)
