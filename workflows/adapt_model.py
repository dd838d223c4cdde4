"""What is bound to a rig, unpacked once a session."""

from __future__ import annotations

from ..scene import binding_store
from ..state import cache
from .adapt_store import Stored, unpack

_STORED = "adapt stored"


def stored_of(ob) -> Stored:
    """The binding kept with an original armature object: unpacked once, then only compared by its checksum.

    Raises StaleBindingError where there is none, or it cannot be used.
    """
    mesh = ob.motion_loom_adapt.binding
    inputs = cache.fingerprint(*binding_store.mark(mesh))
    stored = cache.get(ob.session_uid, _STORED, inputs)
    if stored is None:
        stored = unpack(*binding_store.load(mesh))
        cache.put(ob.session_uid, _STORED, inputs, stored)
    return stored
