"""Contacts as somebody edits them: spans that were found at bind, and what is held or let go instead.

An edit is a range of rows of one joint and one object. It fades in and out beside its range, so that nothing jumps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import binary_closing

from ..warp.collision import REACH
from .clearance import smoothstep

# Seconds beside a range over which it begins and ends.
RAMP = 0.15
# Seconds: contacts with less between them are listed as one.
GAP = 0.25
# Metres at 1.8 m: what is farther from an object, or from the skin of a part of the body, is not held by it.
HELD_WITHIN = REACH


@dataclass(frozen=True)
class ContactEdit:
    """joint, obj: of a binding.  first, last: rows, both within.  is_on: held at the distance of each frame, else let
    go."""

    joint: int
    obj: int
    first: int
    last: int
    is_on: bool


def found_spans(touched: np.ndarray, dt: float) -> np.ndarray:
    """(K, 4) joint, object, first and last row of the runs of contacts (O, F, J) bool, in this order.

    dt: seconds a frame. Runs with less than a quarter of a second between them count as one.
    """
    width = max(int(GAP / dt), 1) + 1
    padded = np.pad(touched, ((0, 0), (width, width), (0, 0)))
    joined = binary_closing(padded, np.ones((1, width, 1)))[:, width:-width]
    edge = np.diff(np.pad(joined, ((0, 0), (1, 1), (0, 0))).astype(np.int8), axis=1)
    by_joint = np.moveaxis(edge, (2, 0, 1), (0, 1, 2))
    begins, ends = (np.argwhere(by_joint == sign) for sign in (1, -1))
    return np.column_stack((begins, ends[:, 2] - 1))


def with_what_hangs(edits: Sequence[ContactEdit], hung: np.ndarray) -> tuple[ContactEdit, ...]:
    """Edits, before them those of what lets go along: of hips and shoulders (K, 2), joint and joint of the trunk that
    it hangs on, which rest where that does. What has edits of its own for an object goes by these."""
    own = {(edit.joint, edit.obj) for edit in edits}
    along = (
        replace(edit, joint=joint)
        for edit in edits
        if not edit.is_on
        for joint in hung[hung[:, 1] == edit.joint, 0].tolist()
        if (joint, edit.obj) not in own
    )
    return (*along, *edits)


def windows(edits: Sequence[ContactEdit], shape: tuple[int, int, int], dt: float) -> tuple[np.ndarray, np.ndarray]:
    """(O, F, J) in [0, 1], twice: how far edits let go and how far they hold, 1 within their ranges.

    Of edits that overlap the later one in the order counts. dt: seconds a frame.
    """
    off, on, row = np.zeros(shape), np.zeros(shape), np.arange(shape[1])
    for edit in edits:
        outside = np.maximum(np.maximum(edit.first - row, row - edit.last), 0) * dt
        window = smoothstep(1.0 - outside / RAMP)
        column = (on if edit.is_on else off)[edit.obj, :, edit.joint]
        np.maximum(column, window, out=column)
        if not edit.is_on:
            on[edit.obj, :, edit.joint] *= 1.0 - window  # what is on counts where both are whole
    return off, on


def states(edits: Sequence[ContactEdit], shape: tuple[int, int, int]) -> np.ndarray:
    """(O, F, J): 1 within the ranges of edits that hold, -1 of those that let go, else 0; the later one counts."""
    out = np.zeros(shape, np.int8)
    for edit in edits:
        out[edit.obj, edit.first : edit.last + 1, edit.joint] = 1 if edit.is_on else -1
    return out
