"""A map that meets its pairs: Bayesian ridge regression, and around each pair what that leaves out of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..core.errors import InputError
from .pairs import finite_pairs
from .ridge import NOISE, SERIOUS, disagreements

# The part of the noise that is taken for a function of the pose, and its length; features have length 1 (RMS).
_SHARE, _LENGTH = 0.5, 0.5
# A pair's own correction is this many times as wide as the nearest other pair is far, within bounds.
_WIDTH, _NARROWEST, _WIDEST = 0.7, 0.01, 1.0
# What is given back to a pair that contradicts another one fades, to nothing where so much more is asked in vain.
_FADE = 0.1
# Keeps corrections of pairs that nothing tells apart from growing against each other.
_STIFFNESS = 1e-3


@dataclass(frozen=True)
class MetPairs:
    """Ridge regression as ``PoseRidge``, of which the noise is split, and corrections around pairs.

    The noise of Rhodin et al. 2014, eq. 3, says that no pair is quite right, so each is missed, by a tenth to a half of
    its distance from the mean pose. Here half of it is a function of the pose with a short length, which the pairs tell
    where they are (universal kriging: Cressie 1993, section 3.4; Rasmussen and Williams 2006, section 2.7). What the
    rest leaves out is added around each pair, as narrow as others are near, so that what is between them stays (a level
    of Floater and Iske 1996). Where pairs are apart, and far from them, the map is nearly the ridge regression.

    rows: (n, P) features.  dual: (n, D).  local: variance of the short part.  corrections: (n, D), and widths (n,).
    """

    rows: np.ndarray
    dual: np.ndarray
    local: float
    corrections: np.ndarray
    widths: np.ndarray

    @classmethod
    def fit(cls, rows: np.ndarray, coefficients: np.ndarray, share: float = 1.0) -> MetPairs:
        """rows: (n, P) features, their last one 1.  coefficients: (n, D) of the target.

        share: of what the noise leaves out of the pairs that is given back, 0 for ``PoseRidge``, 1 to meet them. Pairs
        that contradict each other, see ``ridge.contradiction``, are averaged, the more so the more they do. Raises
        InputError for fewer than two pairs, numbers that are not finite, and a share beyond 0 to 1.
        """
        rows, coefficients = finite_pairs(np.atleast_2d(rows), np.atleast_2d(coefficients), "A map")
        if not 0.0 <= share <= 1.0:
            raise InputError(f"Pairs are met to a share from 0 to 1, not {share:g}.")
        count, local = len(rows), share * _SHARE * NOISE
        squared = _squared_distances(rows, rows)
        matrix = rows @ rows.T + local * _bumps(squared, _LENGTH) + (NOISE - local) * np.eye(count)
        dual = cho_solve(cho_factor(matrix, lower=True), coefficients)
        left = (NOISE - local) * dual  # what the noise is for: coefficients - (matrix - noise) dual
        beyond = (disagreements(rows, coefficients).max(axis=1) - SERIOUS) / _FADE
        left *= share * (1.0 - np.clip(beyond, 0.0, 1.0))[:, None]
        widths = np.clip(_WIDTH * np.sqrt(_nearest(squared)), _NARROWEST, _WIDEST)
        around = _bumps(squared, widths)
        stiff = around @ around.T + _STIFFNESS * np.eye(count)
        return cls(rows, dual, local, around.T @ np.linalg.solve(stiff, left), widths)

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Coefficients (..., D) at features (..., P)."""
        products, squared = features @ self.rows.T, _squared_distances(features, self.rows)
        near = (products + self.local * _bumps(squared, _LENGTH)) @ self.dual
        return near + _bumps(squared, self.widths) @ self.corrections


def misses(predicted: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """(n,) how far predictions (n, D) are from coefficients (n, D) of pairs, over those' distance from the mean pose.

    A pose at the mean itself is no nearer to it than a hundredth of what pairs are on average (RMS).
    """
    far = np.linalg.norm(coefficients, axis=1)
    least = max(0.01 * float(np.sqrt((far**2).mean())), np.finfo(float).tiny)
    return np.linalg.norm(predicted - coefficients, axis=1) / np.maximum(far, least)


def _bumps(squared: np.ndarray, widths: float | np.ndarray) -> np.ndarray:
    return np.exp(squared * (-0.5 / np.square(widths)))


def _squared_distances(features: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """(..., n) between features (..., P) and rows (n, P)."""
    lengths = np.einsum("...p,...p->...", features, features)[..., None]
    return np.maximum(lengths + np.einsum("np,np->n", rows, rows) - 2.0 * (features @ rows.T), 0.0)


def _nearest(squared: np.ndarray) -> np.ndarray:
    """(n,) of squared distances (n, n) the least to another one."""
    return (squared + np.diag(np.full(len(squared), np.inf))).min(axis=1)
