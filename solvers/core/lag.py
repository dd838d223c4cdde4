"""Values a fixed time ago, by interpolation in time: the same at every frame rate."""

from __future__ import annotations

import numpy as np

from .errors import InputError


def checked_times(times: np.ndarray, frames: int) -> np.ndarray:
    """times (F,) in seconds as floats; InputError where they do not fit or do not increase."""
    times = np.asarray(times, float)
    if times.shape != (frames,):
        raise InputError(f"{frames} frames came with times of shape {times.shape}; give one time a frame.")
    if not frames:
        raise InputError("The range has no frames; choose at least one.")
    wrong = np.flatnonzero(~(np.diff(times, prepend=-np.inf) > 0.0) | ~np.isfinite(times))
    if wrong.size:
        raise InputError(f"The time of frame {wrong[0]} is not later than the one before; times must increase.")
    return times


def lagged(values: np.ndarray, times: np.ndarray, lag: float) -> np.ndarray:
    """values (F, ...) as they were lag seconds earlier, on the line between samples, never before the first one.

    times: (F,) seconds, increasing.
    """
    wanted = np.maximum(times - lag, times[0])
    after = np.clip(np.searchsorted(times, wanted, side="left"), 1, None) if len(times) > 1 else np.zeros(1, int)
    before = np.maximum(after - 1, 0)
    span = times[after] - times[before]
    share = np.where(span > 0.0, (wanted - times[before]) / np.where(span > 0.0, span, 1.0), 0.0)
    share = share.reshape(-1, *[1] * (values.ndim - 1))
    return values[before] + share * (values[after] - values[before])


def rates(values: np.ndarray, times: np.ndarray, lag: float) -> np.ndarray:
    """Mean rate of change (F, ...) a second over the last lag seconds, or over what there is; the first is zero."""
    elapsed = np.minimum(times - times[0], lag).reshape(-1, *[1] * (values.ndim - 1))
    change = values - lagged(values, times, lag)
    return np.divide(change, elapsed, out=np.zeros_like(change), where=elapsed > 0.0)
