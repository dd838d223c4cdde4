"""Joint limits as Euler ranges, as a spring of the warp (``tree_goals.LimitViolations``)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import quaternions as quat
from .tree_goals import LimitViolations

WEIGHT = 20.0


@dataclass(frozen=True)
class JointLimits:
    """Ranges of XYZ Euler angles of L joints in their own frames.

    joint: (L,) the skeleton's index.  lower, upper: (L, 3) radians, infinite where free.
    frame: (F, L, 4) world quaternion (w, x, y, z) of the frame the source angles are measured in (parent's pose times
    rest).  local: (F, L, 4) the source rotation in that frame.
    """

    joint: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    frame: np.ndarray
    local: np.ndarray


class LimitSprings:
    """Rotations that lead back into the limits, for any batch of frames.

    The ranges are widened to what the clip itself does: a source that breaks a limit is not bent.
    """

    def __init__(self, limits: JointLimits, rank: np.ndarray, parents: np.ndarray, weight: float):
        """rank: (J,) tree index of each joint;  parents: (J,) in tree order;  weight: m^2."""
        self._joint = rank[limits.joint]
        self._parent = parents[self._joint]
        self._frame = np.moveaxis(limits.frame, 0, -1)
        self._local = np.moveaxis(limits.local, 0, -1)
        own = euler_xyz(self._local)
        slack = 1e-9
        self._lower = np.minimum(limits.lower, own.min(axis=-1) - slack)[..., None]
        self._upper = np.maximum(limits.upper, own.max(axis=-1) + slack)[..., None]
        self._weight = weight

    def __call__(self, rotations: np.ndarray, frames: np.ndarray) -> LimitViolations:
        """rotations: (B, 4, F) turns from the source, tree order;  frames: (F,) indices into the range."""
        source = self._frame[..., frames]
        has_parent = self._parent >= 0
        frame = np.where(has_parent[:, None, None], quat.mul(rotations[self._parent], source), source)
        turned = quat.mul(rotations[self._joint], quat.mul(source, self._local[..., frames]))
        local = quat.mul(quat.conj(frame), turned)
        angles = euler_xyz(local)
        allowed = np.clip(angles, self._lower, self._upper)
        outside = (allowed != angles).any(axis=1)
        back = quat.log(quat.mul(from_euler_xyz(allowed), quat.conj(local)))
        out = np.zeros((rotations.shape[0], 3, rotations.shape[-1]))
        out[self._joint] = np.where(outside[:, None], quat.rotate(frame, back), 0.0)
        return LimitViolations(out, self._weight)


def euler_xyz(q: np.ndarray) -> np.ndarray:
    """Quaternions (..., 4, F) to angles (..., 3, F) of a turn about x, then y, then z (fixed axes), radians."""
    w, x, y, z = (q[..., k, :] for k in range(4))
    about_x = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    about_y = np.arcsin(np.clip(2 * (w * y - x * z), -1.0, 1.0))
    about_z = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return np.stack((about_x, about_y, about_z), axis=-2)


def from_euler_xyz(angles: np.ndarray) -> np.ndarray:
    """Angles (..., 3, F) to quaternions (..., 4, F); the inverse of ``euler_xyz``."""
    turns = []
    for axis in range(3):
        rotvec = np.zeros_like(angles)
        rotvec[..., axis, :] = angles[..., axis, :]
        turns.append(quat.exp(rotvec))
    return quat.mul(turns[2], quat.mul(turns[1], turns[0]))
