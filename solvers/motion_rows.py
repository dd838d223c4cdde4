"""Pose and pace in one row: what a transfer looks at is where a part is and how fast it goes."""

from __future__ import annotations

import numpy as np

from .errors import InputError

# Velocities are per this many seconds, so that they come in the size of the poses and mean the same at every rate.
TIME_UNIT = 1.0 / 30.0
_WEIGHT = 2.0


def with_velocity(rows: np.ndarray, fps: float) -> np.ndarray:
    """Rows (F, D) of a clip, and beside them (F, 2 D) twice their velocity per 1/30 s.

    Central differences, at the ends one-sided ones: of second order from three frames on, so that the same motion
    gives the same rows at every frame rate up to the square of the frame's time.  A single frame is a pose that
    is held.  fps: frames a second.

    Raises InputError for no frame, a rate that is not positive, and rows that are not finite.
    """
    rows = np.asarray(rows, float)
    if rows.ndim != 2:
        raise InputError(f"The poses of a clip came with shape {rows.shape}; give one row a frame.")
    if not len(rows):
        raise InputError("The clip has no frames; choose at least one.")
    if not (np.isfinite(fps) and fps > 0.0):
        raise InputError(f"The frame rate must be positive, not {fps:g}.")
    bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if bad.size:
        raise InputError(f"Frame {bad[0]} of the clip has numbers that are not finite; leave it out of the range.")
    if len(rows) == 1:
        return np.concatenate((rows, np.zeros_like(rows)), axis=1)
    order = 2 if len(rows) > 2 else 1
    return np.concatenate((rows, np.gradient(rows, axis=0, edge_order=order) * (_WEIGHT * TIME_UNIT * fps)), axis=1)
