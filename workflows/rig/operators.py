"""Buttons of results on rigs, of any ``RigWorkflow``."""

from __future__ import annotations

from ..interface.operators import ChangeOperator, OwnedOperator, owned_by
from .action import play_source, plays_result
from .control_list import choose_controls, choose_selected


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


class _OnlySelected(OwnedOperator, ChangeOperator):
    """Write results to the selected bones alone, as far as they are controls"""

    bl_label = "Only Selected Controls"
    needs = why_no_rig

    def apply(self, context):
        return choose_selected(context.object, self.owner())


class _AllControls(OwnedOperator, ChangeOperator):
    """Write results to every control that Write To and Trunk ask for"""

    bl_label = "All Controls"
    needs = why_no_rig

    def apply(self, context):
        choose_controls(self.owner().settings_of(context.object), ())


def rig_operators(workflow_id: str) -> tuple[type, ...]:
    """The way back from a workflow's result, and the choice of controls."""
    bases = {"play_source": _PlaySource, "only_selected": _OnlySelected, "all_controls": _AllControls}
    return tuple(owned_by(workflow_id, name, base) for name, base in bases.items())
