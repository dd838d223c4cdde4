"""A rig's action has one owner: the workflow that it is live in."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from ...solvers.core.errors import SceneError
from ..core import registry
from .action import source_played
from .settings import RigResultSettings


def owner_of(ob):
    """The workflow that an armature object is live in, or None."""
    return next((each for each in registry.registered() if _moves_rigs(each) and each.settings_of(ob).live), None)


def why_live_elsewhere(ob, workflow) -> str | None:
    """That a rig is live in another workflow, which writes what it plays; or None."""
    owner = owner_of(ob)
    if owner is None or owner.id == workflow.id:
        return None
    return f"'{ob.name}' is live in {owner.label}; switch that off first."


def require_owner(rigs: Sequence, workflow) -> None:
    """Raises SceneError where one of the rigs is live in another workflow."""
    reason = next(filter(None, (why_live_elsewhere(ob, workflow) for ob in rigs)), None)
    if reason:
        raise SceneError(reason)


def owner_source_played(ob):
    """A block in which a rig plays what it plays, the source of what is live."""
    owner = owner_of(ob)
    return nullcontext() if owner is None else source_played(ob, owner)


def _moves_rigs(workflow) -> bool:
    return workflow.settings is not None and issubclass(workflow.settings, RigResultSettings)
