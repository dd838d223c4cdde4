"""Bayesian linear regression as a Gaussian process: what a kernel that can bend is compared with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.regression.kernels import Covariances, Kernel


@dataclass(frozen=True)
class Linear(Kernel):
    """weight x.z + bias: Bayesian linear regression with an intercept."""

    weight: float
    bias: float

    @classmethod
    def typical(cls, length: float, power: float) -> Linear:
        """See ``Kernel``."""
        return cls(power / length, power)

    def prepared(self, rows: np.ndarray) -> Covariances:
        """See ``Kernel``."""
        scaled = np.ascontiguousarray(rows.T) * self.weight
        return lambda others: others @ scaled + self.bias

    def diagonal(self, rows: np.ndarray) -> np.ndarray:
        """See ``Kernel``."""
        return self.weight * np.einsum("...p,...p->...", rows, rows) + self.bias

    def with_gradients(self, products: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """See ``Kernel``."""
        by_weight = self.weight * products
        return by_weight + self.bias, [by_weight, np.full_like(products, self.bias)]
