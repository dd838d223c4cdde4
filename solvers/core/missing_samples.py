"""Values that are missing for some frames, filled between the frames that know them."""

from __future__ import annotations

import numpy as np


def known_points(points: np.ndarray) -> np.ndarray:
    """(..., N) bool: the points (..., N, 3) whose three numbers are all finite."""
    return np.isfinite(points).all(axis=-1)


def interpolate_gaps(points: np.ndarray, times: np.ndarray, known: np.ndarray) -> np.ndarray:
    """points (F, N, K) with what is not known (F, N) put on the line between its neighbours in time.

    times: (F,) seconds, increasing. Before the first and after the last known frame the nearest known value
    stands; a point that no frame knows becomes NaN.
    """
    if known.all():
        return points.copy()
    before, after = _neighbours(known)
    first, last = before < 0, after >= len(points)
    before, after = np.where(first, after, before), np.where(last, before, after)
    lost = first & last
    before, after = np.where(lost, 0, before), np.where(lost, 0, after)
    span = times[after] - times[before]
    share = np.where(span > 0.0, (times[:, None] - times[before]) / np.where(span > 0.0, span, 1.0), 0.0)
    a, b = (np.take_along_axis(points, index[..., None], axis=0) for index in (before, after))
    filled = np.where(known[..., None], points, a + share[..., None] * (b - a))
    filled[:, lost.all(axis=0)] = np.nan
    return filled


def _neighbours(known):
    """Of each frame the nearest known frame before (-1: none) and after (F: none), itself included."""
    frames = np.arange(len(known))[:, None]
    before = np.maximum.accumulate(np.where(known, frames, -1), axis=0)
    after = np.minimum.accumulate(np.where(known, frames, len(known))[::-1], axis=0)[::-1]
    return before, after
