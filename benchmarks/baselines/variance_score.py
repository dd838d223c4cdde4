"""Which frame of a source to pair next as published: where the map knows least (Rhodin et al. 2014, section 4.3)."""

from __future__ import annotations

import numpy as np

from solvers.mapping.pair_suggestion import RowSpace, posterior
from solvers.regression.ridge import NOISE


def variance_scores(space: RowSpace, chosen: np.ndarray, noise: float = NOISE) -> np.ndarray:
    """(F,) the variance at each counted frame itself, of features (n, P) of the paired poses; see ``scores``."""
    return np.where(space.counted, posterior(space, chosen, noise)[0], 0.0)
