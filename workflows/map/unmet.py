"""Pairs that the map does not meet, and why: two that contradict each other, few components, a setting below 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...solvers.core.interpolation import BetweenRows
from ...solvers.regression.ridge import contradiction
from .model import map_of, met_of, pair_rows, target_of

# Of the distance of a pair's pose from the mean one.
MET = 0.01
_SHOWN = 4  # pairs that are named


@dataclass(frozen=True)
class Unmet:
    """numbers (N,), from 1, of pairs in use that are missed by more than ``MET``, and shares (N,), the worst first."""

    numbers: list[int]
    shares: list[float]

    @property
    def text(self) -> str:
        """In words."""
        shown = [f"{number} ({share:.1%})" for number, share in zip(self.numbers, self.shares, strict=True)]
        more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
        return f"pair{'s' * (len(shown) > 1)} {', '.join(shown[:_SHOWN])}{more}"


def contradicting(ob) -> tuple[int, int] | None:
    """The numbers, from 1, of the two pairs in use that contradict each other most, or None."""
    rows, coefficients = pair_rows(ob)
    if len(rows) < 2:
        return None
    found = contradiction(rows, coefficients)
    if not found.serious:
        return None
    used = _used(ob)
    return used[found.first], used[found.second]


def contradiction_frames(ob, numbers: tuple[int, int] | None) -> list[list[float | None]] | None:
    """Source and target frame of each of them, no source frame of what was performed."""
    pairs = [ob.motion_loom_map.pairs[number - 1] for number in numbers or ()]
    return [[None if pair.performed else pair.source_frame, pair.target_frame] for pair in pairs] or None


def contradiction_text(numbers: tuple[int, int], frames: list[list[float | None]]) -> str:
    """In words."""
    said = ", ".join(
        f"{'a performed pose' if source is None else f'source frame {source:g}'} to target frame {target:g}"
        for source, target in frames
    )
    return f"pairs {numbers[0]} and {numbers[1]} contradict: alike sources, unlike targets ({said})"


def told_contradiction(ob) -> str | None:
    """In words, None where no pairs contradict each other."""
    found = contradicting(ob)
    return found and contradiction_text(found, contradiction_frames(ob, found))


def missed(ob) -> Unmet:
    """By the map; raises as ``model.map_of``."""
    return _beyond(ob, map_of(ob).missed)


def left_out(ob) -> Unmet:
    """By the components, whatever the map does."""
    target, pairs = target_of(ob), [pair for pair in ob.motion_loom_map.pairs if pair.use]
    frames = np.array([pair.target_frame for pair in pairs])
    return _beyond(ob, BetweenRows.at(frames, target.frames).of(target.space.left))


def unmet_notes(ob) -> list[str]:
    """Sentences, each with the way out; none for fewer than two pairs in use."""
    settings = ob.motion_loom_map
    if len(_used(ob)) < 2:
        return []
    by_map, by_components, notes = missed(ob), left_out(ob), []
    what = "of the distance of its pose from the mean one"
    if by_map.numbers and met_of(settings) < 1.0:
        notes.append(
            f"Meet Pairs is {met_of(settings):.2g}, so pairs are missed by up to {by_map.shares[0]:.0%} {what}; set it "
            "to 1 to meet them."
        )
    elif by_map.numbers:
        notes.append(
            f"{by_map.text[:1].upper()}{by_map.text[1:]}: missed by more than {MET:.0%} {what}, since another pair has "
            "nearly the same source and another target; change or remove one of them."
        )
    if by_components.numbers:
        notes.append(
            f"{by_components.text[:1].upper()}{by_components.text[1:]}: {target_of(ob).space.components} components "
            f"leave out more than {MET:.0%} {what}; raise Components and press Learn Again."
        )
    return notes


def _beyond(ob, shares: np.ndarray) -> Unmet:
    order = [row for row in np.argsort(-shares) if shares[row] > MET]
    used = _used(ob)
    return Unmet([used[row] for row in order], [float(shares[row]) for row in order])


def _used(ob) -> list[int]:
    return [number for number, pair in enumerate(ob.motion_loom_map.pairs, start=1) if pair.use]
