"""How often a pair of Map's that is 20 frames off is named, and one that is right: rigs that play the same clips."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solvers.core.interpolation import BetweenRows
from solvers.core.steps import result_of
from solvers.mapping.odd_pair import odd_pair
from solvers.shapes.target_space import learn_target_steps
from solvers.surface.weld import staying_together

from ._map_score_cases import ScoreCase, rig_cases
from ._odd_pair_measures import EARLIER, NOW, Named

_COUNTS, _OFF = (6, 8, 12), (20.0, -20.0)
_CLIPS = ("loop", "second clip", "third clip", "fourth clip")


def map_pairs_named(quick: bool = False) -> dict[tuple[str, str], list[Named]]:
    """By whether rigs were held out, and by rule; of each clip alone and of all together.

    quick: of one pair of rigs that was looked at and one that was not.
    """
    found: dict[tuple[str, str], list[Named]] = {}
    for number, case in enumerate(rig_cases(quick)):
        kind = "held out" if case.held_out else "looked at"
        for rule in (EARLIER, NOW):
            found.setdefault((kind, rule), []).extend(_of_case(case, rule == NOW, number))
    return dict(sorted(found.items()))


def _of_case(case: ScoreCase, timed: bool, seed: int) -> Iterator[Named]:
    learnt = learn_target_steps(case.target.astype(np.float32), case.triangles, same=staying_together(case.target))
    poses, rng = result_of(learnt).coefficients, np.random.default_rng(seed)
    bodies = tuple(case.name.split(" to "))

    def named(at: np.ndarray, rows: np.ndarray):
        given = BetweenRows.at(rows, np.arange(float(len(poses)))).of(poses)
        times = np.stack((at.astype(float), rows), axis=1) if timed else None
        return odd_pair(case.rows[at], given, poses, times)

    for clip in (*range(case.clips.max() + 1), None):
        frames = np.flatnonzero(case.clips == clip) if clip is not None else np.arange(len(case.clips))
        low, high = case.answers[frames[[0, -1]]]
        for count in _COUNTS:
            at = np.unique(np.round(np.linspace(frames[0], frames[-1], count)).astype(int))
            right = np.clip(np.round(case.answers[at]) + rng.integers(-1, 2, len(at)), low, high)
            if (np.diff(right) <= 0).any():
                continue
            clips, name = (1, _CLIPS[clip]) if clip is not None else (len(_CLIPS), "all together")
            yield Named(bodies, clips, None, False, int(named(at, right) is not None), np.nan)
            for row, off in ((row, off) for row in range(len(at)) for off in _OFF):
                rows = right.copy()
                rows[row] += off
                if not low <= rows[row] <= high:
                    continue
                odd = named(at, rows)
                hit = odd is not None and odd.pair == row
                away = abs(odd.answer - right[row]) if hit else np.nan
                yield Named(bodies, clips, name, hit, int(odd is not None and not hit), away)
