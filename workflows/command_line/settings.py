"""What is given on a command line becomes settings, as if made in a panel; and numbers that settings cannot be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ...scene.frames import FIRST_FRAME, LAST_FRAME
from ...solvers.core.errors import InputError

_UNLIMITED = 2**31 - 1  # the limit of a setting that has no other
_SHOWN = 30  # letters of what is no number
_LARGEST = (2.0 - 2.0**-23) * 2.0**127  # of single precision


def require_between(name: str, value, low: float, high: float) -> float:
    """A number, or a text of one; raises InputError where it is none, or not between both ends.

    name: of an option, a setting or an object, as the sentence begins.
    """
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not low <= number <= high:
        raise InputError(f"{name} cannot be {_shown(value)}; use {_range_text(low, high, number)}.")
    return number


def whole_frame(name: str, value) -> int:
    """A whole frame that Blender has, of a number or a text; else raises InputError as ``require_between``."""
    return int(require_between(name, value, FIRST_FRAME, LAST_FRAME))


def set_numbers(settings, values: dict) -> None:
    """Set what is not None, by name; raises InputError for what a setting cannot be: it would be cut silently."""
    for name, value in values.items():
        if value is None:
            continue
        prop = settings.bl_rna.properties[name]
        require_between(prop.name, value, prop.hard_min, prop.hard_max)
        setattr(settings, name, value)


def require_numbers(settings, names: Sequence[str]) -> None:
    """Raises InputError for a number that only a script can set: none, or an endless one, kept as the largest."""
    for name in names:
        value, prop = getattr(settings, name), settings.bl_rna.properties[name]
        if not abs(value) < _LARGEST:
            raise InputError(f"{prop.name} cannot be {'nan' if math.isnan(value) else 'endless'}; use a number.")


def require_all_numbers(settings, leave_out: Sequence[str] = ()) -> None:
    """As ``require_numbers``, of all settings and of what lists in them hold, but for some lists.

    Raises InputError that names the entry as well.
    """
    props = settings.bl_rna.properties
    require_numbers(settings, [prop.identifier for prop in props if prop.type == "FLOAT"])
    for prop in props:
        if prop.type != "COLLECTION" or prop.identifier in leave_out:
            continue
        for number, item in enumerate(getattr(settings, prop.identifier), start=1):
            with _in_entry(prop.identifier, number):
                require_all_numbers(item)


@contextmanager
def _in_entry(of: str, number: int) -> Iterator[None]:
    """Says which entry of a list is wrong."""
    try:
        yield
    except InputError as error:
        raise InputError(f"Entry {number} of the {of}: {error}") from error


def set_choices(settings, values: dict) -> None:
    """Set what is not None, by name."""
    for name, value in values.items():
        if value is not None:
            setattr(settings, name, value)


def set_range(settings, of: str, start: int | None, end: int | None, option: str) -> None:
    """Switch a range on, where it is given; raises InputError for half of one.

    of: what range, see ``panel_parts.draw_range``.  option: what comes before "start" and "end" on the command line.
    """
    if start is None and end is None:
        return
    if start is None or end is None:
        raise InputError(f"Give both {option}start and {option}end.")
    set_numbers(settings, {f"{of}_start": start, f"{of}_end": end})
    set_choices(settings, {f"use_{of}_range": True})


def _shown(value) -> str:
    """As it was given, the beginning of it."""
    text = str(value)
    if len(text) <= _SHOWN and not isinstance(value, str):
        text = f"{value:g}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _range_text(low: float, high: float, value: float) -> str:
    """In words; what only the size of a number limits has no limit."""
    if high < _UNLIMITED:
        return f"{low:,.10g} to {high:,.10g}"
    if low > -_UNLIMITED and (value < low or not math.isfinite(value)):
        return f"{low:g} or more"
    return "a smaller number" if value > high else "a larger number" if value < low else "a number"
