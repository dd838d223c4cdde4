"""Polar decomposition of many small matrices in closed form: the rotation in them and what is left as stretch."""

from __future__ import annotations

import numpy as np

from ..core.small import cross, dot, mat_mul, mat_mul_t

# Below this share of the largest singular value the sum of the two others does not fix a rotation in closed form.
_NEAR_SINGULAR = 1e-2
# Below this ratio of a face's area to the square of its size its normal is noise.
_COLLAPSED = 1e-6


def polar(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nearest rotations R (N, 3, 3), never reflections, and the symmetric S (N, 3, 3) with R S = matrices (N, 3, 3).

    Singular values by Cardano's formula, then (i1 i2 - i3) R = i1 cof(A) + (i1^2 - i2) A - A A^T A, which follows from
    the Cayley-Hamilton theorem for S with invariants i1, i2, i3 (Hoger and Carlson 1984).  Where a mirror image or a
    rank below two leaves it undetermined, by singular value decomposition.  A matrix of zeros gives no rotation.
    """
    matrices = np.asarray(matrices, float)
    size = np.abs(matrices).max(axis=(-2, -1), initial=0.0)
    a = np.ascontiguousarray(np.moveaxis(matrices, 0, -1)) / np.where(size > 0.0, size, 1.0)
    product = mat_mul(np.swapaxes(a, 0, 1), a)
    cofactor = np.stack((cross(a[1], a[2]), cross(a[2], a[0]), cross(a[0], a[1])))
    first, second = _singular_values(product)
    third = dot(a[0], cofactor[0]) / np.maximum(first * second, 1e-30)
    unsafe = (second + third < _NEAR_SINGULAR * first) | (second < _NEAR_SINGULAR * first) | (first <= 0.0)
    below = np.where(unsafe, 1.0, (first + second) * (first + third) * (second + third))
    i1, i2 = first + second + third, first * second + (first + second) * third
    # Zero where unsafe, so that nothing overflows there.
    cof_share, a_share, cube_share = np.where(unsafe, 0.0, np.stack((i1, i1 * i1 - i2, np.ones_like(i1))) / below)
    rotation = cof_share * cofactor + a_share * a - cube_share * mat_mul(a, product)
    # Its singular vectors are exact, its singular values 1 but for the error of the formula's: one Newton step.
    rotation = 1.5 * rotation - 0.5 * mat_mul(mat_mul_t(rotation, rotation), rotation)
    rotation = np.moveaxis(rotation, -1, 0)
    if unsafe.any():
        scale = np.where(size[unsafe] > 0.0, size[unsafe], 1.0)
        rotation[unsafe] = nearest_rotation(matrices[unsafe] / scale[:, None, None])
    stretch = mat_mul(np.moveaxis(rotation, 0, -1).swapaxes(0, 1), np.moveaxis(matrices, 0, -1))
    return rotation, np.moveaxis(0.5 * (stretch + np.swapaxes(stretch, 0, 1)), -1, 0)


def _singular_values(product: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two largest singular values of A from A^T A (3, 3, N): eigenvalues by the cosine form of Cardano."""
    mean = (product[0, 0] + product[1, 1] + product[2, 2]) / 3.0
    rest = product - mean * np.eye(3)[..., None]
    spread = np.sqrt(np.einsum("ijn,ijn->n", rest, rest) / 6.0)
    rest /= np.maximum(spread, 1e-30)
    angle = np.arccos(np.clip(0.5 * dot(rest[0], cross(rest[1], rest[2])), -1.0, 1.0)) / 3.0
    largest = mean + 2.0 * spread * np.cos(angle)
    smallest = mean + 2.0 * spread * np.cos(angle + 2.0 * np.pi / 3.0)
    return np.sqrt(np.maximum(largest, 0.0)), np.sqrt(np.maximum(3.0 * mean - largest - smallest, 0.0))


def nearest_rotation(matrices: np.ndarray) -> np.ndarray:
    """Rotations R (..., 3, 3), never reflections, with the largest trace(R^T A) for matrices A (..., 3, 3).

    Of A = sum w y x^T that is the R of least sum w |y - R x|^2 (orthogonal Procrustes problem; Kabsch 1976). By
    singular value decomposition, whatever the rank; ``polar`` is many times faster for many matrices.
    """
    u, _, vt = np.linalg.svd(matrices)
    u[..., 2] *= np.sign(np.linalg.det(u) * np.linalg.det(vt))[..., None]
    return u @ vt


def in_plane_polar(
    gradients: np.ndarray, fallback: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """In-plane gradients (..., 3, 2, N) as rotated frames (..., 3, 3, N) and stretches (..., 3, N), layout of small.py.

    A gradient G has the edges of a face in its columns, in coordinates of the rest face's plane.  With C = G^T G and
    J = sqrt(det C) its stretch is s = (C + J I) / sqrt(tr C + 2 J) (entries 11, 12, 22) and its rotation is G s^-1,
    here written (G + [g2 x n, n x g1]) / tr s, which divides by no small number.  The third column is the normal n, so
    there are no reflections.

    Also a mask (..., N) of collapsed faces, whose normal is not given by the gradient: there it is the one of
    ``fallback`` frames (..., 3, 3, N), or z, made perpendicular to what is left of the face.  G = R[:, :2] s holds for
    them too.
    """
    first, second = gradients[..., 0, :], gradients[..., 1, :]
    normal = cross(first, second)
    area = np.sqrt(dot(normal, normal))
    c11, c12, c22 = dot(first, first), dot(first, second), dot(second, second)
    collapsed = area <= _COLLAPSED * (c11 + c22)
    normal /= np.where(collapsed, 1.0, area)[..., None, :]
    trace = np.sqrt(c11 + c22 + 2.0 * area)
    scale = 1.0 / np.where(trace > 0.0, trace, 1.0)
    frames = np.empty((*gradients.shape[:-2], 3, gradients.shape[-1]))
    if fallback is None:
        fallback = np.eye(3)[..., None]
    fallback = np.broadcast_to(fallback, frames.shape)
    if collapsed.any():
        _replace_normals(normal, gradients, collapsed, fallback)
    frames[..., 0, :] = (first + cross(second, normal)) * scale[..., None, :]
    frames[..., 1, :] = (second + cross(normal, first)) * scale[..., None, :]
    frames[..., 2, :] = normal
    gone = trace <= 0.0
    if gone.any():
        _entries(frames)[gone] = _entries(fallback)[gone]
    stretch = np.stack((c11 + area, c12, c22 + area), axis=-2)
    return frames, stretch * scale[..., None, :], collapsed


def _replace_normals(normal, gradients, collapsed, fallback):
    """Perpendicular to the longer column of each collapsed gradient, as near as can be to the fallback's normal."""
    columns, frames = _entries(gradients)[collapsed], _entries(fallback)[collapsed]
    longer = np.linalg.norm(columns, axis=1).argmax(axis=1)
    way = columns[np.arange(len(columns)), :, longer]
    way /= np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-30)
    # A normal along the way itself says nothing: the frame's other two axes cannot both be along it too.
    along = np.einsum("ni,nij->nj", way, frames)
    chosen = np.where(np.abs(along[:, 2]) < 0.999, 2, np.abs(along[:, :2]).argmin(axis=1))
    wanted = frames[np.arange(len(frames)), :, chosen]
    wanted = wanted - np.einsum("ni,ni->n", wanted, way)[:, None] * way
    _vectors(normal)[collapsed] = wanted / np.linalg.norm(wanted, axis=1, keepdims=True)


def _entries(matrices: np.ndarray) -> np.ndarray:
    """A view (..., N, rows, columns) of (..., rows, columns, N)."""
    return np.moveaxis(matrices, -1, -3)


def _vectors(vectors: np.ndarray) -> np.ndarray:
    """A view (..., N, 3) of (..., 3, N)."""
    return np.moveaxis(vectors, -1, -2)
