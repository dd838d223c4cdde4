"""What is given on a command line becomes settings, as if made in a panel; and numbers that settings cannot be."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..solvers.errors import InputError

_UNLIMITED = 2**31 - 1  # the limit of a setting that has no other
_LARGEST = (2.0 - 2.0**-23) * 2.0**127  # of single precision


def set_numbers(settings, values: dict) -> None:
    """Set what is not None, by name; raises InputError for what a setting cannot be: it would be cut silently."""
    for name, value in values.items():
        if value is None:
            continue
        prop = settings.bl_rna.properties[name]
        if not prop.hard_min <= value <= prop.hard_max:
            allowed = _range_text(prop.hard_min, prop.hard_max, value)
            raise InputError(f"{prop.name} cannot be {value:g}; use {allowed}.")
        setattr(settings, name, value)


def require_numbers(settings, names: Sequence[str]) -> None:
    """Raises InputError for a number that only a script can set: none, or an endless one, kept as the largest."""
    for name in names:
        value, prop = getattr(settings, name), settings.bl_rna.properties[name]
        if not abs(value) < _LARGEST:
            raise InputError(f"{prop.name} cannot be {'nan' if math.isnan(value) else 'endless'}; use a number.")


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


def _range_text(low: float, high: float, value: float) -> str:
    """In words; what only the size of a number limits has no limit."""
    if high < _UNLIMITED:
        return f"{low:g} to {high:g}"
    if low > -_UNLIMITED and (value < low or not math.isfinite(value)):
        return f"{low:g} or more"
    return "a smaller number" if value > high else "a larger number" if value < low else "a number"
