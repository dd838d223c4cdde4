"""Single frames of a motion turned by what was solved: what turning all gives, with few and small NumPy calls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..rotations import frame_quaternions as quat
from ..rotations.channels import matrix_to_quaternion
from .bone_channels import basis_turns
from .hierarchy import carriers
from .hung_bones import HungPlacer, hung_among
from .kinematics import HeadPlacer, inherited_turns, pose_matrices
from .rig import Rig

_STILL = np.array([[1.0, 0.0, 0.0, 0.0]])
_CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])


@dataclass(frozen=True)
class FramePose:
    """Of one frame. location: (B, 3).  rotation: (B, 4) unit quaternions, see `basis_turns`, of either sign."""

    location: np.ndarray
    rotation: np.ndarray


class FramePoser:
    """Frames of one motion in which some bones are turned and placed in world space and the others ride on them.

    What depends on a frame of the motion alone is kept from the first time that the frame is asked for.
    """

    def __init__(
        self,
        rig: Rig,
        basis: np.ndarray,
        object_world: np.ndarray,
        object_turns: np.ndarray,
        turned: np.ndarray,
        placed: np.ndarray,
        signs: np.ndarray,
        motion_parents: np.ndarray,
    ):
        """basis: (F, B, 4, 4) of the motion.  object_world: (F, 4, 4), scaled evenly.
        object_turns: (F, 3, 3) rotations that are in the motion already and will be in the turns as well.
        turned, placed: bones (K,) and (P,).  signs: (B, 3) of the scales.
        motion_parents: (B,) the bone that each moves with, see `hung_bones`.
        Raises InputError for a connected bone that is to be placed.
        """
        frames, bones = basis.shape[:2]
        self._rig, self._basis, self._signs = rig, basis, signs
        self._own = carriers(motion_parents, turned)
        follows = (rig.parents >= 0) & rig.inherit_rotation
        self._carried = np.where(follows, self._own[np.maximum(rig.parents, 0)], len(turned))
        self._placer = HeadPlacer(rig, placed) if placed.size else None
        hung = hung_among(rig, motion_parents, placed)
        self._hung_placer = HungPlacer(rig, motion_parents, hung) if hung.size else None
        self._to_local, self._origins = np.linalg.inv(object_world[:, :3, :3]), object_world[:, :3, 3]
        self._increments = _increments(object_world[:, :3, :3], object_turns)
        self._known = np.zeros(frames, bool)
        self._hung, self._rotation, self._turned_in = (np.empty((frames, bones, 4)) for _ in range(3))

    def pose(self, row: int, turns: np.ndarray, heads: np.ndarray, influence: float = 1.0) -> FramePose:
        """turns: (K, 4) unit quaternions, how the turned bones have turned, world space.  heads: (P, 3) of the placed
        bones, world space.  influence: 0 gives the motion itself, between each bone goes straight in its own space.
        """
        if not self._known[row]:
            self._know(slice(row, row + 1))
        increments = np.concatenate((turns @ self._increments[row], _STILL))
        rest = quat.mul(increments[self._carried] * _CONJUGATE, increments[self._own])
        before, hung = self._rotation[row], self._hung[row]
        turning = quat.mul(hung * _CONJUGATE, rest)
        rotation = quat.mul(turning, self._turned_in[row])
        location = self._basis[row, :, :3, 3].copy()
        if self._placer is not None:
            above = self._placer.above
            turn = quat.matrices(quat.mul(turning[above], hung[above]))
            location[above] = self._locations(row, turn, heads)
        if influence != 1.0:
            location = (1.0 - influence) * self._basis[row, :, :3, 3] + influence * location
            arc = quat.log(quat.mul(before * _CONJUGATE, rotation))
            rotation = quat.mul(before, quat.exp(influence * arc))
            if influence != 0.0 and self._hung_placer is not None:
                location = self._rejoined(row, location, quat.mul(rotation, before * _CONJUGATE))
        return FramePose(location, rotation)

    def _locations(self, row, turn, heads):
        """(n, 3) of the placed bones and all above them, which turn by (n, 3, 3)."""
        part = self._basis[row : row + 1, self._placer.above]
        part[..., :3, :3] = turn @ part[..., :3, :3]
        local = (heads - self._origins[row]) @ self._to_local[row].T
        self._placer.place(part, local[None])
        return part[0, :, :3, 3]

    def _rejoined(self, row, location, turned):
        """The locations (B, 3) of a blended pose, turned by quaternions (B, 4), with hung bones in their places."""
        original = self._basis[row : row + 1]
        basis = original.copy()
        basis[0, :, :3, :3] = quat.matrices(turned) @ original[0, :, :3, :3]
        basis[0, :, :3, 3] = location
        self._hung_placer.place(basis, pose_matrices(self._rig, original))
        return basis[0, :, :3, 3]

    def _know(self, rows: slice) -> None:
        basis = self._basis[rows]
        frame = inherited_turns(self._rig, basis)
        # A mirrored frame turns what hangs in it like the one that points the other way.
        hung = matrix_to_quaternion(frame * np.sign(np.linalg.det(frame))[..., None, None])
        rotation = matrix_to_quaternion(basis_turns(basis, self._signs))
        both = quat.mul(hung.reshape(-1, 4), rotation.reshape(-1, 4))
        self._hung[rows], self._rotation[rows] = hung, rotation
        self._turned_in[rows] = both.reshape(hung.shape)
        self._known[rows] = True


def _increments(world: np.ndarray, object_turns: np.ndarray) -> np.ndarray:
    """(F, 4, 4) that take turns in world space, quaternions (4,) from the left, to increments in armature space."""
    turn = world / np.linalg.norm(world, axis=-2, keepdims=True)
    before = matrix_to_quaternion(np.swapaxes(turn, -1, -2))
    after = matrix_to_quaternion(np.swapaxes(object_turns, -1, -2) @ turn)
    out = np.empty((len(world), 4, 4))
    for k, unit in enumerate(np.eye(4)):
        out[:, k] = quat.mul(quat.mul(before, unit[None]), after)
    return out
