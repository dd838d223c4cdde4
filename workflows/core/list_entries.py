"""Lists in settings: what the buttons beside one do, and that entries from a library cannot be removed of overrides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...solvers.core.errors import InputError, SceneError

_LOCAL = "make it local (Object, Relations, Make Local)"


@dataclass(frozen=True)
class EntryList:
    """A list in a workflow's settings that has a button to add to it and one to remove from it.

    entry:         names the operators, as "pair" does ``motion_loom.map_add_pair`` and ``motion_loom.map_remove_pair``.
    label:         what is added, on buttons.
    add:           (context) -> the line to show at the end, or None; raises MotionLoomError.
    remove:        as ``add``, (context, index), for -1 the active entry.
    why_no_add:    (context) -> why nothing can be added now, or None; it runs at every redraw.
    why_no_choice: as ``why_no_add``, why there is none to remove.
    """

    entry: str
    label: str
    add: Callable[[Any], str | None]
    remove: Callable[[Any, int], str | None]
    why_no_add: Callable[[Any], str | None]
    why_no_choice: Callable[[Any], str | None]
    add_tip: str
    remove_tip: str


def library_entries(owner, entries: str) -> int:
    """How many entries of a list, its first ones, come from the library. owner: settings, or an entry with a list."""
    override = owner.id_data.override_library
    if override is None or override.reference is None:
        return 0
    try:
        return len(override.reference.path_resolve(owner.path_from_id(entries)))
    except ValueError:  # the owner is an entry that the library has not
        return 0


def entry_index(entries, active: int, index: int, whose: str, what: str) -> int:
    """Which entry of a list is meant, the active one for -1; InputError where there is no such entry.

    whose: has the list, as the sentence begins.  what: one of its entries is.
    """
    index = active if index < 0 else index
    if not 0 <= index < len(entries):
        raise InputError(f"{whose} has no {what} {index + 1}; it has {len(entries)}.")
    return index


def remove_chosen(owner, entries: str, active: str, index: int, name: str, instead: str = "") -> None:
    """As ``remove_entry``; the setting ``active``, the index of the active entry, stays within the list."""
    remove_entry(owner, entries, index, name, instead)
    setattr(owner, active, min(getattr(owner, active), len(getattr(owner, entries)) - 1))
    owner.id_data.update_tag(refresh={"OBJECT"})


def remove_entry(owner, entries: str, index: int, name: str, instead: str = "") -> None:
    """Remove an entry; SceneError naming it where it comes from the library. instead: what else can be done, or."""
    if index < library_entries(owner, entries):
        way = f"{instead}, or {_LOCAL}" if instead else _LOCAL
        raise SceneError(f"{name} of '{owner.id_data.name}' comes from its library and cannot be removed; {way}.")
    getattr(owner, entries).remove(index)


def require_removable(owner, entries: str, name: str) -> None:
    """Raises SceneError where a list cannot be replaced, as the library has entries of it. name: of all, for messages.
    """
    if library_entries(owner, entries):
        raise SceneError(
            f"{name} of '{owner.id_data.name}' come from its library and cannot be replaced; {_LOCAL} first."
        )


def resized(owner, entries: str, count: int, name: str) -> list:
    """All entries of a list, as many as are asked for, to be given new values.

    Raises SceneError where the library has more.
    """
    kept = library_entries(owner, entries)
    if kept > count:
        raise SceneError(
            f"{kept} {name} of '{owner.id_data.name}' come from its library and cannot be fewer; {_LOCAL} first."
        )
    found = getattr(owner, entries)
    while len(found) > kept:
        found.remove(len(found) - 1)
    while len(found) < count:
        found.add()
    return list(found)
