"""Covariances of Gaussian processes, all of them functions of inner products alone.

So a rotation of the inputs changes nothing, and one matrix of products serves every evaluation while parameters are
learnt. Parameters are positive and are learnt as logarithms; derivatives are with respect to those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass

import numpy as np

from ..core.errors import InputError

# Of rows (..., P): their covariances (..., n) with the rows it was prepared for.
Covariances = Callable[[np.ndarray], np.ndarray]


class Kernel:
    """What the kernels share; a dataclass of positive parameters each."""

    @classmethod
    def of_logs(cls, logs: np.ndarray) -> Kernel:
        """The kernel with these logarithms of its parameters."""
        return cls(*np.exp(logs).tolist())

    @property
    def logs(self) -> np.ndarray:
        """Logarithms of the parameters (p,)."""
        return np.log(astuple(self))

    @classmethod
    def typical(cls, length: float, power: float) -> Kernel:
        """What few pairs are best served with, and where learning starts: nearly linear over the inputs.

        length: mean squared norm of the inputs.  power: mean square of the outputs.
        """
        raise NotImplementedError

    def prepared(self, rows: np.ndarray) -> Covariances:
        """Covariances with rows (n, P), with all that does not depend on the other side done beforehand."""
        raise NotImplementedError

    def diagonal(self, rows: np.ndarray) -> np.ndarray:
        """Prior variance (...,) at rows (..., P)."""
        raise NotImplementedError

    def with_gradients(self, products: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """The (n, n) matrix of rows with these inner products (n, n), and its derivatives by the parameters' logs."""
        raise NotImplementedError


@dataclass(frozen=True)
class NeuralNetwork(Kernel):
    """One hidden layer of infinitely many units erf(u . (1, x)) with Gaussian weights: Williams 1998, eq. 4.

    variance 2/pi asin((weight x.z + bias) / sqrt((1 + weight |x|^2 + bias) (1 + weight |z|^2 + bias))); weight and bias
    are twice the variances of the hidden weights. Boukhayma et al. 2017, eq. 10, leaves the bias out, so that
    everything it learns is odd in x.
    """

    weight: float
    bias: float
    variance: float

    @classmethod
    def typical(cls, length: float, power: float) -> NeuralNetwork:
        """See ``Kernel``."""
        return cls(0.1 / length, 1.0, 30.0 * power)

    def prepared(self, rows: np.ndarray) -> Covariances:
        """See ``Kernel``."""
        norm = 1.0 / np.sqrt(self._length(rows))
        scaled, offset = np.ascontiguousarray((rows * (self.weight * norm)[:, None]).T), self.bias * norm
        height = self.variance * 2.0 / np.pi

        def covariances(others):
            cosine = others @ scaled
            cosine += offset
            cosine /= np.sqrt(self._length(others))[..., None]
            np.arcsin(np.clip(cosine, -1.0, 1.0, out=cosine), out=cosine)
            cosine *= height
            return cosine

        return covariances

    def diagonal(self, rows: np.ndarray) -> np.ndarray:
        """See ``Kernel``."""
        length = self._length(rows)
        return self.variance * 2.0 / np.pi * np.arcsin((length - 1.0) / length)

    def with_gradients(self, products: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """See ``Kernel``."""
        squares = self.weight * products.diagonal()
        norm = 1.0 / np.sqrt(1.0 + self.bias + squares)
        by_weight = products * norm
        by_weight *= (self.weight * norm)[:, None]
        by_bias = np.multiply.outer(self.bias * norm, norm)
        cosine = by_weight + by_bias
        # Shares of weight and bias in the two norms, which the cosine falls with.
        for part, share in ((by_weight, 0.5 * squares * norm**2), (by_bias, 0.5 * self.bias * norm**2)):
            fall = np.add.outer(share, share)
            fall *= cosine
            part -= fall
        slope = cosine * cosine
        np.sqrt(np.subtract(1.0, slope, out=slope), out=slope)
        np.divide(self.variance * 2.0 / np.pi, slope, out=slope)
        by_weight *= slope
        by_bias *= slope
        matrix = np.arcsin(cosine, out=cosine)
        matrix *= self.variance * 2.0 / np.pi
        return matrix, [by_weight, by_bias, matrix]

    def _length(self, rows):
        return 1.0 + self.bias + self.weight * np.einsum("...p,...p->...", rows, rows)


@dataclass(frozen=True)
class SquaredExponential(Kernel):
    """variance exp(-|x - z|^2 / (2 length^2))."""

    length: float
    variance: float

    @classmethod
    def typical(cls, length: float, power: float) -> SquaredExponential:
        """See ``Kernel``."""
        return cls(5.0 * np.sqrt(length), 25.0 * power)

    def prepared(self, rows: np.ndarray) -> Covariances:
        """See ``Kernel``."""
        scaled = np.ascontiguousarray(rows.T) / self.length**2
        half = self._half_square(rows)

        def covariances(others):
            exponent = others @ scaled
            exponent -= half
            exponent -= self._half_square(others)[..., None]
            np.exp(np.minimum(exponent, 0.0, out=exponent), out=exponent)
            exponent *= self.variance
            return exponent

        return covariances

    def diagonal(self, rows: np.ndarray) -> np.ndarray:
        """See ``Kernel``."""
        return np.full(np.shape(rows)[:-1], self.variance)

    def with_gradients(self, products: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """See ``Kernel``."""
        squares = products.diagonal()
        apart = np.add.outer(squares, squares)
        apart -= 2.0 * products
        apart /= self.length**2
        np.maximum(apart, 0.0, out=apart)
        matrix = self.variance * np.exp(-0.5 * apart)
        apart *= matrix
        return matrix, [apart, matrix]

    def _half_square(self, rows):
        return np.einsum("...p,...p->...", rows, rows) * (0.5 / self.length**2)


@dataclass(frozen=True)
class Linear(Kernel):
    """weight x.z + bias: Bayesian linear regression with an intercept.

    Not offered: it cannot bend. What files of earlier versions have learnt with it plays on.
    """

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


KERNELS: dict[str, type[Kernel]] = {
    "neural_network": NeuralNetwork,
    "squared_exponential": SquaredExponential,
}
_STORED = KERNELS | {"linear": Linear}


def kernel_of(name: str | type[Kernel]) -> type[Kernel]:
    """The class of a kernel by name, or itself; raises InputError for one that does not exist."""
    if isinstance(name, type):
        return name
    if name not in KERNELS:
        raise InputError(f"'{name}' is not a kernel; use one of {', '.join(KERNELS)}.")
    return KERNELS[name]


def stored_kernel_of(name: str) -> type[Kernel]:
    """As ``kernel_of``, for what was learnt, by earlier versions as well."""
    return _STORED.get(name) or kernel_of(name)


def name_of(kernel: Kernel) -> str:
    """The name that ``stored_kernel_of`` finds a kernel's class by."""
    return next(name for name, kind in _STORED.items() if kind is type(kernel))
