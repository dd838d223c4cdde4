"""The workflows that the extension runs with: handed in when it is registered, found here by whoever needs another.

Nothing is imported here, so that whatever a workflow is made of may ask.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .base import Workflow

_registered: list[Workflow] = []


def use(workflows: Iterable[Workflow]) -> None:
    """Run with these workflows, in the order of the panel, and with no others."""
    _registered[:] = workflows


def registered() -> tuple[Workflow, ...]:
    """The workflows that the extension runs with, none where it is switched off."""
    return tuple(_registered)


def by_id(workflow_id: str) -> Workflow:
    """The registered workflow of that id; KeyError names the ones there are."""
    for workflow in _registered:
        if workflow.id == workflow_id:
            return workflow
    raise KeyError(f"No workflow '{workflow_id}'; there are: {', '.join(w.id for w in _registered) or 'none'}.")
