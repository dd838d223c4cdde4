"""The knees and elbows of a body, from the tree of its joints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def hinges(
    parents: np.ndarray, lengths: np.ndarray, ends: np.ndarray, trunk: Sequence[int], least: float
) -> np.ndarray:
    """(H, 2) joints in which a limb bends, and for each the next one towards an end of the limb.

    Joints between two bones that are longer than ``least`` metres on the way to an end; a foot or a clavicle is
    shorter.  parents: (J,) int, parents first, -1 for roots.  lengths: (J,) from each joint's parent.  ends: (J,) bool,
    hands and feet.  trunk: its joints; what hangs on them is a hip or a shoulder.
    """
    leads = np.asarray(ends, bool).copy()
    for joint in range(len(parents))[::-1]:
        if leads[joint] and parents[joint] >= 0:
            leads[parents[joint]] = True
    long = leads & (parents >= 0) & (lengths > least)
    below = np.flatnonzero(long)
    joint = parents[below]
    bends = long[joint] & ~np.isin(joint, trunk) & ~np.isin(parents[joint], trunk)
    return np.column_stack((joint, below))[bends]
