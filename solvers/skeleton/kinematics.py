"""Forward and inverse kinematics of a Blender armature, over all frames at once.

Matrices are 4x4, act on column vectors, and are in armature space unless said otherwise.  F frames, B bones.
A bone's *basis* is its own location, rotation and scale channels as one matrix.
"""

from __future__ import annotations

import numpy as np

from ..core.errors import InputError
from .inheritance import inverse, location_in, orthogonal, parent_frame, pose_in
from .rig import Rig, part_of


def pose_matrices(rig: Rig, basis: np.ndarray) -> np.ndarray:
    """Armature-space pose (F, B, 4, 4) of basis matrices (F, B, 4, 4).

    Follows the program's rules for each inherit-scale mode, inherit rotation, local location and connected
    bones (which ignore their location channel).  Constraints are not part of it.
    """
    pose = np.empty(basis.shape)
    for bones in rig.levels:
        pose[:, bones] = pose_in(rig, bones, parent_frame(rig, bones, pose), basis[:, bones])
    return pose


def basis_from_pose(rig: Rig, pose: np.ndarray) -> np.ndarray:
    """Basis matrices (F, B, 4, 4) that give the armature-space pose (F, B, 4, 4).

    A connected bone's location is zero, whatever the pose says.  A pose collapsed by a zero scale has no
    inverse: there the nearest basis is returned (pseudo-inverse).
    """
    bones = np.arange(len(rig.parents))
    frame = parent_frame(rig, bones, pose)
    target = pose[..., :3, :3]
    if frame.scale is not None:
        scale = np.where(np.abs(frame.scale) > 1e-12, frame.scale, 1.0)
        target = target / scale[..., None, :]
    basis = np.zeros(pose.shape)
    basis[..., 3, 3] = 1.0
    basis[..., :3, :3] = inverse(frame.turn) @ target
    basis[..., :3, 3] = location_in(rig, bones, frame, pose[..., :3, 3])
    return basis


def rotate_bones(
    rig: Rig, basis: np.ndarray, increments: np.ndarray, heads: dict[int, np.ndarray] | None = None
) -> np.ndarray:
    """New basis (F, B, 4, 4) in which every bone is turned by its increment from where it was.

    increments: (F, B, 3, 3) rotations in armature space; bone b goes from orientation R_b to
    increments_b R_b, whatever its parents do.  heads: bone index -> (F, 3) new armature-space head, for bones
    that are not connected.  Scale channels stay, location channels too where no head is given.
    A bone is carried by its parent's increment and only the rest of its own goes into its channels, which is
    exact where no bone has a non-uniform scale.
    Raises InputError for a wrong shape and for a head given to a connected bone.
    """
    if increments.shape != (*basis.shape[:2], 3, 3):
        raise InputError(f"Increments have shape {increments.shape}, expected {(*basis.shape[:2], 3, 3)}.")
    turn = inherited_turns(rig, basis)
    follows = (rig.parents >= 0) & rig.inherit_rotation
    carried = np.where(follows[:, None, None], increments[:, np.maximum(rig.parents, 0)], np.eye(3))
    own = np.swapaxes(carried, -1, -2) @ increments
    out = basis.copy()
    out[..., :3, :3] = np.swapaxes(turn, -1, -2) @ own @ turn @ basis[..., :3, :3]
    if heads:
        bones = np.array(sorted(heads))
        placer = HeadPlacer(rig, bones)
        part = out[:, placer.above]
        placer.place(part, np.stack([heads[bone] for bone in bones], axis=1))
        out[:, placer.above] = part
    return out


class HeadPlacer:
    """Sets locations that put some bones' heads where they are wanted; only those bones and their ancestors count."""

    def __init__(self, rig: Rig, bones: np.ndarray):
        """bones: (n,).  Raises InputError for a connected bone."""
        connected = bones[rig.use_connect[bones]]
        if connected.size:
            raise InputError(f"Bone '{rig.names[connected[0]]}' is connected and cannot be moved; disconnect it.")
        self.above = rig.ancestry(bones)
        self._part = part_of(rig, self.above)
        place = np.full(len(rig.names), -1)
        place[bones] = np.arange(len(bones))
        self._levels = [(level, place[self.above[level]]) for level in self._part.levels]

    def place(self, basis: np.ndarray, heads: np.ndarray) -> None:
        """Set locations in place.

        basis: (F, m, 4, 4) of the bones `above`, all else in it as it is wanted.  heads: (F, n, 3) armature space.
        """
        locations, pose = basis[..., :3, 3], np.empty(basis.shape)
        for level, place in self._levels:
            frame = parent_frame(self._part, level, pose)
            if (place >= 0).any():
                found = location_in(self._part, level, frame, heads[:, place])
                locations[:, level[place >= 0]] = found[:, place >= 0]
            if level is not self._levels[-1][0]:
                pose[:, level] = pose_in(self._part, level, frame, basis[:, level])


def posed(rig: Rig, bones: np.ndarray, pose: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Pose (F, n, 4, 4) of bones (n,) from their basis (F, n, 4, 4); pose: (F, B, 4, 4), their parents in it."""
    return pose_in(rig, bones, parent_frame(rig, bones, pose), basis)


def locations(rig: Rig, bones: np.ndarray, pose: np.ndarray, heads: np.ndarray) -> np.ndarray:
    """Location channels (F, n, 3) that put the heads of bones (n,) at (F, n, 3); pose: see `posed`."""
    return location_in(rig, bones, parent_frame(rig, bones, pose), heads)


def inherited_turns(rig: Rig, basis: np.ndarray) -> np.ndarray:
    """(F, B, 3, 3) orthonormal, armature space: what the rotation of a basis (F, B, 4, 4) is applied to."""
    bones = np.arange(len(rig.parents))
    return orthogonal(parent_frame(rig, bones, pose_matrices(rig, basis)).turn)
