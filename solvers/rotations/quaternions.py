"""Unit quaternions (w, x, y, z) on the second-last axis, frames on the last: arrays (..., 4, F)."""

from __future__ import annotations

import numpy as np


def identity(*shape: int) -> np.ndarray:
    """Quaternions of no rotation; shape (..., F) gives (..., 4, F)."""
    out = np.zeros((*shape[:-1], 4, shape[-1]))
    out[..., 0, :] = 1.0
    return out


def exp(rotvec: np.ndarray) -> np.ndarray:
    """Rotation vectors (..., 3, F), radians, to quaternions (..., 4, F)."""
    angle = np.sqrt(np.einsum("...kf,...kf->...f", rotvec, rotvec))
    out = np.empty((*rotvec.shape[:-2], 4, rotvec.shape[-1]))
    out[..., 0, :] = np.cos(0.5 * angle)
    out[..., 1:, :] = rotvec * (0.5 * np.sinc(angle / (2 * np.pi)))[..., None, :]
    return out


def log(q: np.ndarray) -> np.ndarray:
    """Quaternions (..., 4, F) to rotation vectors (..., 3, F), angle in [0, pi]."""
    v = q[..., 1:, :]
    w = q[..., 0, :]
    sine = np.sqrt(np.einsum("...kf,...kf->...f", v, v))
    angle = 2.0 * np.arctan2(sine, np.abs(w))
    factor = np.where(sine > 1e-12, angle / np.maximum(sine, 1e-12), 2.0)
    return v * np.where(w < 0, -factor, factor)[..., None, :]


def mul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Hamilton product, (..., 4, F) each: the rotation b followed by a."""
    aw, ax, ay, az = (a[..., k, :] for k in range(4))
    bw, bx, by, bz = (b[..., k, :] for k in range(4))
    return np.stack(
        (
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ),
        axis=-2,
    )


def conj(q: np.ndarray) -> np.ndarray:
    """The inverse rotation."""
    out = -q
    out[..., 0, :] = q[..., 0, :]
    return out


def mul_conj(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The inverse of b followed by a."""
    return mul(a, conj(b))


def conj_mul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The rotation b followed by the inverse of a."""
    return mul(conj(a), b)


def normalised(q: np.ndarray) -> np.ndarray:
    """Scaled to unit length: products drift by rounding."""
    return q / np.sqrt(np.einsum("...kf,...kf->...f", q, q))[..., None, :]


def rotate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Rotate vectors (..., 3, F) by quaternions (..., 4, F)."""
    w, x, y, z = (q[..., k, :] for k in range(4))
    a, b, c = (v[..., k, :] for k in range(3))
    tx, ty, tz = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
    return np.stack(
        (a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx), axis=-2
    )


