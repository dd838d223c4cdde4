"""What lies on disk at the place of the open file: noted, so that what another program writes there is noticed."""

from __future__ import annotations

import os

from ...scene import blend_file
from ...scene.whole_file import Identity, identity_of
from ...state.opened_file import opened_file


def note_file(path: str) -> None:
    """Keep what lies at the place of a file that is about to be opened, or has just been saved."""
    opened_file.path, opened_file.identity = path, identity_of(path) if path else None


def note_saved(path: str) -> None:
    """As ``note_file``, unless it is a copy of the open scene that was saved."""
    if path == blend_file.opened_path():
        note_file(path)


def identity_noted(source: str) -> Identity | None:
    """What lay at the place of the open scene when it was opened, or lies there now where that is not known."""
    if not source:
        return None
    is_known = os.path.abspath(opened_file.path) == source if opened_file.path else False
    return opened_file.identity if is_known else identity_of(source)
