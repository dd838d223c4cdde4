"""Where a pass makes a body jump that did not before: there it is taken back, with a fade, rather than seen."""

from __future__ import annotations

import numpy as np

from ..skeleton.joint_tree import TreePose
from .findings import JUMP, TURN
from .pushes import SMOOTHING, lasting, smoothed
from .worst_events import turned_each_frame

# What a pass adds to a step that is larger anyway and nobody sees, metres at 1.8 m and degrees.
MORE, MORE_TURN = 0.001, 0.5
# Seconds before and after a jump over which a pass is taken back whole.
AROUND = 0.2


class NoJumps:
    """Tells whether a pass makes a motion jump, against its source."""

    def __init__(self, source: np.ndarray, size: float, scale: float):
        """source: (J, 3, F) joints, metres.  size: of the character against it.  scale: body height / 1.8 m."""
        self._steps, self._scale = size * _lengths(source), scale

    def broken(self, before: TreePose, after: TreePose) -> np.ndarray:
        """(F,) bool: frames on either side of a step that a pass has made longer than is allowed."""
        jumps = [_lengths(pose.joints) - self._steps for pose in (before, after)]
        turns = [turned_each_frame(pose.rotations) for pose in (before, after)]
        jumped = _raised(*jumps, JUMP * self._scale, MORE * self._scale)
        step = jumped.any(axis=0) | _raised(*turns, TURN, MORE_TURN).any(axis=0)
        return np.pad(step, (0, 1)) | np.pad(step, (1, 0))


def kept_share(broken: np.ndarray, dt: float) -> np.ndarray:
    """(F,) in [0, 1]: how much of a pass is kept, none at frames that are broken (F,) bool and close to them.

    dt: seconds a frame.
    """
    # As far as the smoothing reaches all is taken back, so that nothing is left where it jumps.
    return 1.0 - np.clip(smoothed(lasting(broken.astype(float), AROUND, dt), dt, SMOOTHING), 0.0, 1.0)


def _raised(before, after, most, more):
    return (after > most) & (after > before + more)


def _lengths(joints):
    """(J, F - 1) metres a frame."""
    return np.linalg.norm(np.diff(joints, axis=-1), axis=1)
