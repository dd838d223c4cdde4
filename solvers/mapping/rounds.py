"""A clip of a cycle, gone through more than once: what happens at its ends is told by what comes round."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline

_ROUNDS = 3
# Of a clip, how much at its end is looked at for where it comes round; moments a frame that are tried there; of a
# frame, by how much the last one of a round is at least before the first one of the next.
_END, _TRIED, _APART = 0.1, 20, 0.25


def cycle_length(points: np.ndarray, times: np.ndarray, closes: float) -> float | None:
    """Seconds after which points (F, ..., 3) at times (F,) are where they began, None where they do not come so near.

    closes: how near, in the unit of points, the farthest of them.  A cycle may end between two frames, or up to a frame
    after the last one: then points go on as they do about the clip's ends.
    """
    if len(times) < 4:
        return None
    rows, step = points.reshape(len(points), -1), float(np.diff(times).mean())
    first = times[-1] - max(_END * (times[-1] - times[0]), step)
    inside = np.linspace(times[-1], first, int(np.ceil(_TRIED * (times[-1] - first) / step)) + 1)[::-1]
    shares = np.arange(1, _TRIED + 1) / _TRIED
    curve = CubicSpline(times, rows)
    ahead = 0.5 * (curve(times[0], 1) + curve(times[-1], 1))
    moments = np.concatenate((inside, times[-1] + shares * step))
    places = np.concatenate((curve(inside), rows[-1] + (shares * step)[:, None] * ahead))
    away = np.abs(places - rows[0])
    nearest = int(np.argmin((away**2).sum(axis=1)))
    return None if away[nearest].max() > closes else float(moments[nearest] - times[0])


def rounds(
    arrays: tuple[np.ndarray, ...], times: np.ndarray, seconds: float
) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """Arrays (F, ...) at times (F,) of a cycle of so many seconds, three times round, and its first frame."""
    kept = times - times[0] < seconds - _APART * float(np.diff(times).mean())
    starts = seconds * np.arange(_ROUNDS)
    later = np.concatenate(((times[kept] + starts[:, None]).ravel(), [times[0] + _ROUNDS * seconds]))
    return tuple(np.concatenate((*[array[kept]] * _ROUNDS, array[:1])) for array in arrays), later
