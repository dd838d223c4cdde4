"""How fast a body that moves on the spot would travel if the feet that stand on the ground did not slide."""

from __future__ import annotations

import numpy as np

from ..core.errors import InputError
from ..core.lag import checked_times

_BAND = 0.03
_LOWEST = 0.3


def stance_velocity(vertices: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Ground velocity (F, 2), metres a second, of vertices (F, V, 3), Z up, that move on the spot; times (F,) seconds.

    In every step between two frames the vertices near the ground in both count, the lower the more; the body travels
    by minus their mean step. The ground lies below the lowest vertex in seven tenths of the frames, "near" is within
    3 % of the body's height. Where nothing touches the ground, in the flight of a gallop, the velocity goes straight
    from the last one known to the next; the clip need not be a cycle. NaN in all frames where nothing ever touches it.

    It fails where what is lowest is no foot that stands: a belly or a tail that drags, feet that slide on purpose (a
    shuffle reads as travel backwards), a swimmer or a flyer, a body that crawls with all of itself on the ground. A
    foot that rolls or is soft reads a little slow, since its sole still moves when it is counted.
    Raises InputError for fewer than two frames.
    """
    vertices = np.asarray(vertices, float)
    times = checked_times(times, len(vertices))
    if len(vertices) < 2:
        raise InputError("Standing feet are read from motion; choose a range of at least two frames.")
    heights = vertices[..., 2]
    band = _BAND * float(np.median(np.ptp(heights, axis=1)))
    ground = float(np.quantile(heights.min(axis=1), _LOWEST))
    near = np.clip(1.0 - (heights - ground) / band, 0.0, 1.0) if band > 0.0 else np.zeros_like(heights)
    weights = np.minimum(near[1:], near[:-1]) ** 2
    total = weights.sum(axis=1)
    steps = np.einsum("fv,fvk->fk", weights, np.diff(vertices[..., :2], axis=0))
    standing = total > 0.0
    if not standing.any():
        return np.full((len(vertices), 2), np.nan)
    velocity = -steps[standing] / (total[standing] * np.diff(times)[standing])[:, None]
    middle = (0.5 * (times[1:] + times[:-1]))[standing]
    return np.stack([np.interp(times, middle, velocity[:, axis]) for axis in (0, 1)], axis=1)
