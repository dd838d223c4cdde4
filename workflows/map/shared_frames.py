"""Pairs that share a frame: two of one source frame, which cannot both be met, and two of one target frame."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ..core.kept import kept
from .model import pair_rows, pairs_mark
from .unmet import contradicting

# Of the median distance between the sources of two pairs: what is nearer comes again, as in another cycle.
_AGAIN = 0.5
_SHOWN = 4  # couples that are named


def shared_notes(ob) -> list[str]:
    """Sentences that name pairs in use that share a frame, each with the way out; raises as ``pair_rows``.

    Not those that ``contradicting`` names, nor two of one target frame whose sources are alike: a pose comes again.
    """
    return list(kept(ob, "map shared frames", pairs_mark(ob), lambda: tuple(_notes(ob))))


def _notes(ob) -> list[str]:
    used = [(number, pair) for number, pair in enumerate(ob.motion_loom_map.pairs, start=1) if pair.use]
    if len(used) < 2:
        return []
    rows, _ = pair_rows(ob)
    couples = list(combinations(range(len(used)), 2))
    apart = np.array([np.linalg.norm(rows[one] - other) for one, other in ((a, rows[b]) for a, b in couples)])
    far, named, of_source, of_target = _AGAIN * np.median(apart), contradicting(ob), [], []
    for (a, b), distance in zip(couples, apart, strict=True):
        (one, first), (other, second) = used[a], used[b]
        if _source_of(first) == _source_of(second):
            if {one, other} != set(named or ()):
                of_source.append(f"{one} and {other}{_at(first)}")
        elif first.target_frame == second.target_frame and distance >= far:
            of_target.append(f"{one} and {other} ({first.target_frame:g})")
    notes = []
    if of_source:
        notes.append(
            f"Pairs of one source frame: {_listed(of_source)}. The target does what is between their poses there; "
            "change or remove one."
        )
    if of_target:
        notes.append(
            f"Pairs of one target frame, though their sources are unlike: {_listed(of_target)}. The target takes that "
            "pose at both and hardly moves where one goes to the other; change one if that is not meant."
        )
    return notes


def _source_of(pair) -> tuple:
    return ("performed", pair.performed) if pair.performed else ("frame", pair.source_frame)


def _at(pair) -> str:
    return "" if pair.performed else f" ({pair.source_frame:g})"


def _listed(texts: list[str]) -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more
