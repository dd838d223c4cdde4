"""What is bound to a rig, unpacked once a session."""

from __future__ import annotations

from ...scene import binding_store
from ..core.kept import kept
from .store import Stored, unpack


def stored_of(ob) -> Stored:
    """The binding kept with an original armature object: unpacked once, then only compared by its checksum.

    Raises StaleBindingError where there is none, or it cannot be used.
    """
    mesh = ob.motion_loom_adapt.binding
    return kept(ob, "adapt stored", binding_store.mark(mesh), lambda: unpack(*binding_store.load(mesh)))
