"""Smoothing of noisy input that never looks ahead: a one-sided Gaussian over time, in seconds.

Rhodin et al. 2014, section 4.2, smooth with three frames, about 0.1 s. Here every sample stands for the time around
it (trapezoid rule), so that neither the frame rate nor packets that come in bursts change the result.
It delays a steady motion by about 0.8 sigma.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from ..core.errors import InputError
from ..core.lag import checked_times
from .history import History

_REACH = 6.0  # so far out that a sample at the very edge makes no difference


def smooth(values: np.ndarray, times: np.ndarray, sigma: float) -> np.ndarray:
    """values (F, ...) smoothed over the past sigma seconds; sigma = 0 gives them back.

    times: (F,) seconds, increasing, at any distances. The weights sum to one at every frame, the first included. A
    NaN stays one, and no other frame is drawn to it.
    """
    times, sigma = checked_times(times, len(values)), _checked(sigma)
    if sigma == 0.0:
        return np.array(values, float)
    starts = np.searchsorted(times, times - _REACH * sigma, side="left")
    counts = np.arange(len(times)) - starts + 1
    rows = np.repeat(np.arange(len(times)), counts)
    ends = np.cumsum(counts)
    columns = np.arange(ends[-1]) - np.repeat(ends - counts, counts) + np.repeat(starts, counts)
    earlier, later = np.maximum(columns - 1, starts[rows]), np.minimum(columns + 1, rows)
    weights = _weights(times[rows] - times[columns], times[later] - times[earlier], sigma)
    weights[ends[counts == 1] - 1] = 1.0
    operator = csr_matrix((weights, columns, np.concatenate(([0], ends))), shape=(len(times),) * 2)
    return _averaged(np.asarray(values, float), lambda flat: operator @ flat)


class Smoother:
    """The same, fed one frame at a time; a time before the last one begins anew."""

    def __init__(self, sigma: float):
        self.sigma = _checked(sigma)
        self._history = History(_REACH * self.sigma)

    def step(self, value: np.ndarray, time: float) -> np.ndarray:
        """The smoothed value (...) at a time in seconds."""
        value = np.array(value, float)
        if self.sigma == 0.0:
            return value
        self._history.push(value, float(time))
        times, values = self._history.window()
        if len(times) == 1:
            return value
        spans = np.concatenate((times[1:], times[-1:])) - np.concatenate((times[:1], times[:-1]))
        weights = _weights(times[-1] - times, spans, self.sigma)
        return _averaged(np.stack(values), lambda flat: weights[None] @ flat, latest=True)[0]


def _weights(ages, spans, sigma):
    return np.exp(-0.5 * (ages / sigma) ** 2) * spans


def _averaged(values, operator, latest=False):
    """Weighted means over the known values only; what is not known at the frame itself stays so."""
    flat = values.reshape(len(values), -1)
    known = np.isfinite(flat)
    total = operator(np.where(known, flat, 0.0))
    weight = operator(known.astype(float))
    now = flat[-1:] if latest else flat
    mean = np.divide(total, weight, out=np.array(now), where=np.isfinite(now) & (weight > 0.0))
    return mean.reshape(-1, *values.shape[1:])


def _checked(sigma):
    if not (np.isfinite(sigma) and sigma >= 0.0):
        raise InputError(f"The smoothing time must be zero or a positive number of seconds, not {sigma}.")
    return float(sigma)
