"""From a few pairs of poses to a linear map with its uncertainty: Bayesian ridge regression in dual form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..core.errors import InputError
from .pairs import finite_pairs

NOISE = 0.05


@dataclass(frozen=True)
class PoseRidge:
    """The predictive distribution of Rhodin et al. 2014, eq. 3, through the n x n matrix of the pairs.

    rows: (n, P) features of the paired source poses.  dual: (n, D), (rows rows^T + noise I)^-1 coefficients.
    noise: sigma^2.
    """

    rows: np.ndarray
    dual: np.ndarray
    noise: float

    @classmethod
    def fit(cls, rows: np.ndarray, coefficients: np.ndarray, noise: float = NOISE) -> PoseRidge:
        """rows: (n, P) features, their last one 1.  coefficients: (n, D) of the target.  noise: sigma^2 > 0.

        Equal to ridge regression with penalty sigma^2 and no other intercept. Repeated and contradicting pairs are
        averaged; see ``contradiction``. Raises InputError for fewer than two pairs or numbers that are not finite.
        """
        rows, coefficients = finite_pairs(np.atleast_2d(rows), np.atleast_2d(coefficients), "A map")
        if not noise > 0.0:
            raise InputError(f"The noise of a map must be positive, not {noise:g}.")
        factor = cho_factor(rows @ rows.T + noise * np.eye(len(rows)), lower=True)
        return cls(rows, cho_solve(factor, coefficients), float(noise))

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Mean (..., D) at features (..., P)."""
        return (features @ self.rows.T) @ self.dual

    def variance(self, features: np.ndarray) -> np.ndarray:
        """x^T A^-1 x (...,) at features (..., P): what the pairs leave unknown, without the noise itself."""
        return posterior_variance(features, self.rows, self.noise)


def posterior_variance(features: np.ndarray, rows: np.ndarray, noise: float = NOISE) -> np.ndarray:
    """x^T A^-1 x (...,) of features (..., P), A = I + rows^T rows / noise, by the identity of Woodbury.

    rows: (n, P), n may be zero: then it is the squared length of the features.
    """
    prior = np.einsum("...p,...p->...", features, features)
    if not len(rows):
        return prior
    covariance = features @ rows.T
    factor = cho_factor(rows @ rows.T + noise * np.eye(len(rows)), lower=True)
    solved = cho_solve(factor, covariance.reshape(-1, len(rows)).T).T.reshape(covariance.shape)
    return np.maximum(prior - np.einsum("...n,...n->...", covariance, solved), 0.0)


# A contradiction: from so much of a usual difference between targets on that is asked for in vain.
SERIOUS = 0.5


@dataclass(frozen=True)
class Contradiction:
    """Two pairs, by their place in the list, and how much of the difference they ask for noise leaves out.

    disagreement: 1 is a difference as large as two of the targets differ on average (RMS).
    """

    first: int
    second: int
    disagreement: float

    @property
    def serious(self) -> bool:
        """At least half of a usual difference between targets is lost."""
        return self.disagreement >= SERIOUS


def contradiction(rows: np.ndarray, coefficients: np.ndarray) -> Contradiction:
    """The two of n >= 2 pairs that can least be had both: alike in the source, different in the target.

    rows: (n, P) features.  coefficients: (n, D).  Raises InputError as ``PoseRidge.fit`` does.
    """
    apart = disagreements(*finite_pairs(np.atleast_2d(rows), np.atleast_2d(coefficients), "A map"))
    first, second = np.unravel_index(np.argmax(np.triu(apart, 1)), apart.shape)
    if first == second:
        first, second = 0, 1
    return Contradiction(int(first), int(second), float(apart[first, second]))


def disagreements(rows: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """(n, n) of n pairs each with each, see ``Contradiction``; rows: (n, P) features, coefficients: (n, D).

    Of two pairs alone, d apart in the features, a share of NOISE / (NOISE + d^2 / 2) of what they ask is left out.
    """
    squared = _squared_distances(coefficients)
    usual = np.sqrt(squared.sum() / (len(rows) * (len(rows) - 1)))
    lost = NOISE / (NOISE + 0.5 * _squared_distances(rows))
    return lost * np.sqrt(squared) / (usual if usual > 0.0 else 1.0)


def _squared_distances(values):
    """(n, n) between the rows of (n, D)."""
    return ((values[:, None] - values[None]) ** 2).sum(axis=2)
