"""What the command that adapts a rig reads of words with several names in them."""

from __future__ import annotations

import re

from ...scene.names import named
from ...scene.reached import collections_of
from ...scene.surfaces import find
from ...solvers.core.errors import InputError, SceneError
from ..command_line.settings import whole_frame
from ..command_line.splits import cuts, listed_names, name_in, only_way
from ..core.naming import listed

_PIN = re.compile(r"(?P<names>.+=.+):(?P<start>[^:]+):(?P<end>[^:]+)", re.DOTALL)


def replaced_by(context, settings, text: str) -> tuple[str, list]:
    """The name of a bound object and what takes its place, of ``OBJECT=OTHER[,MORE]``.

    Raises InputError or SceneError, by name, for what is not there, and where it may be read in several ways.
    """
    bound = {name for item in settings.surfaces for name in (item.bound_name, *_names(item.target)) if name}
    there = {name for each in (*context.scene.objects, *collections_of(context.scene)) for name in _names(each)}
    pairs = cuts(text, "=")
    ways = [
        (name, others)
        for before, after in pairs
        if (name := name_in(before, bound.__contains__)) is not None
        for others in listed_names(after, there.__contains__)
    ]
    found = only_way(text, ways, lambda way: f"'{way[0]}' replaced by {listed(way[1])}")
    if found is None:
        # The message is about what is there, as far as anything is.
        known = [pair for pair in pairs if name_in(pair[0], bound.__contains__) is not None]
        if not pairs:
            raise InputError(f"'{text}' should read OBJECT=OTHER[,MORE].")
        name, others = (known or pairs)[0]
        found = name.strip(), tuple(other.strip() for other in others.split(",") if other.strip())
        if not found[1]:
            raise InputError(f"'{text}' names nothing that replaces '{found[0]}'; it should read OBJECT=OTHER[,MORE].")
        if not known:
            return found[0], []
    return found[0], find(context, found[1])


def add_pin(context, ob, settings, text: str) -> None:
    """Add, or set, a pin of ``BONE=OBJECT:START:END``; raises InputError or SceneError for what makes no sense."""
    words = _PIN.fullmatch(text)
    pairs = cuts(words["names"], "=") if words else []
    if not pairs or not all(words[part].lstrip("-").isdigit() for part in ("start", "end")):
        raise InputError(f"'{text}' is no pin; write BONE=OBJECT:START:END with whole frames.")
    there = {name for each in context.scene.objects for name in _names(each)}
    ways = [pair for pair in pairs if pair[0] in ob.pose.bones and pair[1] in there]
    found = only_way(text, ways, lambda way: f"bone '{way[0]}' at '{way[1]}'")
    if found is None:
        # The message is about what is there, as far as anything is.
        found = next((pair for pair in pairs if pair[0] in ob.pose.bones or pair[1] in there), pairs[-1])
    bone, name = found
    start, end = (whole_frame(f"A frame of the pin of '{bone}'", words[part]) for part in ("start", "end"))
    target = named(context.scene.objects, name)
    if target is None:
        raise SceneError(f"There is no object '{name}' in the scene to pin '{bone}' to.")
    same = (pin for pin in settings.pins if (pin.bone, pin.target) == (bone, target))
    pin = next(same, None) or settings.pins.add()
    pin.bone, pin.target, pin.start, pin.end = bone, target, start, end


def _names(each) -> tuple[str, ...]:
    return () if each is None else (each.name, each.name_full)
