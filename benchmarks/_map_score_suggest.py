"""What it does for a loop that is played all day to have its frames alone weigh where pairs are suggested."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvers.mapping.pair_suggestion import RowSpace, worth

from ._map_score_cases import PAIRS, Fold, ScoreCase, picked
from ._map_score_ways import ours

WHOLE, LOOP, FIRST = "whole range", "loop alone", "loop first, then the whole range"


def suggested(case: ScoreCase) -> dict[str, dict[str, float]]:
    """By what weighs where PAIRS pairs are suggested: pose, percent of the diagonal, at frames that are no pair, of the
    loop ("loop") and of the other paired clips ("rest"), and the share of the loop's variance that is left ("left")."""
    loop, known = case.clips == 0, ~case.unseen
    half = picked(case.rows, loop, PAIRS // 2)
    picks = {
        WHOLE: picked(case.rows, known),
        LOOP: picked(case.rows, loop),
        FIRST: picked(case.rows, known, PAIRS - len(half), half),
    }
    return {way: _figures(case, rows, loop) for way, rows in picks.items()}


def _figures(case: ScoreCase, picks: np.ndarray, loop: np.ndarray) -> dict[str, float]:
    fold = Fold(case.rows[picks], case.answers[picks], np.ones(len(case.rows), bool))
    off = 100 * np.linalg.norm(ours(replace(case, folds=(fold,))) - case.truth, axis=2).mean(axis=1) / case.diagonal
    other = ~np.isin(np.arange(len(off)), picks) & ~case.unseen
    space = RowSpace.of(case.rows, weights=loop)
    left = worth(space, case.rows[picks])[1] / worth(space, case.rows[:0])[1]
    return {"loop": float(off[other & loop].mean()), "rest": float(off[other & ~loop].mean()), "left": 100 * left}
