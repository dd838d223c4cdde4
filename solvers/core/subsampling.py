"""Some of many samples."""

from __future__ import annotations

import numpy as np


def evenly_spaced(rows: np.ndarray, most: int) -> np.ndarray:
    """At most so many of rows (N, ...), evenly spaced, the first and the last among them."""
    return rows[evenly_spaced_indices(len(rows), most)]


def evenly_spaced_indices(count: int, most: int) -> np.ndarray:
    """At most so many of the indices 0 to count - 1, rising and evenly spaced, the first and the last among them."""
    return np.linspace(0, count - 1, min(count, most)).astype(int)


def strided(rows: np.ndarray, most: int) -> np.ndarray:
    """At most so many of rows (N, ...), the first and every n-th after it: a view."""
    return rows[:: -(-max(len(rows), 1) // most)]
