"""Body parts: suggested for both subjects as vertex groups that can be painted over, listed, added and removed."""

from __future__ import annotations

from ..solvers.errors import InputError
from .mesh_target import target_in, why_no_target

TORSO = "Torso"


def why_no_part(context) -> str | None:
    """Why there is no part to remove, or None."""
    reason = why_no_target(context)
    return reason or (None if len(target_in(context).motion_loom_transfer.parts) else "There are no parts.")


def add_part(context) -> str:
    """Add a part to the list, of groups that are chosen next; the first one is the torso."""
    settings = target_in(context).motion_loom_transfer
    part = settings.parts.add()
    part.name = TORSO if len(settings.parts) == 1 else f"Limb {len(settings.parts) - 1}"
    settings.active_part = len(settings.parts) - 1
    return f"'{part.name}': choose its vertex group of each subject"


def remove_part(context) -> str | None:
    """Remove the active part from the list; its groups stay."""
    settings = target_in(context).motion_loom_transfer
    if not 0 <= settings.active_part < len(settings.parts):
        raise InputError("There is no part to remove.")
    settings.parts.remove(settings.active_part)
    settings.active_part = min(settings.active_part, len(settings.parts) - 1)
    return None
