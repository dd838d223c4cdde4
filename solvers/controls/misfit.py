"""How far evaluated carriers are from their targets, each in a frame of reference of its own.

K carriers, n frames.  An error is six numbers a carrier: its head's distance in parts of the body's size, then the
rotation vector from its target, weighted.  Both are in the axes of the target, so that they change little where the
whole body turns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..rotations import rotation_vectors as rotvec
from .channels import RADIAN
from .closed_form import rigid_inverse


@dataclass(frozen=True)
class References:
    """(K,) int each, the carrier against which location and rotation of a carrier are judged, -1 for the armature."""

    location: np.ndarray
    rotation: np.ndarray

    @classmethod
    def to_armature(cls, count: int) -> References:
        """All of so many carriers against the armature."""
        return cls(*np.full((2, count), -1))


def errors(
    carried: np.ndarray, targets: np.ndarray, references: References, size: float, radian: float = RADIAN
) -> np.ndarray:
    """(n, K, 6) errors of rigid carriers against targets (n, K, 4, 4), armature space."""
    there, goal = against(carried, references.rotation), against(targets, references.rotation)
    back = np.swapaxes(goal[..., :3, :3], -1, -2)
    out = np.empty((*carried.shape[:2], 6))
    out[..., 3:] = radian * rotvec.log(back @ there[..., :3, :3])
    if (references.location != references.rotation).any():
        there, goal = against(carried, references.location), against(targets, references.location)
        back = np.swapaxes(goal[..., :3, :3], -1, -2)
    out[..., :3] = (back @ (there[..., :3, 3] - goal[..., :3, 3])[..., None])[..., 0] / size
    return out


def against(carried: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """(n, K, 4, 4) rigid carriers in the frames of others (K,), -1 for the armature."""
    frame = np.where((reference >= 0)[:, None, None], carried[:, reference], np.eye(4))
    return rigid_inverse(frame) @ carried
