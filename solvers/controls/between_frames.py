"""What rotation channels do between frames, where curves run straight from one frame's values to the next one's.

F frames, C controls; rotations (F, C, 4) in each control's mode, as in ``skeleton.bone_channels``.
"""

from __future__ import annotations

import numpy as np

from ..rotations import channels as turns
from ..rotations import rotation_vectors as rotvec
from ..skeleton.bone_channels import channels_to_basis
from .channels import Stepper


def continuous(stepper: Stepper, rotation: np.ndarray) -> np.ndarray:
    """The same rotations without jumps from frame to frame, each as near to the one before as its mode allows.

    A fit takes at each frame what is nearest to the source there: where it goes round against a source that does not,
    that jumps by a whole turn.  The first frame stays.  Angles of an axis that may not change stay all along, and what
    does not jump keeps its values to the last bit.
    """
    out = rotation.copy()
    modes, free = np.array(stepper.rig.rotation_modes), stepper.variables[:, 3:]
    for control in np.flatnonzero(free.any(axis=1)):
        values, mode = rotation[:, control], modes[control]
        if mode not in turns.EULER_ORDERS:
            unwrap = turns.unwrap_quaternion if mode == "QUATERNION" else turns.unwrap_axis_angle
            out[:, control] = unwrap(values, values[0])
        elif free[control].all():
            out[:, control, :3] = turns.unwrap_euler(values[:, :3], mode, values[0, :3])
        else:
            out[:, control, :3] = np.where(free[control], np.unwrap(values[:, :3], axis=0), values[:, :3])
    return out


def astray(stepper: Stepper, rotation: np.ndarray) -> np.ndarray:
    """(F - 1, C) radians by which channels half-way between frames turn otherwise than half of the shortest turn from
    the one to the other, see Shoemake 1985 (slerp)."""
    half = 0.5 * (rotation[1:] + rotation[:-1])
    before, after, between = (_matrices(stepper, each) for each in (rotation[:-1], rotation[1:], half))
    way = before @ rotvec.exp(0.5 * rotvec.log(np.swapaxes(before, -1, -2) @ after))
    return np.linalg.norm(rotvec.log(np.swapaxes(way, -1, -2) @ between), axis=-1)


def _matrices(stepper: Stepper, rotation: np.ndarray) -> np.ndarray:
    zero = np.zeros((*rotation.shape[:2], 3))
    return channels_to_basis(stepper.rig, zero, rotation, zero + 1.0)[..., :3, :3]
