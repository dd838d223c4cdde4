"""Vectors on the last axis, (..., 3), faster than by NumPy's own functions; ``small`` is for frames last."""

from __future__ import annotations

import numpy as np


def lengths(vectors: np.ndarray) -> np.ndarray:
    """(...) of vectors (..., 3)."""
    return np.sqrt(squared_lengths(vectors))


def squared_lengths(vectors: np.ndarray) -> np.ndarray:
    """(...) of vectors (..., 3)."""
    return np.einsum("...k,...k->...", vectors, vectors)


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross products (..., 3)."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    out[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    out[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    out[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return out


def mean_scale(matrices: np.ndarray) -> np.ndarray:
    """Cube root of the change of volume (...) by matrices (..., 3, 3), mirrored or not."""
    return np.cbrt(np.abs(np.linalg.det(matrices)))
