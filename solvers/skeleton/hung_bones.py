"""Bones that move with another bone than the one that the rig hangs them on.

Such a bone follows nothing by itself: where its head goes is written to its location.  ``motion_parents`` (B,) is the
bone that each bone moves with, the rig's own parent for all others, -1 for none; indices may come in any order.
"""

from __future__ import annotations

import numpy as np

from . import kinematics
from .hierarchy import carriers
from .inheritance import orthogonal
from .rig import Rig


def loose_riders(rig: Rig, motion_parents: np.ndarray, solved: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bones that ride on a solved bone which the rig does not carry them with.

    solved: (K,) bones.  Returns bones (R,) and the position in solved of what each rides on (R,).
    Connected bones are left out, for they cannot leave their parents.
    """
    own = carriers(motion_parents, solved)
    by_rig = np.where(rig.parents >= 0, own[np.maximum(rig.parents, 0)], len(solved))
    loose = (own < len(solved)) & (own != by_rig) & ~rig.use_connect
    loose[solved] = False
    bones = np.flatnonzero(loose)
    return bones, own[bones]


def hung_among(rig: Rig, motion_parents: np.ndarray, placed: np.ndarray) -> np.ndarray:
    """Which of the placed bones (P,) move with another one than their parent, and not with one that hangs on them."""
    other = placed[(motion_parents[placed] >= 0) & (motion_parents[placed] != rig.parents[placed])]
    return np.array([b for b in other if b not in rig.ancestry(motion_parents[[b]])], int)


class HungPlacer:
    """Sets locations so that hung bones keep their places in the frames of the bones they move with."""

    def __init__(self, rig: Rig, motion_parents: np.ndarray, hung: np.ndarray):
        """hung: (n,) bones with a motion parent, not connected ones."""
        above = np.stack((rig.parents, np.full(len(rig.names), -1)), axis=1)
        above[hung, 1] = motion_parents[hung]
        is_hung = above[:, 1] >= 0
        self._rig, self._parents = rig, above[:, 1]
        self._levels = [(level, is_hung[level]) for level in _levels(above)]

    def place(self, basis: np.ndarray, before: np.ndarray) -> None:
        """Set the locations of hung bones in place.

        basis: (F, B, 4, 4), all else in it as it is wanted.  before: (F, B, 4, 4) a pose in armature space in which
        every bone is in its place.
        """
        pose = np.empty(basis.shape)
        for level, is_hung in self._levels:
            if is_hung.any():
                hung = level[is_hung]
                on = self._parents[hung]
                heads = _carried(before[:, hung][..., :3, 3], before[:, on], pose[:, on])
                basis[..., :3, 3][:, hung] = kinematics.locations(self._rig, hung, pose, heads)
            pose[:, level] = kinematics.posed(self._rig, level, pose, basis[:, level])


def _carried(points, before, after):
    """Points (F, n, 3) that go along as bones (F, n, 4, 4) turn and move, rigidly."""
    turn = orthogonal(after[..., :3, :3]) @ np.swapaxes(orthogonal(before[..., :3, :3]), -1, -2)
    away = points - before[..., :3, 3]
    return after[..., :3, 3] + (turn @ away[..., None])[..., 0]


def _levels(above: np.ndarray) -> list[np.ndarray]:
    """Bones in groups, each after all that it depends on; above: (B, n), -1 for none."""
    depth = np.zeros(len(above), int)
    for _ in range(len(above)):
        deeper = np.where(above >= 0, depth[np.maximum(above, 0)] + 1, 0).max(axis=1)
        if np.array_equal(deeper, depth):
            break
        depth = deeper
    return [np.flatnonzero(depth == level) for level in range(depth.max() + 1)]
