"""Blending two motions of one rig, each bone in its own space."""

from __future__ import annotations

import numpy as np

from ..rotations.channels import axis_angle_to_matrix, matrix_to_axis_angle
from .hung_bones import HungPlacer, hung_among
from .kinematics import pose_matrices
from .rig import Rig


def blend_basis(original: np.ndarray, other: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Between two bases (F, B, 4, 4), by the share (F,) of the other one: 0 and 1 give them exactly.

    Locations and scales go straight, rotations along the shortest arc (Shoemake 1985).
    """
    t = share[:, None, None]
    turn, scale = _parts(original)
    other_turn, other_scale = _parts(other)
    arc = matrix_to_axis_angle(np.swapaxes(turn, -1, -2) @ other_turn)
    arc[..., 0] *= share[:, None]
    out = original.copy()
    size = (1.0 - t) * scale + t * other_scale
    out[..., :3, :3] = turn @ axis_angle_to_matrix(arc) * size[..., None, :]
    out[..., :3, 3] = (1.0 - t) * original[..., :3, 3] + t * other[..., :3, 3]
    out[share == 0.0] = original[share == 0.0]
    out[share == 1.0] = other[share == 1.0]
    return out


def blend_motion(
    rig: Rig, original: np.ndarray, other: np.ndarray, share: np.ndarray, motion_parents: np.ndarray, placed: np.ndarray
) -> np.ndarray:
    """As `blend_basis`, with hung bones in their places in between as well.

    motion_parents: (B,) the bone that each moves with, see `hung_bones`.  placed: (P,) bones whose heads are placed.
    """
    out = blend_basis(original, other, share)
    hung = hung_among(rig, motion_parents, placed)
    between = np.flatnonzero((share != 0.0) & (share != 1.0))
    if hung.size and between.size:
        part = out[between]
        HungPlacer(rig, motion_parents, hung).place(part, pose_matrices(rig, original[between]))
        out[between] = part
    return out


def _parts(basis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotation (F, B, 3, 3) and scale (F, B, 3) of bases; a mirrored one has a negative scale on every axis."""
    matrix = basis[..., :3, :3]
    hand = np.where(np.linalg.det(matrix) < 0.0, -1.0, 1.0)[..., None]
    scale = np.linalg.norm(matrix, axis=-2) * hand
    turn = np.where(scale[..., None, :] != 0.0, matrix / np.where(scale != 0.0, scale, 1.0)[..., None, :], np.eye(3))
    return turn, scale
