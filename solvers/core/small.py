"""Products of 3x3 matrices and 3-vectors with frames last: (..., 3, 3, F) and (..., 3, F).

NumPy's matmul over millions of 3x3 matrices runs one tiny loop each; with frames last every operation is a
contiguous pass (a few times faster at the sizes of a clip).
"""

from __future__ import annotations

import numpy as np


def mat_mul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a b, both (..., 3, 3, F)."""
    out = a[..., :, 0, None, :] * b[..., None, 0, :, :]
    out += a[..., :, 1, None, :] * b[..., None, 1, :, :]
    out += a[..., :, 2, None, :] * b[..., None, 2, :, :]
    return out


def mat_mul_t(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a b^T, both (..., 3, 3, F)."""
    out = a[..., :, None, 0, :] * b[..., None, :, 0, :]
    out += a[..., :, None, 1, :] * b[..., None, :, 1, :]
    out += a[..., :, None, 2, :] * b[..., None, :, 2, :]
    return out


def mat_vec(a: np.ndarray, v: np.ndarray) -> np.ndarray:
    """a v: (..., 3, 3, F) and (..., 3, F)."""
    return a[..., 0, :] * v[..., None, 0, :] + a[..., 1, :] * v[..., None, 1, :] + a[..., 2, :] * v[..., None, 2, :]


def mat_t_vec(a: np.ndarray, v: np.ndarray) -> np.ndarray:
    """a^T v: (..., 3, 3, F) and (..., 3, F)."""
    out = a[..., 0, :, :] * v[..., 0, None, :]
    out += a[..., 1, :, :] * v[..., 1, None, :]
    out += a[..., 2, :, :] * v[..., 2, None, :]
    return out


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a x b over the second-last axis, broadcast."""
    ax, ay, az = a[..., 0, :], a[..., 1, :], a[..., 2, :]
    bx, by, bz = b[..., 0, :], b[..., 1, :], b[..., 2, :]
    x = ay * bz - az * by
    out = np.empty((*x.shape[:-1], 3, x.shape[-1]))
    out[..., 0, :] = x
    out[..., 1, :] = az * bx - ax * bz
    out[..., 2, :] = ax * by - ay * bx
    return out


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a . b over the second-last axis."""
    return a[..., 0, :] * b[..., 0, :] + a[..., 1, :] * b[..., 1, :] + a[..., 2, :] * b[..., 2, :]


def cross_rows(a: np.ndarray, r: np.ndarray) -> np.ndarray:
    """a [r]x: every row of a (..., 3, 3, F) crossed with r (..., 3, F), for row^T [r]x = (row x r)^T."""
    return cross(a, r[..., None, :, :])


def sym_inverse(m: np.ndarray) -> np.ndarray:
    """Inverse of symmetric positive-definite (..., 3, 3, F) by the adjugate."""
    a, b, c = m[..., 0, 0, :], m[..., 0, 1, :], m[..., 0, 2, :]
    d, e, f = m[..., 1, 1, :], m[..., 1, 2, :], m[..., 2, 2, :]
    c00, c01, c02 = d * f - e * e, c * e - b * f, b * e - c * d
    scale = 1.0 / (a * c00 + b * c01 + c * c02)
    out = np.empty_like(m)
    out[..., 0, 0, :] = c00 * scale
    out[..., 0, 1, :] = out[..., 1, 0, :] = c01 * scale
    out[..., 0, 2, :] = out[..., 2, 0, :] = c02 * scale
    out[..., 1, 1, :] = (a * f - c * c) * scale
    out[..., 1, 2, :] = out[..., 2, 1, :] = (b * c - a * e) * scale
    out[..., 2, 2, :] = (a * d - b * b) * scale
    return out
