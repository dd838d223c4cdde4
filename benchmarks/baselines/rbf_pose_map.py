"""Paired poses interpolated by radial basis functions, as rigs interpolate correctives between sculpted poses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import RBFInterpolator

from solvers.regression.pairs import finite_pairs


@dataclass(frozen=True)
class RbfPoseMap:
    """Pose space interpolation (Lewis et al. 2000, section 4) with the kernel -r, the biharmonic one in space.

    It needs no width to be chosen; a constant is added. Exact at the pairs.
    """

    spline: RBFInterpolator

    @classmethod
    def fit(cls, inputs: np.ndarray, outputs: np.ndarray) -> RbfPoseMap:
        """inputs: (n, P) paired poses of the source, none twice.  outputs: (n, M) those of the target.

        Raises InputError for fewer than two pairs and numbers that are not finite.
        """
        inputs, outputs = finite_pairs(inputs, outputs, "The interpolation")
        return cls(RBFInterpolator(inputs, outputs, kernel="linear", degree=0))

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Target poses (N, M) of poses (N, P)."""
        return self.spline(rows)
