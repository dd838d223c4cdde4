"""Frames in which a tracker lost a point: not a number, or away in one step and back in another.

A fast motion is fast before and after; a tracker's jump is not. So a step counts as a jump when it differs from the
steps around it by more than they are long, by more than the joint's own usual surprise (median absolute deviation)
and by more than a small part of the body.
"""

from __future__ import annotations

import numpy as np

from ..core.errors import InputError
from ..core.lag import checked_times
from ..core.missing_samples import interpolate_gaps, known_points

LONGEST = 0.3
_BODY = 0.08
_DEVIATIONS = 10.0
_UNDONE = 0.5
# So many points tell how the body as a whole moves: what they have in common makes no joint fast.
_CROWD = 4
_GAUSSIAN = 1.4826


def find_outliers(points: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(F, J) bool: where a point is not a number or was tracked wrongly.

    points: (F, J, 3), any unit, global motion left in or not.  times: (F,) seconds, increasing.
    Between a jump and one that takes it back, at most 0.3 s later, all frames are flagged; of a jump that is not taken
    back, the first frame after it. A jump smaller than 8 % of the body's radius (RMS distance of points
    from their mean) is not looked for, nor one in the midst of motion as fast as the jump. Clips of fewer than six
    frames are only looked through for numbers.
    """
    points = np.asarray(points, float)
    if points.ndim != 3 or points.shape[2] != 3:
        raise InputError(f"Points have shape {points.shape}, expected (frames, points, 3).")
    times = checked_times(times, len(points))
    missing = ~known_points(points)
    if len(points) < 6 or missing.all():
        return missing
    filled = np.nan_to_num(interpolate_gaps(points, times, ~missing))
    jumps, surprise = _jumps(filled, times, _radius(points))
    return missing | _between(jumps, surprise, times)


def repaired(points: np.ndarray, times: np.ndarray, outliers: np.ndarray) -> np.ndarray:
    """points (F, J, 3) with the flagged ones (F, J) put between their unflagged neighbours in time.

    times: (F,) seconds, increasing. A point that is flagged in all frames becomes NaN.
    """
    return interpolate_gaps(np.asarray(points, float), checked_times(times, len(points)), ~outliers)


def outlier_frames(outliers: np.ndarray) -> np.ndarray:
    """(F,) bool: frames in which any point that is known in some frame is flagged (F, J)."""
    return outliers[:, ~outliers.all(axis=0)].any(axis=1)


def _radius(points):
    """RMS distance of a frame's known points from their mean, the median over frames; of one point, its path's."""
    known = known_points(points)
    if points.shape[1] == 1:
        track = points[known]
        return np.median(np.linalg.norm(track - np.median(track, axis=0), axis=1))
    points = points[known.sum(axis=1) > 1]
    if not len(points):
        return 0.0
    away = points - np.nanmedian(points, axis=1, keepdims=True)
    return float(np.median(np.sqrt(np.nanmean((away**2).sum(axis=2), axis=1))))


def _jumps(points, times, radius):
    """Steps that the two steps before and the two after do not explain, (F - 1, J) bool, and by what (F - 1, J, 3)."""
    span = np.diff(times)[:, None, None]
    velocity = np.diff(points, axis=0) / span
    padded = np.pad(velocity, ((2, 2), (0, 0), (0, 0)), mode="reflect")
    around = np.stack([padded[k : k + len(velocity)] for k in (0, 1, 3, 4)])
    surprise = (velocity - np.sort(around, axis=0)[1:3].mean(axis=0)) * span
    size = np.linalg.norm(surprise, axis=2)
    if points.shape[1] >= _CROWD:
        around = around - np.median(around, axis=2, keepdims=True)
    # The fastest of the four may be the jump back.
    usual = np.sort(np.linalg.norm(around * span, axis=3), axis=0)[2]
    middle = np.median(size, axis=0)
    deviation = _GAUSSIAN * np.median(np.abs(size - middle), axis=0)
    return (size > _BODY * radius + usual) & (size > middle + _DEVIATIONS * deviation), surprise


def _between(jumps, surprise, times):
    """(F, J) bool: frames between a jump and the one that takes it back, else the one frame after it."""
    flags = np.concatenate((np.zeros((1, jumps.shape[1]), bool), jumps))
    for joint in np.flatnonzero(jumps.sum(axis=0) > 1):
        steps = np.flatnonzero(jumps[:, joint])
        flags[steps + 1, joint] = False
        last = -1
        for step, following in zip(steps, np.append(steps[1:], -1), strict=True):
            if step == last:
                continue
            flags[step + 1, joint] = True
            near = following > step and times[following] - times[step] <= LONGEST
            if near and _undone(surprise[[step, following], joint]):
                flags[step + 1 : following + 1, joint], last = True, following
    return flags


def _undone(pair):
    """Whether the second of two jumps (2, 3) takes the first one back."""
    return np.linalg.norm(pair.sum(axis=0)) <= _UNDONE * np.linalg.norm(pair, axis=1).max()
