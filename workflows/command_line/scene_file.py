"""The file that a command is run on, and the one that its result is saved to."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from ...scene import blend_file, interrupts
from ...scene.whole_file import Destination, destination, removed_on_failure
from ...solvers.core.errors import OutputError, SceneError
from ..core.opened import identity_noted, note_saved

OUTPUT, SAVE = "choose another --output", "give --output OUT.blend to save it elsewhere"


def open_scene(path: str) -> None:
    """Open a .blend; raises SceneError where that cannot be done."""
    if not os.path.isfile(path):
        raise SceneError(f"There is no file '{path}' that can be reached; name another.")
    blend_file.open_file(path)


def place_of(output: str | None, save: bool) -> Destination | None:
    """Where to save, None for nowhere, found while nothing has been computed yet.  output, save: as given.

    Raises OutputError where nothing can be saved there, also where another program has changed the open file.
    """
    source = blend_file.opened_path()
    was = identity_noted(source)
    if save and not source:
        raise OutputError("The scene has no file to save over; give --output OUT.blend instead.")
    path = source if save else output
    if not path:
        return None
    place = destination(path, SAVE if save else OUTPUT)
    if not save and not path.casefold().endswith(".blend"):
        # Whatever lies there would become a scene.
        raise OutputError(f"The name '{place.path}' does not end in .blend; choose an --output that does.")
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
        interrupts.require_none()
        if place is not None:
            interrupts.hold()
            blend_file.save(place)
            note_saved(str(place.path))
