"""Run-time cache of fitted models: arrays and a fingerprint of their inputs, never a bpy reference.

Undo replaces every Blender object while its ``session_uid`` stays, so an entry is found again by the uid and
trusted only while its inputs have the fingerprint it was fitted to. Loading a file clears everything.
"""

from __future__ import annotations

import hashlib
from typing import Any

_models: dict[tuple[int, str], tuple[str, Any]] = {}


def fingerprint(*parts) -> str:
    """A digest of texts, numbers and C-contiguous arrays (values, shapes and element types count)."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        if isinstance(part, (str, int, float, bool, type(None))):
            header, content = type(part).__name__, repr(part).encode()
        else:
            content = memoryview(part)
            header = f"{content.format}{content.shape}"
        digest.update(f"{header}:".encode())
        digest.update(content)
        digest.update(b";")
    return digest.hexdigest()


def put(session_uid: int, workflow_id: str, inputs: str, model: Any) -> None:
    """Keep ``model``, fitted to inputs of that fingerprint, for the original ID of that ``session_uid``."""
    if not session_uid:
        raise ValueError("session_uid is 0: pass that of the original object, evaluated copies have none.")
    _models[session_uid, workflow_id] = (inputs, model)


def get(session_uid: int, workflow_id: str, inputs: str) -> Any | None:
    """The model, or None when there is none or it was fitted to other inputs."""
    found = _models.get((session_uid, workflow_id))
    return found[1] if found and found[0] == inputs else None


def clear() -> None:
    """Forget every model."""
    _models.clear()
