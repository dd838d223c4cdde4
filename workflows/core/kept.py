"""What a workflow has computed for an object, computed once and looked up by its inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...scene import binding_store
from ...solvers.core.errors import StaleBindingError
from ...state import cache


def kept(ob, name: str, inputs: tuple, make: Callable[[], Any]):
    """What was made for these inputs before, or is made now."""
    return kept_by(ob, name, cache.fingerprint(*inputs), make)


def unpacked(ob, name: str, block, unpack: Callable[[dict, dict], Any], missing: str):
    """What ``scene.binding_store`` holds in a datablock, unpacked once.

    Raises StaleBindingError with the text ``missing`` where there is no datablock, and as ``unpack``.
    """
    if block is None:
        raise StaleBindingError(missing)
    return kept_by(ob, name, repr(binding_store.mark(block)), lambda: unpack(*binding_store.load(block)))


def kept_by(ob, name: str, key: str, make: Callable[[], Any]):
    """What was made for a key before, or is made now."""
    found = cache.get(ob.session_uid, name, key)
    if found is None:
        found = make()
        cache.put(ob.session_uid, name, key, found)
    return found
