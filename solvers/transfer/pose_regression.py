"""From the poses of a part of one subject to those of another's, learnt from pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..regression.gaussian_process import NEURAL_NETWORK, NOISE_FLOOR, GaussianProcess, checked_pairs, in_one_order

# What is believed of the kernel's parameters, see ``GaussianProcess.fit``. The likelihood takes frames that follow each
# other for independent: by itself it is too sure of parameters that fit the clips closely and bend away from them. On
# clips of other kinds of motion (benchmarks/transfer.py) poses are 2 to 5 % nearer with typical ones, known to a fifth.
SPREAD = 0.2


@dataclass(frozen=True)
class PoseRegression:
    """A Gaussian process between centred poses of RMS one: one scale for all inputs, one for all outputs.

    So coefficients keep their sizes relative to one another, and noise is a share of how much the target's part moves.
    input_mean (P,) and output_mean (M,).  input_scale and output_scale: RMS over all the numbers of all pairs.
    """

    input_mean: np.ndarray
    input_scale: float
    output_mean: np.ndarray
    output_scale: float
    process: GaussianProcess

    @classmethod
    def fit(
        cls,
        inputs: np.ndarray,
        outputs: np.ndarray,
        kernel: str = NEURAL_NETWORK,
        noise_floor: float = NOISE_FLOOR,
    ) -> PoseRegression:
        """inputs: (n, P) rows of the source's part.  outputs: (n, M) of the target's.

        The rest as for ``GaussianProcess.fit``, in units of the two scales, with a spread of ``SPREAD``.
        Outputs that never vary are predicted as they are. Raises InputError as ``GaussianProcess.fit`` does.
        """
        # Sums, too, are to come out the same in whatever order the pairs come.
        inputs, outputs = in_one_order(*checked_pairs(inputs, outputs))
        (inputs, *input_frame), (outputs, *output_frame) = _scaled(inputs), _scaled(outputs)
        process = GaussianProcess.fit(inputs, outputs, kernel, noise_floor, spread=SPREAD)
        return cls(*input_frame, *output_frame, process)

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Target rows (..., M) of source rows (..., P)."""
        return self.process.predict(self._scaled_inputs(rows)) * self.output_scale + self.output_mean

    def variance(self, rows: np.ndarray) -> np.ndarray:
        """(...,) at source rows (..., P), of each output over output_scale: see ``GaussianProcess.variance``."""
        return self.process.variance(self._scaled_inputs(rows))

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Arrays of numbers and one text that ``from_arrays`` makes the same regression of."""
        return self.process.to_arrays() | {
            "input_mean": self.input_mean,
            "input_scale": np.array(self.input_scale),
            "output_mean": self.output_mean,
            "output_scale": np.array(self.output_scale),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> PoseRegression:
        """The reverse of ``to_arrays``."""
        input_mean, output_mean = np.asarray(arrays["input_mean"]), np.asarray(arrays["output_mean"])
        scales = float(arrays["input_scale"]), float(arrays["output_scale"])
        return cls(input_mean, scales[0], output_mean, scales[1], GaussianProcess.from_arrays(arrays))

    def _scaled_inputs(self, rows):
        return (np.asarray(rows, float) - self.input_mean) / self.input_scale


def _scaled(rows):
    """Centred rows of RMS one, their mean and scale; rows that are all equal become zero."""
    if (rows == rows[0]).all():
        return np.zeros_like(rows), rows[0], 1.0
    mean = rows.mean(axis=0)
    centred = rows - mean
    scale = float(np.sqrt(np.mean(centred**2)))
    return centred / scale, mean, scale
