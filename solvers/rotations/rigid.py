"""The rigid motion that best carries reference points onto other points: in space, and on the ground."""

from __future__ import annotations

import numpy as np

from ..core.errors import InputError
from ..core.missing_samples import known_points
from .polar import nearest_rotation

_DEGENERATE = 1e-12


def procrustes(
    points: np.ndarray, reference: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Rotation (..., 3, 3) and translation (..., 3) with points ~ reference rotation^T + translation.

    points: (..., N, 3). reference: (N, 3) or (..., N, 3). weights: (N,) or (..., N), not negative. A point that is NaN
    on either side counts nothing. Weighted least squares over rotations, never a reflection (Sorkine 2009,
    "Least-squares rigid motion using SVD"). Raises InputError where fewer than three points are left.
    """
    points, reference, weights = _prepared(points, reference, weights)
    few = np.argwhere((weights > 0.0).sum(axis=-1) < 3)
    if len(few):
        where = f" at frame {few[0][0]}" if few.shape[1] else ""
        raise InputError(f"Fewer than three points are known{where}; a rotation in space needs three.")
    from_mean, from_there = _centred(reference, weights)
    to_mean, to_there = _centred(points, weights)
    covariance = np.swapaxes(to_there, -1, -2) @ (weights[..., None] * from_there)
    rotation = nearest_rotation(covariance)
    return rotation, to_mean - np.einsum("...ij,...j->...i", rotation, from_mean)


def ground_yaw(points: np.ndarray, reference: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Yaw (...,) in (-pi, pi] about Z that, with a translation, best carries reference onto points in XY.

    points: (..., N, 3), Z up. reference: (N, 3). weights and NaN as in ``procrustes``. The closed form of the
    least-squares problem in the plane. NaN where the known points do not tell a direction.
    """
    points, reference, weights = _prepared(points, reference, weights)
    before, after = _centred(reference[..., :2], weights)[1], _centred(points[..., :2], weights)[1]
    along = np.einsum("...n,...ni,...ni->...", weights, before, after)
    across = np.einsum("...n,...n->...", weights, before[..., 0] * after[..., 1] - before[..., 1] * after[..., 0])
    size = np.einsum("...n,...ni->...", weights, before**2 + after**2)
    return np.where(np.hypot(along, across) > _DEGENERATE * size, np.arctan2(across, along), np.nan)


def ground_translation(
    points: np.ndarray, reference: np.ndarray, pivot: np.ndarray, yaw: np.ndarray, weights: np.ndarray | None = None
) -> np.ndarray:
    """Translation (..., 2) of the pivot that, after a yaw (...,) about it, best carries reference onto points in XY.

    pivot: (2,), the same for all frames, so that a point that goes missing does not move it. The rest as in
    ``ground_yaw``. NaN where no point is known.
    """
    points, reference, weights = _prepared(points, reference, weights)
    before, after = _centred(reference[..., :2], weights)[0], _centred(points[..., :2], weights)[0]
    some = (weights > 0.0).any(axis=-1)[..., None]
    return np.where(some, after - pivot - turned(before - pivot, yaw), np.nan)


def turned(vectors: np.ndarray, yaw: np.ndarray) -> np.ndarray:
    """Ground vectors (..., 2) turned by yaw (...), radians, counter-clockwise seen from above."""
    cosine, sine = np.cos(yaw), np.sin(yaw)
    x, y = vectors[..., 0], vectors[..., 1]
    return np.stack((cosine * x - sine * y, sine * x + cosine * y), axis=-1)


def turned_about_z(points: np.ndarray, yaw: float) -> np.ndarray:
    """Points (..., 3) turned by yaw, radians, about the vertical through the origin."""
    return np.concatenate((turned(points[..., :2], np.asarray(yaw)), points[..., 2:]), axis=-1)


def _prepared(points, reference, weights):
    """Float arrays without NaN, with the weights of what was NaN set to zero."""
    points, reference = np.asarray(points, float), np.asarray(reference, float)
    if np.isfinite(points).all() and np.isfinite(reference).all():
        # As they are: what all frames share is looked at once, not once a frame.
        return points, reference, np.ones(points.shape[-2]) if weights is None else np.asarray(weights, float)
    known = known_points(points) & known_points(reference)
    weights = np.where(known, 1.0 if weights is None else weights, 0.0)
    return np.where(known[..., None], points, 0.0), np.where(known[..., None], reference, 0.0), weights


def _centred(points, weights):
    total = weights.sum(axis=-1)[..., None]
    mean = (weights[..., None, :] @ points)[..., 0, :] / np.where(total > 0.0, total, 1.0)
    return mean, points - mean[..., None, :]
