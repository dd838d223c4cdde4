"""Gaussian process regression with many outputs that share one kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.optimize import minimize

from ..core.errors import InputError
from .kernels import Covariances, Kernel, kernel_of, name_of, stored_kernel_of
from .pairs import finite_pairs

NEURAL_NETWORK = "neural_network"
NOISE_FLOOR = 0.01
# The likelihood of fewer pairs says less about the parameters than experience does: on bodies that perform each other's
# motion the typical ones are nearer, and surer of it, up to about this many.
_FEWEST_TO_LEARN = 12
# Parameters are sought within this factor of the typical ones.
_REACH = 1e3
_STEPS = 60
# Inputs that differ by less than this share of their size do not differ.
_STILL = 1e-10


@dataclass(frozen=True)
class GaussianProcess:
    """The posterior of Rasmussen and Williams 2006, section 2.2 (Boukhayma et al. 2017, eq. 12), without a mean.

    kernel: with its parameters.  noise: sigma_n^2.  rows: (n, P) inputs.  dual: (n, M), (K + noise I)^-1 outputs.
    """

    kernel: Kernel
    noise: float
    rows: np.ndarray
    dual: np.ndarray

    @classmethod
    def fit(
        cls,
        inputs: np.ndarray,
        outputs: np.ndarray,
        kernel: str = NEURAL_NETWORK,
        noise_floor: float = NOISE_FLOOR,
        most: int = 150,
        seed: int = 0,
        spread: float | None = None,
    ) -> GaussianProcess:
        """Learn from inputs (n, P) and outputs (n, M) of one size each, both about zero; see ``PoseRegression``.

        The kernel's parameters and the noise, not below noise_floor, are those of the greatest marginal likelihood of
        at most ``most`` pairs; the posterior is that of all pairs. Fewer than twelve pairs, or outputs that are all
        zero, take the kernel's typical parameters.

        spread: what is believed of the kernel's parameters before any pair is seen: that their logarithms are normal
        about the typical ones', with this standard deviation. Then they are those of the greatest posterior instead
        (Rasmussen and Williams 2006, section 5.2). None: nothing is.

        The order of the pairs makes no difference, not even to the last bit: they are sorted first, by the norm of
        their inputs, and the ``most`` pairs are drawn by the seed from the sorted ones. So a rotation of the inputs
        draws the same pairs.

        Raises InputError for fewer than two pairs, numbers that are not finite, inputs that are all equal, a noise
        floor that is not positive, another kernel than there is, and as ``posterior``.
        """
        inputs, outputs = checked_pairs(inputs, outputs)
        if not (np.isfinite(noise_floor) and noise_floor > 0.0):
            raise InputError(f"Noise must be positive, not {noise_floor:g}.")
        if spread is not None and not (np.isfinite(spread) and spread > 0.0):
            raise InputError(f"The spread of the parameters must be positive, not {spread:g}.")
        inputs, outputs = in_one_order(inputs, outputs)
        some = _some_of(len(inputs), most, seed)
        learnt = _learnt(kernel_of(kernel), inputs[some], outputs[some], float(noise_floor), spread)
        return cls.posterior(*learnt, inputs, outputs)

    @classmethod
    def posterior(cls, kernel: Kernel, noise: float, inputs: np.ndarray, outputs: np.ndarray) -> GaussianProcess:
        """Of a kernel and a noise that are known, of pairs as for ``fit``.

        Raises InputError for a matrix that is singular in spite of the noise, which then must be raised.
        """
        return cls(kernel, noise, inputs, cho_solve((_factor(kernel, noise, inputs), True), outputs))

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Mean (..., M) at rows (..., P)."""
        return self._covariances(rows) @ self.dual

    def variance(self, rows: np.ndarray) -> np.ndarray:
        """Of each output at rows (..., P): (...,), what the pairs leave unknown and the noise, so never below that."""
        covariances = self._covariances(rows)
        flat = covariances.reshape(-1, len(self.rows))
        known = solve_triangular(self._factor, flat.T, lower=True, check_finite=False)
        unknown = self.kernel.diagonal(rows) - np.einsum("nf,nf->f", known, known).reshape(covariances.shape[:-1])
        return np.maximum(unknown, 0.0) + self.noise

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Arrays of numbers and one text that ``from_arrays`` makes the same process of."""
        return {
            "kernel": np.array(name_of(self.kernel)),
            "parameters": np.array(astuple(self.kernel)),
            "noise": np.array(self.noise),
            "rows": self.rows,
            "dual": self.dual,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> GaussianProcess:
        """The reverse of ``to_arrays``."""
        kernel = stored_kernel_of(str(arrays["kernel"]))(*np.asarray(arrays["parameters"]).tolist())
        return cls(kernel, float(arrays["noise"]), np.asarray(arrays["rows"]), np.asarray(arrays["dual"]))

    @cached_property
    def _covariances(self) -> Covariances:
        return self.kernel.prepared(self.rows)

    @cached_property
    def _factor(self) -> np.ndarray:
        return _factor(self.kernel, self.noise, self.rows)


def checked_pairs(inputs: np.ndarray, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """inputs (n, P) and outputs (n, M) as floats; InputError where a regression cannot be learnt from them."""
    inputs, outputs = finite_pairs(inputs, outputs, "A regression")
    if np.ptp(inputs, axis=0).max(initial=0.0) <= _STILL * np.abs(inputs).max(initial=0.0):
        raise InputError(
            f"The part does not move: its {len(inputs)} source poses are all equal; "
            "add pairs in which it moves, or make it part of its neighbour."
        )
    return inputs, outputs


def in_one_order(inputs: np.ndarray, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (n, P) and (n, M) sorted by the norm of their inputs, ties by all numbers: whatever order they came in."""
    norms = np.einsum("np,np->n", inputs, inputs)
    order = np.lexsort((*outputs.T[::-1], *inputs.T[::-1], norms))
    return np.ascontiguousarray(inputs[order]), np.ascontiguousarray(outputs[order])


def _some_of(count, most, seed):
    if count <= most:
        return slice(None)
    return np.sort(np.random.default_rng(seed).choice(count, most, replace=False))


def _learnt(kind, inputs, outputs, floor, spread):
    """Kernel and noise of the greatest marginal likelihood, or posterior where a spread is given."""
    power = np.mean(outputs**2) if outputs.size else 0.0
    typical = kind.typical(np.mean(np.einsum("np,np->n", inputs, inputs)), power or 1.0)
    noise = max(0.03 * power, floor)
    if len(inputs) < _FEWEST_TO_LEARN or not power:
        return typical, noise
    start = np.append(typical.logs, np.log(noise))
    reach = np.log(_REACH)
    bounds = [(value - reach, value + reach) for value in start[:-1]]
    bounds.append((np.log(floor), max(np.log(power), start[-1])))
    products = inputs @ inputs.T
    belief = np.append(np.full(len(start) - 1, 0.0 if spread is None else spread**-2), 0.0)

    def objective(logs):
        value, gradient = log_marginal_likelihood(kind.of_logs(logs[:-1]), float(np.exp(logs[-1])), products, outputs)
        away = belief * (logs - start)
        return (0.5 * away @ (logs - start) - value) / outputs.size, (away - gradient) / outputs.size

    options = {"maxiter": _STEPS, "ftol": 1e-7, "gtol": 1e-5}
    logs = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    return kind.of_logs(logs[:-1]), float(np.exp(logs[-1]))


def log_marginal_likelihood(
    kernel: Kernel, noise: float, products: np.ndarray, outputs: np.ndarray
) -> tuple[float, np.ndarray]:
    """Rasmussen and Williams 2006, eq. 2.30, summed over M outputs, and its gradient, eq. 5.9.

    products: (n, n) inner products of the inputs.  outputs: (n, M).  The gradient is by the logarithms of the kernel's
    parameters and of the noise.  Raises InputError where the matrix is singular.
    """
    count, width = outputs.shape
    matrix, slopes = kernel.with_gradients(products)
    noisy = np.asfortranarray(matrix + noise * np.eye(count))
    factor, failed = dpotrf(noisy, lower=True, clean=True, overwrite_a=True)
    if failed:
        raise _singular(noise)
    log_determinant = 2.0 * np.log(factor.diagonal()).sum()
    lower, _ = dpotri(factor, lower=True, overwrite_c=True)
    inverse = lower + lower.T
    inverse[np.diag_indices(count)] *= 0.5
    dual = inverse @ outputs
    value = -0.5 * (np.vdot(outputs, dual) + width * log_determinant + outputs.size * np.log(2.0 * np.pi))
    weights = dual @ dual.T
    weights -= np.multiply(inverse, width, out=inverse)
    gradient = [np.vdot(weights, slope) for slope in slopes]
    return value, 0.5 * np.array([*gradient, noise * weights.trace()])


def _factor(kernel, noise, rows):
    """The lower Cholesky factor (n, n) of K + noise I."""
    matrix = kernel.prepared(rows)(rows)
    matrix[np.diag_indices(len(rows))] += noise
    try:
        return cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        raise _singular(noise) from None


def _singular(noise):
    return InputError(
        f"Pairs are too alike to be learnt with a noise of {noise:.2g}: their matrix is singular. Raise Noise."
    )
