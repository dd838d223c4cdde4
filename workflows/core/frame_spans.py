"""From which frame to which something is so, for sentences and reports."""

from __future__ import annotations

import numpy as np


def frame_span(first: float, last: float) -> str:
    """In words: one frame, or the first and the last."""
    return f"{first:g} to {last:g}" if first != last else f"{first:g}"


def frame_runs(frames: np.ndarray, rows: np.ndarray) -> list[tuple[float, float]]:
    """First and last of frames (F,) of each run of rows (F,) bool."""
    change = np.flatnonzero(np.diff(rows, prepend=False, append=False))
    return [(float(frames[start]), float(frames[end - 1])) for start, end in change.reshape(-1, 2)]
