"""The workflows, in the order of the panel. Panels, operators and the command line find them here."""

from __future__ import annotations

from .adapt import Adapt
from .bake import Bake
from .base import Workflow
from .map import Map
from .stream import Stream
from .transfer import Transfer

WORKFLOWS: tuple[Workflow, ...] = (Adapt(), Map(), Transfer(), Stream(), Bake())


def by_id(workflow_id: str) -> Workflow:
    """The registered workflow of that id; KeyError names the ones there are."""
    for workflow in WORKFLOWS:
        if workflow.id == workflow_id:
            return workflow
    raise KeyError(f"No workflow '{workflow_id}'; there are: {', '.join(w.id for w in WORKFLOWS) or 'none'}.")
