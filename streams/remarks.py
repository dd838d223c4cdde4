"""What is worth knowing of a stream, in words: what was guessed, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable

from .counts import OTHERS, Counts
from .standard_body import HEIGHT

_FIRST = 3  # entries of a list that are named


def remarks(counts: Counts) -> tuple[str, ...]:
    """Sentences without a full stop, the most important first."""
    return (*guesses(counts), *_left_out(counts))


def guesses(counts: Counts) -> Iterable[str]:
    """Those of the remarks that say what was guessed because it was not sent."""
    if counts.all_laid:
        yield f"Positions are missing: rotations are shown on a standard body {HEIGHT} m high"
    elif counts.laid:
        yield f"Without a position, and placed as on a standard body: {_listed(counts.laid)}"
    if counts.unsent:
        yield f"Not sent, so that bones below are placed on the nearest one above: {_listed(counts.unsent)}"
    if counts.untracked:
        yield f"Sent with the quaternion 0 0 0 0, taken as no rotation: {_tallied(counts.untracked)}"


def _left_out(counts: Counts) -> Iterable[str]:
    if counts.rivals:
        yield (
            "Another program sends the same joints, which are left out; stop it, or give it another port: "
            f"{_tallied(counts.rivals)}"
        )
    if counts.dropped_by:
        yield f"Left out: {_tallied(counts.dropped_by)}"
    if counts.ignored_by:
        yield f"Ignored messages: {_tallied(counts.ignored_by)}"


def _listed(names: Iterable[str]) -> str:
    """The first names, and how many more."""
    names = list(names)
    more = len(names) - _FIRST
    return ", ".join(names[:_FIRST]) + (f" and {more} more" if more > 0 else "")


def _tallied(table: dict[str, int]) -> str:
    """The most frequent entries, with how often each came; what a full table has no entry for is counted last."""
    often = sorted(table, key=lambda key: (key == OTHERS, -table[key]))
    return _listed(f"{key} ({table[key]})" for key in often)
