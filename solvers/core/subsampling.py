"""Some of many rows."""

from __future__ import annotations

import numpy as np


def evenly_spaced(rows: np.ndarray, most: int) -> np.ndarray:
    """At most so many of rows (N, ...), evenly spaced, the first and the last among them."""
    return rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), most)).astype(int))]


def strided(rows: np.ndarray, most: int) -> np.ndarray:
    """At most so many of rows (N, ...), the first and every n-th after it: a view."""
    return rows[:: -(-max(len(rows), 1) // most)]
