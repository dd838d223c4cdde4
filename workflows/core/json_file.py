"""JSON files that the project writes for other scenes: each says what it is, and is read with the culprit named."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ...scene.whole_file import Destination, destination
from ...solvers.core.errors import InputError

_SHOWN = 60  # letters
_ENDS_OF_FOLDERS = tuple(filter(None, (os.sep, os.altsep)))


def json_destination(path: str, what: str) -> Destination:
    """Where it is to be written; InputError for no name, OutputError for a place that cannot be written.

    what: goes into it, as in "name a file for the pairs".
    """
    if not Path(path).name:
        raise InputError(f"Name a file for the {what}.")
    if path.endswith(_ENDS_OF_FOLDERS):
        raise InputError(f"'{path}' names a folder; name a file in it for the {what}.")
    return destination(path if Path(path).suffix else Path(path).with_suffix(".json"), "choose another place")


def write_json(place: Destination, content: dict) -> None:
    """Write content whole or not at all; OutputError where that cannot be done."""
    data = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1).encode()
    with place.part(len(data)) as part:
        part.write_bytes(data)


def read_json(path: str, mark: tuple[str, int], kind: str, writer: str) -> dict:
    """What a file holds that says to be of a format and version (mark).

    kind, writer: words for it, as in "not a file of pairs; choose one that Save Pairs has written".
    Raises InputError naming the file and what is wrong with it.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        content = json.loads(text, object_pairs_hook=_once)
    except OSError as error:
        raise InputError(f"Cannot read '{path}': {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"'{path}' is not {kind}: {error}.") from error
    if not isinstance(content, dict) or content.get("format") != mark[0]:
        raise InputError(f"'{path}' is not {kind}; choose one that {writer} has written.")
    if type(content.get("version")) is not int or content["version"] != mark[1]:
        raise InputError(f"'{path}' was written by another version of Motion Loom, which this one cannot read.")
    return content


def _once(pairs: list[tuple]) -> dict:
    """An object of a file; ValueError for a name that it has twice, of which JSON lets the last one count."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{as_written(next(name for name in names if names.count(name) > 1))} is there twice")
    return found


def as_written(value) -> str:
    """A value as it stands in a file, the beginning of it."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:  # read nearer to the end of the stack than it is written
        text = "lists within lists"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
