"""Unit quaternions (w, x, y, z) on the last axis, (N, 4): for one frame, where the number of NumPy calls counts.

Products and matrices are linear in the outer product of their factors, so each is one small matrix product.
"""

from __future__ import annotations

import numpy as np


def _product_table(first_sign: float, second_sign: float) -> np.ndarray:
    """(16, 4): outer product a b^T, flat, to a b, with conj(a) or conj(b) where a sign is -1."""
    units = np.eye(4)
    table = np.zeros((4, 4, 4))
    for i, a in enumerate(units):
        for j, b in enumerate(units):
            w = a[0] * b[0] - a[1:] @ b[1:]
            v = a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
            table[i, j] = np.append(w, v) * (1.0 if i == 0 else first_sign) * (1.0 if j == 0 else second_sign)
    return table.reshape(16, 4)


def _matrix_table() -> np.ndarray:
    """(16, 9): outer product q q^T, flat, to the rotation matrix, flat, of a unit quaternion."""
    table = np.zeros((4, 4, 3, 3))
    for i in range(3):
        table[0, 0, i, i] = 1.0
        for j in range(3):
            table[1 + i, 1 + j, i, j] += 2.0
            # The trace of the vector's part is taken from the diagonal.
            table[1 + j, 1 + j, i, i] -= 1.0
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        table[0, 1 + k, j, i] += 2.0
        table[0, 1 + k, i, j] -= 2.0
    return table.reshape(16, 9)


_MUL, _MUL_CONJ, _MATRIX = _product_table(1.0, 1.0), _product_table(1.0, -1.0), _matrix_table()
_CONJ_MUL = _product_table(-1.0, 1.0)


def mul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(N, 4) the rotation b followed by a."""
    return (a[:, :, None] * b[:, None, :]).reshape(-1, 16) @ _MUL


def mul_conj(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(N, 4) the inverse of b followed by a."""
    return (a[:, :, None] * b[:, None, :]).reshape(-1, 16) @ _MUL_CONJ


def conj_mul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(N, 4) the rotation b followed by the inverse of a."""
    return (a[:, :, None] * b[:, None, :]).reshape(-1, 16) @ _CONJ_MUL


def matrices(q: np.ndarray) -> np.ndarray:
    """(N, 3, 3) of unit quaternions (N, 4)."""
    return ((q[:, :, None] * q[:, None, :]).reshape(-1, 16) @ _MATRIX).reshape(-1, 3, 3)


def exp(rotvec: np.ndarray) -> np.ndarray:
    """Rotation vectors (N, 3), radians, to quaternions (N, 4)."""
    half = 0.5 * np.sqrt(np.einsum("nk,nk->n", rotvec, rotvec))
    out = np.empty((len(rotvec), 4))
    out[:, 0] = np.cos(half)
    factor = np.sin(half) / np.maximum(2.0 * half, 1e-150)
    factor[half < 1e-9] = 0.5
    np.multiply(rotvec, factor[:, None], out=out[:, 1:])
    return out


def log(q: np.ndarray) -> np.ndarray:
    """Quaternions (N, 4) to rotation vectors (N, 3), angle in [0, pi]."""
    vector, w = q[:, 1:], q[:, 0]
    sine = np.sqrt(np.einsum("nk,nk->n", vector, vector))
    # Where nothing is turned the factor does not matter: it multiplies zeros.
    factor = 2.0 * np.arctan2(sine, np.abs(w)) / np.maximum(sine, 1e-150)
    return vector * np.copysign(factor, w)[:, None]


def normalised(q: np.ndarray) -> np.ndarray:
    """(N, 4) scaled to unit length."""
    return q / np.sqrt(np.einsum("nk,nk->n", q, q))[:, None]


def rotate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Vectors (N, 3) turned by (N, 4)."""
    return np.einsum("nab,nb->na", matrices(q), v)
