"""What is bound to a rig, unpacked once a session."""

from __future__ import annotations

from ..core.kept import unpacked
from .store import Stored, unpack


def stored_of(ob, workflow) -> Stored:
    """The binding kept with an original armature object: unpacked once, then only compared by its checksum.

    Raises StaleBindingError where there is none, or it cannot be used.
    """
    missing = "This rig has no stored binding; press Bind."
    return unpacked(ob, f"{workflow.id} stored", workflow.settings_of(ob).binding, unpack, missing)
