"""Single rows of an adapted motion as channels: what ``adapted_motion`` gives for all, fast enough for a drag."""

from __future__ import annotations

import numpy as np

from ...solvers.rotations import frame_quaternions as quat
from ...solvers.rotations.channels import matrix_to_quaternion
from ...solvers.rotations.frame_channels import FrameChannels
from ...solvers.skeleton.frame_pose import FramePoser
from .source import Source


class JointChannels:
    """Channels of a rig for solved joints, a row at a time.

    solvable: (B, 3) bool, which of location, rotation and scale of each bone change.
    """

    def __init__(self, source: Source, object_turns: np.ndarray):
        """object_turns: (F, 3, 3), as for ``adapted_motion``."""
        motion, bones = source.motion, source.bones
        self.solvable = source.solvable
        self._heads = np.flatnonzero(bones >= 0)
        self._placed = np.flatnonzero((bones >= 0) & source.solved.placed)
        riders, self._owners = source.riders
        self._offsets = source.whole.positions[:, riders] - source.track.positions[:, self._owners]
        self._turned_back = matrix_to_quaternion(np.swapaxes(object_turns, -1, -2))
        self._turner = FramePoser(
            motion.rig,
            motion.basis,
            motion.object_world,
            object_turns,
            bones[self._heads],
            np.concatenate((bones[self._placed], riders)),
            motion.scale_signs,
            source.motion_parents,
        )
        self._modes = FrameChannels(motion.rig.rotation_modes)
        _, self._starts, self._scales = motion.channels()

    def channels(
        self, row: int, positions: np.ndarray, turns: np.ndarray, influence: float, start: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Location (B, 3), rotation (B, 4) in each bone's mode and scale (B, 3).

        positions: (K, 3) of the solved joints, world space.  turns: (K, 4) quaternions since bind.
        start: (B, 4) rotation channels to be nearest to; by default the original's in that row.
        """
        placed = positions[self._placed]
        if len(self._owners):
            placed = np.concatenate((placed, self._rider_heads(row, positions, turns)))
        pose = self._turner.pose(row, turns[self._heads], placed, influence)
        rotation = self._modes.nearest(pose.rotation, self._starts[row] if start is None else start)
        return pose.location, rotation, self._scales[row]

    def _rider_heads(self, row: int, positions: np.ndarray, turns: np.ndarray) -> np.ndarray:
        """(R, 3) world heads of bones that ride on solved ones without being their children."""
        carried = quat.mul(turns[self._owners], self._turned_back[row : row + 1])
        return positions[self._owners] + quat.rotate(carried, self._offsets[row])
