"""Which points of a body keep their places in it: a torso does, feet do not. They tell where it stands and faces."""

from __future__ import annotations

import numpy as np

from ..core.missing_samples import known_points
from ..core.subsampling import evenly_spaced_indices
from ..rotations.rigid import ground_translation, ground_yaw, turned

_FRAMES, _POINTS = 100, 120  # at most looked at
_SAME = 0.02  # of the body's radius: points that are always so near to each other count as one
_RIGID = 0.06  # of the body's radius: distances that vary by so much are those of a rigid part
_FLOOR = 0.03  # of the body's radius: what moves less in it counts no more
_STEADY, _FEWEST = 0.1, 3  # of the radius: what moves less is steady; with fewer such points none is trusted
_ROUNDS = 10


def steady_weights(points: np.ndarray) -> np.ndarray:
    """Weights (N,), at most 1, of points (F, N, 3), Z up, NaN where missing: high where they move little in the body.

    Unweighted least squares (Rhodin et al. 2014, section 4.1) take a stride for a turn: legs reach farther from the
    middle of a walker than its shoulders. Two points are alike the more, the less their distance on the ground varies
    and the longer it is; no turn of the body changes that. The principal eigenvector of the likenesses tells the
    largest part in which all are alike (Leordeanu and Hebert 2005, section 2, for correspondences). From there on each
    point is weighted by the inverse square of the variance that is left when the body's motion is taken out, in turns
    with the fit of that motion. A body without three steady points, a cloth for one, has all its points weighted alike.
    """
    points = np.asarray(points, float)[evenly_spaced_indices(len(points), _FRAMES)]
    seen = np.flatnonzero(known_points(points).any(axis=0))
    if len(points) < 2 or len(seen) < 3:
        return np.ones(points.shape[1])
    some = points[:, seen[evenly_spaced_indices(len(seen), _POINTS)]]
    radius = np.sqrt(np.nanmean(((some - np.nanmean(some, axis=1, keepdims=True)) ** 2).sum(axis=2)))
    if not radius > 0.0:
        return np.ones(points.shape[1])
    some, floor = some[:, _apart(some, _SAME * radius)], (_FLOOR * radius) ** 2
    motion = _refined(some, _rigid_part(some, _RIGID * radius), floor)
    if (_variance(some, *motion) < (_STEADY * radius) ** 2).sum() < _FEWEST:
        return np.ones(points.shape[1])
    weights = np.zeros(points.shape[1])
    weights[seen] = _weights(_variance(points[:, seen], *motion), floor)
    return weights


def _apart(points: np.ndarray, distance: float) -> np.ndarray:
    """Indices of points (F, N, 3), one of each group that stays together: joints often share a place."""
    away = np.nanmax(np.linalg.norm(points[:, :, None] - points[:, None], axis=3), axis=0)
    return np.flatnonzero((away <= distance).argmax(axis=1) == np.arange(len(away)))


def _rigid_part(points: np.ndarray, tolerance: float) -> np.ndarray:
    """Weights (N,) of the largest part of points (F, N, 3) whose distances vary by less than a tolerance, metres."""
    distance = np.linalg.norm((points[:, :, None] - points[:, None])[..., :2], axis=3)
    mean, spread = np.nanmean(distance, axis=0), np.nanstd(distance, axis=0)
    likeness = np.nan_to_num(mean**2 * np.exp(-((spread / tolerance) ** 2)))
    weights = likeness @ np.abs(np.linalg.eigh(likeness)[1][:, -1])
    return (weights / weights.max()) ** 2 if weights.max() > 0.0 else np.ones(len(weights))


def _refined(points: np.ndarray, weights: np.ndarray, floor: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Yaw (F,), place (F, 2) and pivot (3,) that weights (N,) of points (F, N, 3) end at.

    floor: square metres of movement that do not count.
    """
    reference = points[known_points(points).sum(axis=1).argmax()]
    for _ in range(_ROUNDS):
        pivot = np.nanmean(reference, axis=0)
        yaw = np.nan_to_num(ground_yaw(points, reference, weights))
        place = np.nan_to_num(ground_translation(points, reference, pivot[:2], yaw, weights))
        reference = np.nanmean(_at_rest(points, yaw, place, pivot), axis=0) + pivot
        weights = _weights(_variance(points, yaw, place, pivot), floor)
    return yaw, place, pivot


def _at_rest(points, yaw, place, pivot):
    """Points (F, N, 3) relative to the pivot, the body's motion taken out."""
    rest = points - pivot
    rest[..., :2] = turned(rest[..., :2] - place[:, None], -yaw[:, None])
    return rest


def _variance(points, yaw, place, pivot):
    """(N,) of what is left of their movement on the ground, square metres."""
    rest = _at_rest(points, yaw, place, pivot)[..., :2]
    return np.nanmean(((rest - np.nanmean(rest, axis=0)) ** 2).sum(axis=2), axis=0)


def _weights(variance, floor):
    weights = 1.0 / (variance + floor) ** 2
    return weights / weights.max()
