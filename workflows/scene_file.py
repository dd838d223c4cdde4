"""The file that a command is run on, and the one that its result is saved to."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from ..scene import blend_file
from ..scene.whole_file import Destination, Identity, destination, identity_of, removed_on_failure
from ..solvers.errors import OutputError, SceneError

OUTPUT, SAVE = "choose another --output", "give --output OUT.blend to save it elsewhere"


def open_scene(path: str) -> Identity:
    """Open a .blend; returns what lay there, for ``place_of``.  Raises SceneError where it cannot be opened."""
    was = identity_of(path)
    if was is None or not os.path.isfile(path):
        raise SceneError(f"There is no file '{path}'.")
    blend_file.open_file(path)
    return was


def opened() -> Identity | None:
    """What lies at the place of the open scene now; None for one without a file."""
    path = blend_file.opened_path()
    return identity_of(path) if path else None


def place_of(output: str | None, save: bool, was: Identity | None) -> Destination | None:
    """Where to save, None for nowhere, found while nothing has been computed yet.

    output, save: as given.  was: what lay at the place of the open scene when it was opened.
    Raises OutputError where nothing can be saved there.
    """
    source = blend_file.opened_path()
    if save and not source:
        raise OutputError("The scene has no file to save over; give --output OUT.blend instead.")
    path = source if save else output
    if not path:
        return None
    place = destination(path, SAVE if save else OUTPUT)
    if not save and not path.casefold().endswith(".blend"):
        # Whatever lies there would become a scene.
        raise place.refused(f"'{place.path}' is no name of a scene, which ends in .blend")
    if source and os.path.realpath(source) == str(place.place):
        place = place.noticed(was)
        place.require_same()
    blend_file.require_no_library(place)
    # An estimate: the result takes about as much as the file that was opened.
    place.require_room(was[2] if was else 0)
    return place


@contextlib.contextmanager
def saved_to(place: Destination | None) -> Iterator[None]:
    """A block at whose end the open scene is saved; where either fails, new caches go: no saved scene plays them."""
    with removed_on_failure():
        yield
        if place is not None:
            blend_file.save(place)
