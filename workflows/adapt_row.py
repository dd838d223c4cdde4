"""Single rows of an adapted motion as channels: what ``adapted_motion`` gives for all, fast enough for a drag."""

from __future__ import annotations

import numpy as np

from ..solvers.row_channels import RowChannels
from ..solvers.row_turner import RowTurner
from .adapt_source import Source


class AdaptedRows:
    """Channels of a rig for solved joints, a row at a time."""

    def __init__(self, source: Source, object_turns: np.ndarray):
        """object_turns: (F, 3, 3), as for ``adapted_motion``."""
        motion, bones = source.motion, source.bones
        self._heads = np.flatnonzero(bones >= 0)
        self._placed = np.flatnonzero((bones >= 0) & source.solved.placed)
        turned, placed = bones[self._heads], bones[self._placed]
        self._turner = RowTurner(
            motion.rig, motion.basis, motion.object_world, object_turns, turned, placed, motion.scale_signs
        )
        self._modes = RowChannels(motion.rig.rotation_modes)
        _, self._starts, self._scales = motion.channels()

    def channels(
        self, row: int, positions: np.ndarray, turns: np.ndarray, influence: float, start: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Location (B, 3), rotation (B, 4) in each bone's mode and scale (B, 3).

        positions: (K, 3) of the solved joints, world space.  turns: (K, 4) quaternions since bind.
        start: (B, 4) rotation channels to be nearest to; by default the original's in that row.
        """
        pose = self._turner.pose(row, turns[self._heads], positions[self._placed], influence)
        rotation = self._modes.nearest(pose.rotation, self._starts[row] if start is None else start)
        return pose.location, rotation, self._scales[row]
