"""Inputs of a transfer's regressions: where a part is and how fast it moves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.errors import InputError

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


def inputs_of_parts(rows: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Of the rows of K parts (F, D_k), the torso first, the inputs of each part's regression: (F, P_k).

    The torso at itself; limbs at themselves and, beside that, at the torso: they are expressed in its frame, and
    where a body bends, its frame turns against its limbs as another one's does not. Rows are in metres, and stay so:
    a torso moves less than a limb, and weighs that much less. A part of no numbers, which is stiff, looks at all.
    """
    torso, *limbs = rows
    seen = [torso, *(np.concatenate((limb, torso), axis=1) if limb.shape[1] else limb for limb in limbs)]
    return [part if part.shape[1] else np.concatenate(rows, axis=1) for part in seen]
