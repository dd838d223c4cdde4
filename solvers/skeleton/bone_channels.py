"""A bone's location, rotation and scale channels as its basis matrix, and back.

F frames, B bones.  Matrices are 4x4 and act on column vectors.
"""

from __future__ import annotations

import numpy as np

from ..rotations import channels
from .inheritance import orthogonal
from .rig import Rig


def basis_turns(basis: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """(..., B, 3, 3) rotations in a basis (..., B, 4, 4), without scales and their signs; see `basis_to_channels`."""
    matrix = basis[..., :3, :3]
    return orthogonal(matrix) * _fitting(signs, matrix)[..., None, :]


def channels_to_basis(rig: Rig, location: np.ndarray, rotation: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Basis (F, B, 4, 4) of location and scale (F, B, 3) and rotation (F, B, 4) in each bone's mode.

    Rotation holds w x y z, or angle and axis, or the x y z angles and an unused zero.
    A connected bone's location counts as zero, as in the program.
    """
    basis = np.zeros((*location.shape[:2], 4, 4))
    basis[..., 3, 3] = 1.0
    basis[..., :3, 3] = np.where(rig.use_connect[:, None], 0.0, location)
    for mode, bones in _by(rig.rotation_modes):
        basis[:, bones, :3, :3] = _to_matrix(mode, rotation[:, bones]) * scale[:, bones, None, :]
    return basis


def basis_to_channels(
    rig: Rig, basis: np.ndarray, start: np.ndarray, signs: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Channels location (F, B, 3), rotation (F, B, 4), scale (F, B, 3) of a basis (F, B, 4, 4).

    Rotation is unwrapped over time beginning nearest to start (B, 4), in each bone's rotation mode.
    signs: (B, 3) of the scales, kept where they fit the basis; elsewhere all are negative when it is mirrored,
    else positive.  Sheared axes are made orthogonal about the bone's length.
    """
    matrix = basis[..., :3, :3]
    sign = _fitting(signs, matrix)
    scale = np.linalg.norm(matrix, axis=-2) * sign
    turn = orthogonal(matrix) * sign[..., None, :]
    rotation = np.zeros((*basis.shape[:2], 4))
    for mode, bones in _by(rig.rotation_modes):
        rotation[:, bones] = _from_matrix(mode, turn[:, bones], start[bones])
    return basis[..., :3, 3].copy(), rotation, scale


def _fitting(signs: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """(..., B, 3) signs (B, 3) of scales, where they do not fit the handedness of a matrix (..., B, 3, 3) all alike."""
    hand = np.where(np.linalg.det(matrix) < 0.0, -1.0, 1.0)[..., None]
    return np.where(signs.prod(axis=-1, keepdims=True) == hand, signs, hand)


def _to_matrix(mode: str, rotation: np.ndarray) -> np.ndarray:
    """Rotation channels (F, n, 4) of one mode to matrices (F, n, 3, 3)."""
    if mode == "QUATERNION":
        return channels.quaternion_to_matrix(rotation)
    if mode == "AXIS_ANGLE":
        return channels.axis_angle_to_matrix(rotation)
    return channels.euler_to_matrix(rotation[..., :3], mode)


def _from_matrix(mode: str, turn: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Rotations (F, n, 3, 3) to unwrapped channels (F, n, 4) of one mode, first nearest to start (n, 4)."""
    if mode == "QUATERNION":
        return channels.unwrap_quaternion(channels.matrix_to_quaternion(turn), start)
    if mode == "AXIS_ANGLE":
        return channels.unwrap_axis_angle(channels.matrix_to_axis_angle(turn), start)
    out = np.zeros((*turn.shape[:2], 4))
    out[..., :3] = channels.unwrap_euler(channels.matrix_to_euler(turn, mode), mode, start[..., :3])
    return out


def _by(modes: tuple[str, ...]) -> list[tuple[str, np.ndarray]]:
    """Each mode that occurs with the indices where it does."""
    modes = np.array(modes)
    return [(str(mode), np.flatnonzero(modes == mode)) for mode in np.unique(modes)]
