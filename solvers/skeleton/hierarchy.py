"""Which bones are carried by which: what follows from parents alone."""

from __future__ import annotations

import numpy as np


def carriers(parents: np.ndarray, solved: np.ndarray) -> np.ndarray:
    """(B,) which of the solved bones (K,) each bone rides on: itself or its nearest solved ancestor, K for none.

    parents: (B,) the bone that each bone moves with, -1 for none, in any order.
    """
    index = np.full(len(parents) + 1, len(solved))
    index[solved] = np.arange(len(solved))
    at = np.arange(len(parents))
    climbing = index[at] == len(solved)
    while climbing.any():
        at[climbing] = parents[at[climbing]]
        climbing = (at >= 0) & (index[at] == len(solved))
    return index[at]


def tops(parents: np.ndarray) -> np.ndarray:
    """(B,) the parentless bone above each, itself included."""
    at = np.arange(len(parents))
    while (parents[at] >= 0).any():
        at = np.where(parents[at] >= 0, parents[at], at)
    return at


def carry_increments(parents: np.ndarray, solved: np.ndarray, increments: np.ndarray) -> np.ndarray:
    """Increments for all bones (F, B, 3, 3) from those (F, K, 3, 3) of the solved bones (K,).

    A bone that was not solved rides on its nearest solved ancestor; without one it does not turn.
    parents: see `carriers`.
    """
    still = np.broadcast_to(np.eye(3), (len(increments), 1, 3, 3))
    return np.concatenate((increments, still), axis=1)[:, carriers(parents, solved)]


def below(parents: np.ndarray) -> np.ndarray:
    """(K, K) bool, whether the second joint is the first or hangs below it. parents: (K,) parents come first."""
    out = np.eye(len(parents), dtype=bool)
    for k, parent in enumerate(parents):
        if parent >= 0:
            out[:, k] |= out[:, parent]
    return out
