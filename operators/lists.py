"""Buttons that add to the lists of workflows and remove from them, one of each a list that a workflow declares."""

from __future__ import annotations

import bpy

from ..workflows.core.base import Workflow
from ..workflows.core.list_entries import EntryList
from ..workflows.interface.operators import ChangeOperator, OwnedOperator, owned_by


class _Add(OwnedOperator, ChangeOperator):
    entries: EntryList

    def apply(self, context):
        return self.entries.add(context)


class _Remove(OwnedOperator, ChangeOperator):
    entries: EntryList

    def apply(self, context):
        return self.entries.remove(context, self.index)


def list_operators(workflow: Workflow) -> list[type]:
    """Operator classes for the lists of a workflow, in order; see ``EntryList``."""
    return [made(workflow, entries) for entries in workflow.entry_lists for made in (_adding, _removing)]


def _adding(workflow: Workflow, entries: EntryList) -> type:
    return _made(_Add, "add", workflow, entries, bl_description=entries.add_tip, needs=entries.why_no_add)


def _removing(workflow: Workflow, entries: EntryList) -> type:
    text = "Counts from 0; -1: the active one"
    index = bpy.props.IntProperty(name=entries.label, description=text, default=-1)
    look = {"bl_description": entries.remove_tip, "needs": entries.why_no_choice}
    return _made(_Remove, "remove", workflow, entries, **look, __annotations__={"index": index})


def _made(base: type, verb: str, workflow: Workflow, entries: EntryList, needs, **content) -> type:
    content |= {"bl_label": f"{verb.capitalize()} {entries.label}", "entries": entries, "needs": staticmethod(needs)}
    return owned_by(workflow.id, f"{verb}_{entries.entry}", base, **content)
