"""Rotation channels to matrices and back, and their unwrapping over time; radians.

Rotations are active and act on column vectors.  Frames come first wherever there is a frame axis.
"""

from __future__ import annotations

import numpy as np

from ..core.errors import InputError

EULER_ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
_TINY = 1e-12


def _axes(order: str) -> tuple[int, int, int, float]:
    """First, second and third axis of an Euler order, and -1 where the order is an odd permutation."""
    if order not in EULER_ORDERS:
        raise InputError(f"'{order}' is not an Euler order; use one of {', '.join(EULER_ORDERS)}.")
    i, j, k = ("XYZ".index(letter) for letter in order)
    return i, j, k, 1.0 if (i + 1) % 3 == j else -1.0


def euler_to_matrix(angles: np.ndarray, order: str = "XYZ") -> np.ndarray:
    """Angles about x, y, z (..., 3) to matrices (..., 3, 3); order "XYZ" turns about x first, then y, then z.

    Raises InputError for an unknown order.  Product of the three plane rotations written out
    (Shoemake 1994, Graphics Gems IV, III.5).
    """
    i, j, k, parity = _axes(order)
    sine, cosine = np.sin(parity * angles), np.cos(angles)
    si, sj, sk = sine[..., i], sine[..., j], sine[..., k]
    ci, cj, ck = cosine[..., i], cosine[..., j], cosine[..., k]
    out = np.empty((*angles.shape[:-1], 3, 3))
    out[..., i, i] = cj * ck
    out[..., i, j] = sj * si * ck - ci * sk
    out[..., i, k] = sj * ci * ck + si * sk
    out[..., j, i] = cj * sk
    out[..., j, j] = sj * si * sk + ci * ck
    out[..., j, k] = sj * ci * sk - si * ck
    out[..., k, i] = -sj
    out[..., k, j] = cj * si
    out[..., k, k] = cj * ci
    return out


def matrix_to_euler(matrices: np.ndarray, order: str = "XYZ") -> np.ndarray:
    """Rotation matrices (..., 3, 3) to angles about x, y, z (..., 3), the second one in [-pi/2, pi/2].

    In gimbal lock the third angle is zero.  Raises InputError for an unknown order.
    """
    i, j, k, parity = _axes(order)
    m = matrices
    cos_second = np.hypot(m[..., i, i], m[..., j, i])
    free = cos_second > 1e-9
    out = np.empty(m.shape[:-1])
    out[..., i] = np.where(
        free, np.arctan2(m[..., k, j], m[..., k, k]), np.arctan2(-m[..., j, k], m[..., j, j])
    )
    out[..., j] = np.arctan2(-m[..., k, i], cos_second)
    out[..., k] = np.where(free, np.arctan2(m[..., j, i], m[..., i, i]), 0.0)
    return parity * out


def quaternion_to_matrix(quaternions: np.ndarray) -> np.ndarray:
    """Quaternions w, x, y, z (..., 4) of any length to matrices (..., 3, 3).

    A zero quaternion is read as a half turn about x, as the program itself does.
    """
    length = np.linalg.norm(quaternions, axis=-1, keepdims=True)
    unit = np.where(length > 0.0, quaternions / np.where(length > 0.0, length, 1.0), (0.0, 1.0, 0.0, 0.0))
    return _unit_to_matrix(unit)


def _unit_to_matrix(q: np.ndarray) -> np.ndarray:
    """Unit quaternions (..., 4) to matrices (..., 3, 3)."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    out = np.empty((*q.shape[:-1], 3, 3))
    out[..., 0, 0], out[..., 1, 1], out[..., 2, 2] = (
        1.0 - 2.0 * (y * y + z * z),
        1.0 - 2.0 * (x * x + z * z),
        1.0 - 2.0 * (x * x + y * y),
    )
    for row, column, even, odd in ((0, 1, x * y, w * z), (1, 2, y * z, w * x), (2, 0, z * x, w * y)):
        out[..., row, column] = 2.0 * (even - odd)
        out[..., column, row] = 2.0 * (even + odd)
    return out


def matrix_to_quaternion(matrices: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) to unit quaternions w, x, y, z (..., 4), w >= 0.

    Each row of the outer product 4 q q^T is a multiple of q; the one with the largest diagonal entry is
    taken, so that nothing is divided by a small number (Shepperd 1978).
    """
    m = matrices
    products = np.empty((*m.shape[:-2], 4, 4))
    diagonal = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    products[..., 0, 0] = 1.0 + diagonal[0] + diagonal[1] + diagonal[2]
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        products[..., i + 1, i + 1] = 1.0 + diagonal[i] - diagonal[j] - diagonal[k]
        products[..., 0, i + 1] = products[..., i + 1, 0] = m[..., k, j] - m[..., j, k]
        products[..., j + 1, k + 1] = products[..., k + 1, j + 1] = m[..., k, j] + m[..., j, k]
    largest = np.einsum("...kk->...k", products).argmax(axis=-1)
    q = np.take_along_axis(products, largest[..., None, None], axis=-2)[..., 0, :]
    return q / np.copysign(np.linalg.norm(q, axis=-1, keepdims=True), q[..., :1])


def axis_angle_to_matrix(axis_angle: np.ndarray) -> np.ndarray:
    """Angle and axis of any length (..., 4) to matrices (..., 3, 3); a zero axis is no rotation."""
    angle, axis = axis_angle[..., :1], axis_angle[..., 1:]
    length = np.linalg.norm(axis, axis=-1, keepdims=True)
    real = length > _TINY
    half = np.where(real, 0.5 * angle, 0.0)
    unit = axis / np.where(real, length, 1.0)
    return _unit_to_matrix(np.concatenate((np.cos(half), np.sin(half) * unit), axis=-1))


def matrix_to_axis_angle(matrices: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) to angle in [0, pi] and unit axis (..., 4), y where nothing turns."""
    return quaternion_to_axis_angle(matrix_to_quaternion(matrices))


def quaternion_to_axis_angle(q: np.ndarray) -> np.ndarray:
    """Unit quaternions (..., 4), w >= 0, to angle in [0, pi] and unit axis (..., 4), y where nothing turns."""
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    turns = sine > 1e-9
    axis = np.where(turns, q[..., 1:] / np.where(turns, sine, 1.0), (0.0, 1.0, 0.0))
    angle = np.where(turns, 2.0 * np.arctan2(sine, q[..., :1]), 0.0)
    return np.concatenate((angle, axis), axis=-1)


def unwrap_euler(angles: np.ndarray, order: str = "XYZ", start: np.ndarray | None = None) -> np.ndarray:
    """The same rotations (F, ..., 3) as the smoothest run of angles, beginning nearest to start (..., 3).

    Every rotation has two triples, (a, b, c) and (a + pi, pi - b, c + pi) with b the middle angle, each up to
    whole turns.  Whether the nearer triple of the next frame is of the same kind as this frame's does not
    depend on the kind, so the choices of all frames are a running parity and need no loop.
    """
    angles = np.asarray(angles, float)
    if start is None:
        start = np.zeros(angles.shape[1:])
    other = _alternative(angles, order)
    before = np.concatenate((start[None], angles[:-1]))
    keeps = _turn_distance(angles - before) <= _turn_distance(other - before)
    swapped = np.cumsum(~keeps, axis=0) % 2 == 1
    chosen = np.where(swapped[..., None], other, angles)
    return np.unwrap(np.concatenate((start[None], chosen)), axis=0)[1:]


def _alternative(angles: np.ndarray, order: str) -> np.ndarray:
    """The second Euler triple (..., 3) of the same rotation."""
    middle = _axes(order)[1]
    out = angles + np.pi
    out[..., middle] = np.pi - angles[..., middle]
    return out


def _turn_distance(difference: np.ndarray) -> np.ndarray:
    """Sum of the absolute angles (..., 3) up to whole turns (...)."""
    return np.abs(difference - 2.0 * np.pi * np.round(difference / (2.0 * np.pi))).sum(axis=-1)


def unwrap_quaternion(quaternions: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
    """The same rotations (F, ..., 4), each signed like the one before, the first like start (..., 4)."""
    if start is None:
        start = quaternions[0]
    before = np.concatenate((start[None], quaternions[:-1]))
    negative = np.einsum("...k,...k->...", before, quaternions) < 0.0
    return np.where((np.cumsum(negative, axis=0) % 2 == 1)[..., None], -quaternions, quaternions)


def unwrap_axis_angle(axis_angle: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
    """The same rotations (F, ..., 4) with an axis that does not flip and an angle that does not jump.

    Where nothing turns the axis of the frame before is kept.  start (..., 4): the value to begin nearest to.
    """
    if start is None:
        start = axis_angle[0]
    run = np.concatenate((start[None], axis_angle))
    axis, angle = run[..., 1:].copy(), run[..., 0]
    turning = np.abs(np.sin(0.5 * angle)) > 1e-6
    turning[0] = np.linalg.norm(axis[0], axis=-1) > _TINY
    axis = _held(axis, turning)
    flips = np.einsum("...k,...k->...", axis[1:], axis[:-1]) < 0.0
    sign = np.where(np.cumsum(flips, axis=0) % 2 == 1, -1.0, 1.0)
    angle = np.unwrap(np.concatenate((angle[:1], sign * angle[1:])), axis=0)
    return np.concatenate((angle[1:, ..., None], sign[..., None] * axis[1:]), axis=-1)


def _held(values: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """values (F, ..., K), where not valid (F, ...) those of the last valid frame before."""
    frames = np.arange(len(values)).reshape(-1, *[1] * (valid.ndim - 1))
    last = np.maximum.accumulate(np.where(valid, frames, 0), axis=0)
    return np.take_along_axis(values, last[..., None], axis=0)
