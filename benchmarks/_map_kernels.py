"""Map's ridge beside Gaussian processes of two kernels, on the same pairs, features, poses and box."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from solvers.core.steps import result_of
from solvers.mapping.track import MotionMap
from solvers.regression.gaussian_process import GaussianProcess
from solvers.regression.kernels import KERNELS
from solvers.regression.leave_one_out import leave_one_out
from solvers.shapes.target_space import TargetSpace, learn_target_steps
from solvers.surface.weld import staying_together

from ._kernel_cases import CONFIGURATIONS, SUGGESTED
from ._kernel_measures import reaching
from ._map_score_cases import Fold, ScoreCase, picked, rig_cases
from ._map_score_ways import coefficients_of

MAP = "Map"
TYPICAL, LEFT_OUT = "typical", "a pair left out"
_REACHES, _NOISES = (0.5, 0.7, 1.0, 1.4, 2.0), (0.01, 0.03, 0.1, 0.3)
_AT_ONCE, _STEP = 64, 2


@dataclass(frozen=True)
class MapCompared:
    """pose, unseen: by way, mean distance of vertices over the diagonal, percent, at frames of paired clips that are no
    pair, and of the clip without a pair."""

    bodies: str
    held_out: bool
    count: int
    how: str
    pose: dict[str, float]
    unseen: dict[str, float]


def map_compared(quick: bool = False) -> Iterator[MapCompared]:
    """Of each pair of rigs, or one that was looked at and one that was not, and each number of pairs."""
    for number, case in enumerate(rig_cases(quick)):
        space = result_of(
            learn_target_steps(case.target.astype(np.float32), case.triangles, same=staying_together(case.target))
        )
        for count, how in CONFIGURATIONS:
            yield _compared(case, space, _with_pairs(case, count, how, number), count, how)


def _with_pairs(case: ScoreCase, count: int, how: str, seed: int) -> ScoreCase:
    paired = np.flatnonzero(~case.unseen)
    if how == SUGGESTED:
        picks = picked(case.rows, ~case.unseen, count)
    else:
        picks = np.random.default_rng(seed).choice(paired, count, replace=False)
    every = np.ones(len(case.rows), bool)
    is_pair = np.isin(np.arange(len(case.rows)), picks)
    fold = Fold(case.rows[picks], case.answers[picks], every)
    return replace(case, folds=(fold,), counted=~case.unseen & ~is_pair)


def _compared(case: ScoreCase, space: TargetSpace, paired: ScoreCase, count: int, how: str) -> MapCompared:
    (fold,) = paired.folds
    known, given = fold.known, coefficients_of(space, fold)
    box = MotionMap.learn(known, given, space.box).box
    found = {MAP: MotionMap.learn(known, given, space.box).coefficients}
    for kernel in KERNELS:
        for setting, fit in ((TYPICAL, _typical), (LEFT_OUT, _by_pairs)):
            predict = fit(known, given, kernel)
            found[f"{kernel}, {setting}"] = lambda rows, predict=predict: box.keep(predict(rows))
    some = np.arange(0, len(case.rows), _STEP)
    away = {
        way: _away(space, predict(case.rows[some]), case.truth[some]) / case.diagonal for way, predict in found.items()
    }
    counted, unseen = paired.counted[some], case.unseen[some]
    return MapCompared(
        case.name, case.held_out, count, how,
        {way: 100 * float(each[counted].mean()) for way, each in away.items()},
        {way: 100 * float(each[unseen].mean()) for way, each in away.items()},
    )  # fmt: skip


def _away(space: TargetSpace, rows: np.ndarray, truth: np.ndarray) -> np.ndarray:
    out = np.empty(len(rows))
    for start in range(0, len(rows), _AT_ONCE):
        shown = space.vertices_of(rows[start : start + _AT_ONCE])
        out[start : start + _AT_ONCE] = np.linalg.norm(shown - truth[start : start + _AT_ONCE], axis=2).mean(axis=1)
    return out


def _scaled(known: np.ndarray, given: np.ndarray):
    middle, shift = known.mean(axis=0), given.mean(axis=0)
    size, height = (float(np.sqrt(np.mean(each**2))) or 1.0 for each in (known - middle, given - shift))
    return (known - middle) / size, (given - shift) / height, lambda rows: (rows - middle) / size, shift, height


def _typical(known: np.ndarray, given: np.ndarray, kernel: str):
    """As Transfer learns from so few pairs."""
    inputs, outputs, scaled, shift, height = _scaled(known, given)
    process = GaussianProcess.fit(inputs, outputs, kernel, spread=0.2)
    return lambda rows: process.predict(scaled(rows)) * height + shift


def _by_pairs(known: np.ndarray, given: np.ndarray, kernel: str):
    """The reach and the noise with which a pair that is left out is missed least."""
    inputs, outputs, scaled, shift, height = _scaled(known, given)
    tried = []
    for one in reaching(kernel, inputs, _REACHES):
        for noise in _NOISES:
            try:
                missed, _ = leave_one_out(one.prepared(inputs)(inputs) + noise * np.eye(len(inputs)), outputs)
            except LinAlgError:
                continue
            tried.append((float(np.mean(missed**2)), len(tried), one, noise))
    process = GaussianProcess.posterior(*min(tried)[2:], inputs, outputs)
    return lambda rows: process.predict(scaled(rows)) * height + shift
