"""Rotations as vectors along their axis, as long as their angle: exponential, logarithm and unwrapping.

Radians, active rotations on column vectors.  All entries of a batch are worked on at once, so arrays whose vector or
matrix axes come first in memory (views of (3, N) or (3, 3, N)) are the fastest.  float32 stays float32.
"""

from __future__ import annotations

import numpy as np

from .channels import matrix_to_quaternion

TURN = 2.0 * np.pi
# Below this trace (angles over 2.3) the sine is a poor measure of the angle's axis: the quaternion is used.
_BEYOND_SINE = -0.33


def exp(vectors: np.ndarray) -> np.ndarray:
    """Rotation vectors (..., 3) to matrices (..., 3, 3); Rodrigues' formula through half angles (no cancellation)."""
    x, y, z = np.moveaxis(vectors, -1, 0)
    half = 0.5 * np.sqrt(x * x + y * y + z * z)
    # sin(half) / (2 half), which is 1/2 where nothing turns.
    scale = np.divide(np.sin(half), 2.0 * half, out=np.full_like(half, 0.5), where=half > 0.0)
    w, x, y, z = np.cos(half), x * scale, y * scale, z * scale
    out = np.empty((3, 3, *half.shape), half.dtype)
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz = x * x2, y * y2, z * z2
    np.subtract(1.0 - yy, zz, out=out[0, 0])
    np.subtract(1.0 - xx, zz, out=out[1, 1])
    np.subtract(1.0 - xx, yy, out=out[2, 2])
    for row, column, even, odd in ((0, 1, x * y2, w * z2), (1, 2, y * z2, w * x2), (2, 0, z * x2, w * y2)):
        np.subtract(even, odd, out=out[row, column])
        np.add(even, odd, out=out[column, row])
    return np.moveaxis(out, (0, 1), (-2, -1))


def log(matrices: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) to vectors (..., 3) no longer than pi; at pi either of the two signs."""
    m = np.moveaxis(matrices, (-2, -1), (0, 1))
    trace = m[0, 0] + m[1, 1] + m[2, 2]
    axis = np.stack((m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]))
    # The antisymmetric part is the axis times twice the sine.
    double = np.sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2])
    angle = np.arctan2(double, trace - 1.0)
    axis *= np.divide(angle, double, out=np.full_like(double, 0.5), where=double > 1e-30)
    out = np.moveaxis(axis, 0, -1)
    far = trace < _BEYOND_SINE
    if far.any():
        out[far] = _log_by_quaternion(matrices[far])
    return out


def _log_by_quaternion(matrices: np.ndarray) -> np.ndarray:
    """Of rotations by large angles: (N, 3, 3) to (N, 3)."""
    q = matrix_to_quaternion(matrices)
    sine = np.linalg.norm(q[:, 1:], axis=1)
    return q[:, 1:] * (2.0 * np.arctan2(sine, q[:, 0]) / sine)[:, None]


def nearest_branch(vectors: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """The same rotations (..., 3), each a whole number of turns about its axis away, nearest to reference (..., 3)."""
    angle = np.linalg.norm(vectors, axis=-1, keepdims=True)
    other = np.linalg.norm(reference, axis=-1, keepdims=True)
    # No turn has no axis of its own: it may be whole turns about the reference's.
    still = angle < 1e-9
    axis = np.where(still, reference / np.maximum(other, 1e-30), vectors / np.maximum(angle, 1e-30))
    along = np.sum(axis * reference, axis=-1, keepdims=True)
    return vectors + axis * (TURN * np.round((along - angle) / TURN))


def unwrap(vectors: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
    """Rotation vectors over time (F, ..., 3), each on the branch nearest to the one before, the first to start.

    A rotation within a hair of whole turns may have no branch near the one before (its axis is any); the frames after
    it then follow the frame before it.
    """
    out = np.array(vectors)
    reference = out[:1] if start is None else start[None]
    # Each branch depends on the one chosen before; the loop is over frames alone.
    for frame in range(len(out)):
        out[frame] = nearest_branch(out[frame], reference[0])
        near = np.sum((out[frame] - reference) ** 2, axis=-1, keepdims=True) < np.pi**2
        reference = np.where(near, out[frame], reference)
    return out
