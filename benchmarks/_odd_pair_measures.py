"""How often a pair of Transfer's that is 20 frames off is named, and one that is right: clips of animals whose right
pairs are known, for the target's own clip is given a time of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.baselines import pose_odd_pairs
from solvers.core.errors import InputError
from solvers.core.interpolation import BetweenRows
from solvers.transfer import odd_pairs
from solvers.transfer.clip_pair import ClipRows

from ._kernel_cases import FPS, KernelCase, animal_cases, features_of, forward, suggested

EARLIER, NOW = "poses alone", "poses and time"
RULES: dict[str, Callable] = {EARLIER: pose_odd_pairs.odd_pairs, NOW: odd_pairs.odd_pairs}
LOOKED_AT = (("Fox", "Husky"), ("Husky", "Fox"), ("Horse", "Cow"), ("Cow", "Horse"))
HELD_OUT = (
    ("Trex", "Velociraptor"), ("Velociraptor", "Trex"), ("Trex", "Apatosaurus"), ("Apatosaurus", "Velociraptor"),
    ("Alpaca", "Horse"), ("Cow", "Alpaca"), ("Alpaca", "Fox"),
)  # fmt: skip
_CYCLES, _SHORT = ("Walk", "Gallop", "Run"), 40
_ALIKE = {"Horse", "Cow", "Alpaca"}  # eat at the same moments; dogs do not
_OFF = (20.0, -20.0)
_UNEVEN = (0.0, 0.03, 0.06)


@dataclass(frozen=True)
class Named:
    """Of one set of clips with pairs.  off: the clip of the pair that is off, None where none is.  found: it is named.
    others: how many right ones are.  away: frames that what is said of it is off."""

    bodies: tuple[str, str]
    clips: int
    off: str | None
    found: bool
    others: int
    away: float


def named(bodies: tuple[tuple[str, str], ...], rule: Callable) -> list[Named]:
    return [found for number, pair in enumerate(bodies) for found in _of_bodies(*pair, rule, 100 * number)]


def _of_bodies(source: str, target: str, rule: Callable, seed: int) -> Iterator[Named]:
    case = next(animal_cases(source, target, ""))
    names = [clip for clip in case.moving if clip != "Eating" or {source, target} <= _ALIKE]
    for clips in [*([name] for name in names), names]:
        for count in (5, 6, 8):
            for uneven in _UNEVEN:
                seed += 1
                made = [_made(case, clip, count, uneven, seed) for clip in clips]
                if sum(len(clip.pairs) for clip in made) < 5:
                    continue
                try:
                    yield Named((source, target), len(clips), None, False, len(rule(made, FPS)), np.nan)
                except InputError:
                    continue  # a part that stays still in this clip
                if len(clips) == 1 or count == 6:
                    yield from _with_one_off((source, target), clips, made, rule)


def _with_one_off(bodies, names, clips: list[ClipRows], rule: Callable) -> Iterator[Named]:
    for at, clip in enumerate(clips):
        for row in range(len(clip.pairs)):
            for off in _OFF:
                pairs = clip.pairs.copy()
                pairs[row, 1] += off
                if (np.diff(pairs[:, 1]) <= 0).any() or not 0 <= pairs[row, 1] < len(clip.target[0]):
                    continue
                found = rule([replace(clip, pairs=pairs) if k == at else one for k, one in enumerate(clips)], FPS)
                hits = [odd.answer for odd in found if (odd.clip, odd.pair) == (at, row)]
                away = abs(hits[0] - clip.pairs[row, 1]) if hits else np.nan
                yield Named(bodies, len(clips), names[at], bool(hits), len(found) - len(hits), away)


def _made(case: KernelCase, clip: str, count: int, uneven: float, seed: int) -> ClipRows:
    """A cycle several times; the target's time runs unevenly, and each pair is off by a frame at most."""
    rounds = (3 if len(case.truth[clip]) < _SHORT else 2) if clip in _CYCLES else 1
    source, target = (
        tuple(np.concatenate([part[:-1]] * rounds + [part[-1:]]) for part in side[clip])
        for side in (case.rows, case.wanted)
    )
    frames, answers = len(source[0]), len(target[0])
    rng = np.random.default_rng(seed)
    phases = rng.uniform(0.0, 2.0 * np.pi, 2)

    def waves(share):
        return uneven * (np.sin(2 * np.pi * share + phases[0]) + 0.4 * np.sin(4.6 * np.pi * share + phases[1]))

    fine = np.linspace(0.0, 1.0, 2000)
    shown = np.maximum.accumulate(fine + waves(fine) - waves(0.0) * (1.0 - fine) - waves(1.0) * fine)
    places = np.interp(np.linspace(0.0, 1.0, answers), fine, shown) * (answers - 1)
    truth = np.interp(np.linspace(0.0, 1.0, frames), shown, fine) * (answers - 1)
    target = tuple(BetweenRows.at_places(places, answers).of(part) for part in target)
    count = min(count, frames // 3)
    if seed % 2:
        rows = np.unique(np.round(np.linspace(0, frames - 1, count))).astype(int)
    else:
        rows = np.sort(suggested(features_of(source), count))
    marked = np.clip(np.round(truth[rows]) + rng.integers(-1, 2, len(rows)), 0, answers - 1)
    return ClipRows(source, target, forward(np.stack((rows, marked), axis=1).astype(float)))


def odd_pairs_named(quick: bool = False) -> dict[tuple[str, str], list[Named]]:
    """By whether bodies were held out, and by rule; quick: of one pair of bodies each."""
    kinds = (("held out", HELD_OUT), ("looked at", LOOKED_AT))
    most = 1 if quick else None
    return {(kind, name): named(bodies[:most], rule) for kind, bodies in kinds for name, rule in RULES.items()}
