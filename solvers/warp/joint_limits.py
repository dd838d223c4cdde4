"""Joint limits as Euler ranges, as a term of the warp."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np

from ..core import small
from ..rotations import quaternions as quat
from .energy import Keep, SparseTerm, part
from .sparse_residuals import LimitViolations

WEIGHT = 20.0
# Least cosine of the middle angle in the rates of the other two.
_GIMBAL = 0.05


@dataclass(frozen=True)
class JointLimits:
    """Ranges of Euler angles of L joints in their own frames.

    joint: (L,) the skeleton's index.  lower, upper: (L, 3) radians about x, y, z, infinite where free.
    orders: L orders such as "XYZ": x is turned first, about fixed axes.
    frame: (F, L, 4) world quaternion (w, x, y, z) of the frame the source angles are measured in (parent's pose times
    rest).  local: (F, L, 4) the source rotation in that frame.
    """

    joint: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    orders: tuple[str, ...]
    frame: np.ndarray
    local: np.ndarray


class LimitSprings(SparseTerm):
    """Rotations that lead back into the limits.

    The ranges are widened to what the clip itself does: a source that breaks a limit is not bent.
    """

    def __init__(self, limits: JointLimits, rank: np.ndarray, parents: np.ndarray, weight: float):
        """rank: (J,) tree index of each joint;  parents: (J,) in tree order;  weight: m^2."""
        self._joint = rank[limits.joint]
        self._parent = parents[self._joint]
        self._frame = np.moveaxis(limits.frame, 0, -1)
        local = np.moveaxis(limits.local, 0, -1)
        self._axes = np.array([["XYZ".index(axis) for axis in order] for order in limits.orders])
        # An odd order is the even one in a mirror: its angles change sign.
        self._sign = np.where((self._axes[:, 1] - self._axes[:, 0]) % 3 == 1, 1.0, -1.0)[:, None, None]
        own = self._angles(local)
        slack = 1e-9
        self._lower = np.minimum(limits.lower, own.min(axis=-1) - slack)[..., None]
        self._upper = np.maximum(limits.upper, own.max(axis=-1) + slack)[..., None]
        # The source's orientation of each joint, and of nothing, which a root hangs from.
        self._source = quat.mul(self._frame, local)
        self._nothing = quat.identity(1, local.shape[-1])
        self._weight = weight

    def take(self, keep: Keep) -> LimitSprings:
        out = copy(self)
        for name in ("_frame", "_source", "_nothing"):
            setattr(out, name, part(getattr(self, name), keep))
        return out

    def residual(self, tree, pose, quats) -> LimitViolations:
        # Index -1, of a root's parent, is the turn of nothing.
        above = np.concatenate((pose.rotations, self._nothing))[self._parent]
        turn = quats.mul(above, self._frame)
        local = quats.conj_mul(turn, quats.mul(pose.rotations[self._joint], self._source))
        # Frames last from here, one where there is no such axis.
        turn, local = (q.reshape(len(q), 4, -1) for q in (turn, local))
        angles = self._angles(local)
        allowed = np.clip(angles, self._lower, self._upper)
        limit, at = np.nonzero((allowed != angles).any(axis=1))
        back, slope = np.zeros((0, 3)), np.zeros((0, 3, 3))
        if limit.size:
            back, slope = self._ways_back(limit, *(q[limit, :, at].T for q in (turn, local, angles, allowed)))
        return LimitViolations(self._joint[limit], at, back, slope, np.full(len(limit), self._weight))

    def _ways_back(self, limit, turn, local, angles, allowed):
        """K violations of joints whose frames are turned by (4, K): back (K, 3), slope (K, 3, 3), world space; see
        ``LimitViolations``.

        A turn of the joint takes its clamped pose along, about the axes of the angles that are free.
        """
        _, axes = self._composed(limit, angles)
        clamped, clamped_axes = self._composed(limit, allowed)
        back = quat.log(quat.mul(clamped, quat.conj(local)))
        free = np.take_along_axis(allowed == angles, self._axes[limit].T, axis=0)
        # The dual basis gives the rates of the angles; at gimbal lock they have none and are held bounded.
        dual = np.stack([small.cross(axes[k - 2], axes[k - 1]) for k in range(3)])
        volume = small.dot(axes[0], dual[0])
        volume = np.copysign(np.maximum(np.abs(volume), _GIMBAL), volume)
        carried = (free[:, None, None] * clamped_axes[:, :, None] * dual[:, None, :]).sum(axis=0) / volume
        change = np.eye(3)[..., None] - carried
        # R M R^T: the columns, then the rows.
        change = quat.rotate(turn, np.swapaxes(quat.rotate(turn, np.swapaxes(change, 0, 1)), 0, 1))
        return quat.rotate(turn, back).T, np.moveaxis(change, -1, 0)

    def _composed(self, limit, angles):
        """Turns (4, K) of angles (3, K) about x, y, z; and (3, 3, K) the axes of the whole turn's change with the
        angle that is turned first, second and third."""
        first, second, third = (np.eye(3)[axis].T for axis in self._axes[limit].T)
        last = quat.exp(third * angles)
        both = quat.mul(last, quat.exp(second * angles))
        axes = np.stack((quat.rotate(both, first), quat.rotate(last, second), third))
        return quat.mul(both, quat.exp(first * angles)), axes

    def _angles(self, q: np.ndarray) -> np.ndarray:
        """(L, 4, F) to angles about x, y, z (L, 3, F) in each joint's order."""
        turned = np.take_along_axis(q[:, 1:], self._axes[..., None], axis=1)
        angles = self._sign * euler_xyz(np.concatenate((q[:, :1], self._sign * turned), axis=1))
        return np.take_along_axis(angles, np.argsort(self._axes, axis=1)[..., None], axis=1)


def euler_xyz(q: np.ndarray) -> np.ndarray:
    """Quaternions (..., 4, F) to angles (..., 3, F) of a turn about x, then y, then z (fixed axes), radians."""
    w, x, y, z = (q[..., k, :] for k in range(4))
    about_x = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    about_y = np.arcsin(np.clip(2 * (w * y - x * z), -1.0, 1.0))
    about_z = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return np.stack((about_x, about_y, about_z), axis=-2)

