"""Where the heading of a body jumps: taken by least squares, it turns half-way round where a body tips over."""

from __future__ import annotations

import numpy as np

_JUMP = 0.5 * np.pi
# Seconds in which nothing turns that far: a skater's fastest spin takes 0.04 s and more.
_AT_ONCE = 1.0 / 24.0
_MET = 1e-6  # seconds: rounding of times that are frames


def heading_jumps(yaw: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, float]:
    """Frames (n,) at which a yaw (F,), radians, has turned by more than a quarter turn within a twenty-fourth of a
    second, or since the frame before where frames are further apart; and the largest such turn, radians, 0 for none.

    times: (F,) seconds, rising. Of frames in a row the first counts.
    The heading of ``global_motion`` is that of the best fit on the ground: seen from above, a somersault is a body
    that gets short, then faces the other way. Travel and turning follow it.
    """
    yaw, times = np.asarray(yaw, float), np.asarray(times, float)
    here = np.arange(len(times))
    before = np.searchsorted(times, times - _AT_ONCE - _MET)
    before = np.maximum(np.minimum(before, here - 1), 0)
    turned = np.abs(yaw - yaw[before])
    far = turned > _JUMP
    first = far & ~np.concatenate(([False], far[:-1]))[: len(far)]
    return np.flatnonzero(first), float(turned[far].max(initial=0.0))
