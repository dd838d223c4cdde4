"""What all other pairs predict of each pair, without learning anything again."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve


def leave_one_out(covariances: np.ndarray, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By how much (n, M) each pair's outputs are off what the others predict, and how uncertain (n,) that is.

    covariances: (n, n) of the pairs, with the noise on the diagonal.  outputs: (n, M).
    With K the covariances, pair i is missed by (K^-1 Y)_i / (K^-1)_ii, with the variance 1 / (K^-1)_ii (Rasmussen and
    Williams 2006, section 5.4.2).  Raises LinAlgError where the covariances are not positive definite.
    """
    inverse = cho_solve(cho_factor(covariances, lower=True), np.eye(len(covariances)))
    unknown = 1.0 / np.diag(inverse)
    return (inverse @ outputs) * unknown[:, None], unknown


def leave_groups_out(covariances: np.ndarray, outputs: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The same (n, M) where all of a group, numbers (n,), are left out together, as the frames of a clip.

    With B the places of a group, it is missed by ((K^-1)_BB)^-1 (K^-1 Y)_B, which follows from the block inverse as
    the above does.
    """
    inverse = cho_solve(cho_factor(covariances, lower=True), np.eye(len(covariances)))
    asked, missed = inverse @ outputs, np.empty_like(outputs, float)
    for group in np.unique(groups):
        of = np.flatnonzero(groups == group)
        missed[of] = np.linalg.solve(inverse[np.ix_(of, of)], asked[of])
    return missed
