"""Cubic curves through some of a channel's samples, with the tangents at which they run nearest to all of them.

A key is a sample that a curve goes through.  Between two keys runs a cubic Hermite polynomial; its tangents solve a
linear least squares problem of all samples (Schneider 1990, Graphics Gems, "An algorithm for automatically fitting
digitized curves", with time as the parameter and one tangent a key).  Curves bend smoothly at keys, but where the
samples have a corner.  F samples, n channels of c components each, which share their keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import solveh_banded

# How much tangents keep to the samples' own slopes, in samples that lie a sample's time off. Where keys lie close there
# is little to fit to, and free tangents swing: without it a walk of keys within 5 mm jerked 1.3 times its source.
_OWN = 3.0
# Times the second derivative two samples before and after: a wave of fewer than ten samples is told from a corner.
_CORNER = 8.0
_ROUNDING = 1e-6  # of a channel's size: what single precision makes of a straight line
_POINTS = 5  # a slope is that of the polynomial through so many samples


class Tangents(NamedTuple):
    """(F, n, c) change of a channel a unit of time, as its curve comes to a sample and leaves it; of keys alone."""

    coming: np.ndarray
    leaving: np.ndarray


@dataclass(frozen=True)
class Samples:
    """rows: (F, n, c) at times (F,) that rise.  slopes: (F, n, c) of the samples themselves.  corners: (F, n) bool."""

    rows: np.ndarray
    times: np.ndarray
    slopes: np.ndarray
    corners: np.ndarray

    def of(self, channels: np.ndarray) -> Samples:
        """Those of some channels (k,)."""
        return Samples(self.rows[:, channels], self.times, self.slopes[:, channels], self.corners[:, channels])


def sampled(rows: np.ndarray, times: np.ndarray) -> Samples:
    """Rows (F, n, c) at times (F,) that rise, with what each fit needs to know of them."""
    return Samples(rows, times, slopes(rows, times), corners(rows, times))


def slopes(rows: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(F, n, c) derivatives of the polynomial through the five samples next to each; exact up to the fourth degree."""
    count = min(_POINTS, len(times))
    if count < 2:
        return np.zeros(rows.shape)
    own = np.arange(len(times))
    first = np.clip(own - count // 2, 0, len(times) - count)
    near = first[:, None] + np.arange(count)
    return np.einsum("fp,fpnc->fnc", _derivative(times[near], own - first), rows[near])


def _derivative(times: np.ndarray, own: np.ndarray) -> np.ndarray:
    """(F, p) weights of p values at times (F, p) for their polynomial's derivative at one of them, own (F,)."""
    apart = times[:, :, None] - times[:, None, :]
    here = np.arange(len(own))
    itself = np.eye(times.shape[1], dtype=bool)
    others = np.where(itself, 1.0, apart).prod(axis=2)
    from_own = apart[here, own]
    weights = others[here, own][:, None] / np.where(from_own == 0.0, 1.0, from_own) / others
    inverse = np.where(from_own == 0.0, 0.0, 1.0 / np.where(from_own == 0.0, 1.0, from_own))
    weights[here, own] = inverse.sum(axis=1)
    return weights


def corners(rows: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(F, n) bool: where the slope of samples (F, n, c) leaps, also by a corner between them, or a step."""
    bend = np.zeros((len(times) + 4, rows.shape[1]))
    if len(times) > 2:
        spans = np.diff(times)
        change = np.diff(np.diff(rows, axis=0) / spans[:, None, None], axis=0)
        bend[3:-3] = np.linalg.norm(change, axis=2) / (0.5 * (spans[1:] + spans[:-1]))[:, None]
    least = _ROUNDING * np.abs(rows).max(axis=(0, 2)) / _step(times) ** 2
    return bend[2:-2] > np.maximum(least, _CORNER * np.maximum(bend[:-4], bend[4:]))


def _step(times: np.ndarray) -> float:
    return float(np.median(np.diff(times))) if len(times) > 1 else 1.0


def fitted(samples: Samples, keys: np.ndarray) -> Tangents:
    """The tangents at keys (F, n) bool, of which the first and the last sample are two, zero elsewhere."""
    rows, times = samples.rows, samples.times
    channel, row = np.nonzero(keys.T)
    broken = samples.corners[row, channel] & (row > 0) & (row < len(times) - 1)
    # Unknown tangents in a line, channel after channel: a key has one, a corner one for either side.
    coming = np.cumsum(1 + broken) - 1 - broken
    leaving = coming + broken
    size = leaving[-1] + 1
    target = np.zeros((size, rows.shape[2]))
    target[coming] = samples.slopes[row, channel]
    at = row[broken], channel[broken]
    for side, next_to in ((coming, -1), (leaving, 1)):
        near = at[0] + next_to
        target[side[broken]] = (rows[near, at[1]] - rows[at]) / (times[near] - times[at[0]])[:, None]
    diagonal, beside, right = _normal_equations(samples, keys, leaving, size)
    own = _OWN * _step(times) ** 2
    found = solveh_banded(np.stack((diagonal + own, beside)), right + own * target, lower=True)
    out = np.zeros((2, *rows.shape))
    out[:, row, channel] = found[np.stack((coming, leaving))]
    return Tangents(*out)


def _normal_equations(samples: Samples, keys, leaving, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The diagonal (size,), what stands below it (size,), and the right side (size, c), of samples that are no keys."""
    rows, times = samples.rows, samples.times
    start, end = _around(keys)
    frame, channel = np.nonzero(~keys)
    start, end = start[frame, channel], end[frame, channel]
    number = np.cumsum(keys.T.ravel()).reshape(keys.shape[::-1]).T - 1
    first = leaving[number[frame, channel]]
    span = times[end] - times[start]
    share = (times[frame] - times[start]) / span
    begins, ends = rows[start, channel], rows[end, channel]
    rest = rows[frame, channel] - begins - (share**2 * (3.0 - 2.0 * share))[:, None] * (ends - begins)
    weights = span * share * (1.0 - share) ** 2, -span * share**2 * (1.0 - share)

    def summed(values: np.ndarray, unknown: np.ndarray) -> np.ndarray:
        return np.bincount(unknown, values, size)

    diagonal = sum(summed(weight**2, first + side) for side, weight in enumerate(weights))
    right = [
        sum(summed(weight * part, first + side) for side, weight in enumerate(weights)) for part in rest.T
    ]  # a component after the other: bincount takes no more
    return diagonal, summed(weights[0] * weights[1], first), np.stack(right, axis=1)


def _around(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(F, n) the last key at or before each sample, and the first at or after it."""
    index = np.arange(len(keys))[:, None]
    before = np.maximum.accumulate(np.where(keys, index, 0), axis=0)
    after = np.minimum.accumulate(np.where(keys, index, len(keys) - 1)[::-1], axis=0)[::-1]
    return before, after


def through(samples: Samples, keys: np.ndarray, tangents: Tangents) -> np.ndarray:
    """(F, n, c) the curves through keys (F, n), at the times of all samples."""
    start, end = _around(keys)
    return _cubics(samples, tangents, start, end, samples.times)


def half_way(samples: Samples, keys: np.ndarray, tangents: Tangents) -> np.ndarray:
    """(F - 1, n, c) the curves through keys (F, n), half way from each sample to the next."""
    start, end = _around(keys)
    return _cubics(samples, tangents, start[:-1], end[1:], 0.5 * (samples.times[1:] + samples.times[:-1]))


def _cubics(samples: Samples, tangents: Tangents, start, end, times: np.ndarray) -> np.ndarray:
    """(T, n, c) the curves from samples start (T, n) to end (T, n), at times (T,)."""
    span = (samples.times[end] - samples.times[start])[..., None]
    share = (times[:, None] - samples.times[start])[..., None] / np.where(span > 0.0, span, 1.0)
    begins, ends = (np.take_along_axis(samples.rows, at[..., None], axis=0) for at in (start, end))
    leaving = span * np.take_along_axis(tangents.leaving, start[..., None], axis=0)
    coming = span * np.take_along_axis(tangents.coming, end[..., None], axis=0)
    rise = ends - begins
    bend = (1.0 - share) * (leaving - rise) + share * (rise - coming)
    return begins + share * rise + share * (1.0 - share) * bend
