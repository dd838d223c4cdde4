"""What differs between two motions of one rig, channel by channel."""

from __future__ import annotations

import numpy as np

from ..solvers.skeleton.bone_channels import channels_to_basis
from ..solvers.skeleton.rig import Rig
from .motion import BoneMotion

SAME = 5e-6  # radians, scales and rig lengths that differ less did not change (single precision)


def changed_bones(before: BoneMotion, after: BoneMotion) -> list[str]:
    """Names of the bones whose own channels differ between two motions of one rig."""
    changed = changed_channels(before, after, SAME).any(axis=1)
    return [before.rig.names[bone] for bone in np.flatnonzero(changed)]


def changed_channels(before: BoneMotion, after: BoneMotion, tolerance: float = SAME) -> np.ndarray:
    """(B, 3) bool: which of location, rotation and scale differ between two motions of one rig.

    tolerance: radians, shares of scale, and sizes of the rig.
    """
    rig = before.rig
    (place, turn, size), (old_place, old_turn, old_size) = after.channels(), before.channels()
    moved = differs(place, old_place, tolerance * size_of(rig)) & ~rig.use_connect
    turned = differs(rotations_of(rig, turn), rotations_of(rig, old_turn), tolerance)
    return np.stack((moved, turned, differs(size, old_size, tolerance)), axis=1)


def rotations_of(rig: Rig, rotation: np.ndarray) -> np.ndarray:
    """Rotation channels (F, B, 4) as matrices (F, B, 4, 4), for different channels may turn alike."""
    zero = np.zeros((*rotation.shape[:2], 3))
    return channels_to_basis(rig, zero, rotation, zero + 1.0)


def differs(values: np.ndarray, others: np.ndarray, tolerance: float) -> np.ndarray:
    """(B,) bool: whether values (F, B, ...) leave the others, which may be one frame, anywhere."""
    distance = np.abs(values - others)
    return distance.max(axis=(0, *range(2, distance.ndim))) > tolerance


def size_of(rig: Rig) -> float:
    """The size of a rig in its own units, which importers make anything from 0.01 to 100 a metre."""
    return max(float(np.abs(rig.rest[:, :3, 3]).max()), float(rig.lengths.max()))
