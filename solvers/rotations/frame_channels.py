"""Rotations of one frame as channels in each bone's rotation mode, with few NumPy calls whatever the modes are."""

from __future__ import annotations

import numpy as np

from .channels import EULER_ORDERS, quaternion_to_axis_angle, unwrap_axis_angle
from .frame_quaternions import matrices

_TURN = 2.0 * np.pi
_GIMBAL = 1e-9  # cosine of the middle angle, as in `rotations.matrix_to_euler`


class FrameChannels:
    """Rotation modes of B bones, sorted out once."""

    def __init__(self, modes: tuple[str, ...]):
        """modes: B of `rig.ROTATION_MODES`."""
        self._axis_angle = np.flatnonzero([mode == "AXIS_ANGLE" for mode in modes])
        self._euler = np.flatnonzero([mode in EULER_ORDERS for mode in modes])
        order = np.array([["XYZ".index(axis) for axis in modes[bone]] for bone in self._euler]).reshape(-1, 3)
        i, j, k = order.T
        self._parity = np.where((i + 1) % 3 == j, 1.0, -1.0)[:, None]
        # Where the entries stand that tell the angles, in flat matrices (n, 9), and where the angles go.
        entries = np.stack([3 * a + b for a, b in ((k, j), (k, k), (j, i), (i, i), (k, i), (j, k), (j, j))])
        self._entries = entries + 9 * np.arange(len(order))
        self._places = order

    def nearest(self, rotations: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Unit quaternions (B, 4) as rotation channels (B, 4), of those that turn alike the nearest to start (B, 4).

        The same as `bone_channels.basis_to_channels` gives for a first frame.
        """
        out = np.where((np.einsum("bk,bk->b", rotations, start) < 0.0)[:, None], -rotations, rotations)
        if self._axis_angle.size:
            q = rotations[self._axis_angle]
            angles = quaternion_to_axis_angle(np.where(q[:, :1] < 0.0, -q, q))
            out[self._axis_angle] = unwrap_axis_angle(angles[None], start[self._axis_angle])[0]
        if self._euler.size:
            out[self._euler] = self._angles(rotations[self._euler], start[self._euler])
        return out

    def _angles(self, rotations: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Euler angles (n, 4) about x, y and z, and a zero; see `rotations.matrix_to_euler` and `unwrap_euler`."""
        kj, kk, ji, ii, ki, jk, jj = matrices(rotations).ravel()[self._entries]
        cosine = np.hypot(ii, ji)
        free = cosine > _GIMBAL
        angles = np.empty((len(rotations), 3))
        np.arctan2(np.where(free, kj, -jk), np.where(free, kk, jj), out=angles[:, 0])
        np.arctan2(-ki, cosine, out=angles[:, 1])
        np.arctan2(np.where(free, ji, 0.0), np.where(free, ii, 1.0), out=angles[:, 2])
        angles *= self._parity
        wanted = np.take_along_axis(start, self._places, axis=1)
        both = np.stack((angles, angles * (1.0, -1.0, 1.0) + np.pi))
        gap = both - wanted
        gap -= _TURN * np.round(gap / _TURN)
        first, other = np.abs(gap).sum(axis=-1)
        out = np.zeros((len(rotations), 4))
        np.put_along_axis(out, self._places, wanted + np.where((first <= other)[:, None], gap[0], gap[1]), axis=1)
        return out
