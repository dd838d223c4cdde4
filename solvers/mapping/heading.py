"""Where the heading of a body jumps: taken by least squares, it turns half-way round where a body tips over."""

from __future__ import annotations

import numpy as np

# How far a heading turns at once that jumps; and where it is told badly, below such a share, see ``heading_told``.
_JUMP, _JUMP_UNTOLD, _UNTOLD = 0.5 * np.pi, 0.25 * np.pi, 0.5
# Seconds in which nothing turns that far: a skater's fastest spin takes 0.04 s and more.
_AT_ONCE = 1.0 / 24.0
_MET = 1e-6  # seconds: rounding of times that are frames


def heading_jumps(yaw: np.ndarray, times: np.ndarray, told: np.ndarray | None = None) -> tuple[np.ndarray, float]:
    """Frames (n,) at which a yaw (F,), radians, has turned by more than a quarter turn within a twenty-fourth of a
    second, or since the frame before where frames are further apart; and the largest such turn, radians, 0 for none.

    times: (F,) seconds, rising. told: (F,) see ``heading_told``; an eighth of a turn is too far where that is below a
    half meanwhile. Of frames in a row the first counts.
    The heading of ``global_motion`` is that of the best fit on the ground: seen from above, a somersault is a body
    that gets short, then faces the other way. Travel and turning follow it.
    """
    yaw, times = np.asarray(yaw, float), np.asarray(times, float)
    here = np.arange(len(times))
    before = np.searchsorted(times, times - _AT_ONCE - _MET)
    before = np.maximum(np.minimum(before, here - 1), 0)
    turned, most = np.abs(yaw - yaw[before]), np.full(len(times), _JUMP)
    if told is not None:
        most[np.minimum(told, told[before]) < _UNTOLD] = _JUMP_UNTOLD
    far = turned > most
    first = far & ~np.concatenate(([False], far[:-1]))[: len(far)]
    return np.flatnonzero(first), float(turned[far].max(initial=0.0))


def heading_told(points: np.ndarray) -> np.ndarray:
    """(F,) how surely points (F, N, 3), Z up, tell their heading against the first frame: 1 where they are the same but
    for place, size and heading, seen from above, and about 0 where they are as near to it turned the other way.

    The length of the complex correlation; a body that turns upright keeps it. A point that is NaN counts nothing.
    """
    ground = points[..., 0] + 1j * points[..., 1]
    known = np.isfinite(ground) & np.isfinite(ground[0])
    here, first = (np.where(known, values, 0.0) for values in (ground, ground[0]))
    count = np.maximum(known.sum(axis=1, keepdims=True), 1)
    here, first = (np.where(known, values - values.sum(axis=1, keepdims=True) / count, 0.0) for values in (here, first))
    sizes = np.linalg.norm(here, axis=1) * np.linalg.norm(first, axis=1)
    return np.abs((first.conj() * here).sum(axis=1)) / np.maximum(sizes, 1e-300)
