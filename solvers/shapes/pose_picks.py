"""A few poses that stand for all of a motion."""

from __future__ import annotations

import numpy as np

from ..core.errors import InputError


def spread_poses(coefficients: np.ndarray, count: int) -> np.ndarray:
    """Rows of coefficients (F, D), at most count, each as far as can be from those before (Gonzalez 1985).

    The first is the one nearest to the mean: a pose that a performer finds at once. Poses that repeat others are not
    picked twice. Raises InputError for a count below one.
    """
    if count < 1:
        raise InputError(f"At least one pose must be picked, not {count}.")
    coefficients = np.asarray(coefficients, float)
    first = int(_distances(coefficients, coefficients.mean(axis=0)).argmin())
    picked, nearest = [first], _distances(coefficients, coefficients[first])
    scale = nearest.max()
    while len(picked) < min(count, len(coefficients)) and nearest.max() > 1e-6 * scale:
        picked.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, _distances(coefficients, coefficients[picked[-1]]))
    return np.array(picked)


def _distances(coefficients: np.ndarray, pose: np.ndarray) -> np.ndarray:
    return np.linalg.norm(coefficients - pose, axis=1)
