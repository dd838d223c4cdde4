"""Key poses of one subject for those of another: the affine mapping that regressions are measured against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.regression.pairs import finite_pairs

# Directions in which the key poses differ by less than this share of their largest difference are none.
_FLAT = 1e-9


@dataclass(frozen=True)
class AffinePoseMap:
    """The mapping of Baran et al. 2009, section 3, over vectors of poses.

    A pose gets the affine weights of least norm that give it, or what comes nearest to it, out of the source's key
    poses; the target's key poses are mixed with the same weights.  mean (P,): of the source's keys.
    inverse (P, L): from a pose's difference from the mean to what its weights differ from 1 / L.  keys (L, M).
    """

    mean: np.ndarray
    inverse: np.ndarray
    keys: np.ndarray

    @classmethod
    def fit(cls, inputs: np.ndarray, outputs: np.ndarray) -> AffinePoseMap:
        """inputs: (L, P) key poses of the source.  outputs: (L, M) those of the target.

        Exact at the key poses where none of them is an affine mix of the others, so for at most P + 1 of them; with
        more it is the least-squares affine map. An affine change of the source's space changes nothing where the
        pose is a mix of key poses. Raises InputError for fewer than two key poses and numbers that are not finite.
        """
        inputs, outputs = finite_pairs(inputs, outputs, "The mapping")
        mean = inputs.mean(axis=0)
        return cls(mean, np.linalg.pinv(inputs - mean, rcond=_FLAT), outputs)

    def weights(self, rows: np.ndarray) -> np.ndarray:
        """Weights (..., L) of poses (..., P) on the key poses; they sum to one."""
        return (np.asarray(rows, float) - self.mean) @ self.inverse + 1.0 / len(self.keys)

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Target poses (..., M) of poses (..., P)."""
        return self.weights(rows) @ self.keys
