"""Datablocks that are needed no more: removed at once, or where a block may yet fail, when it has ended well."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from .session import exists

# What waits for each block under way, the innermost last.
_waiting: list[list[bpy.types.ID]] = []


def discard(datablock: bpy.types.ID | None) -> None:
    """Remove a datablock that nothing uses: no pointer, no file that links it, no fake user."""
    if datablock is None:
        return
    if _waiting:
        _waiting[-1].append(datablock)
    elif not datablock.users:
        bpy.data.batch_remove([datablock])


@contextmanager
def put_off() -> Iterator[None]:
    """A block in which nothing is discarded before its end, and nothing at all where it fails."""
    waiting: list[bpy.types.ID] = []
    _waiting.append(waiting)
    try:
        yield
    finally:
        _waiting.pop()
    if _waiting:
        _waiting[-1].extend(waiting)
    else:
        bpy.data.batch_remove({each for each in waiting if exists(each) and not each.users})
