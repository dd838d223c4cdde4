"""Ways to learn poses of one subject from those of another, part by part."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.affine_pose_map import AffinePoseMap
from solvers.gaussian_process import NOISE_FLOOR
from solvers.pose_regression import PoseRegression

from ._transfer_cases import Rows

OURS, SE, LINEAR, AFFINE, AFFINE_MOVING = (
    "neural network", "squared exponential", "linear", "affine", "affine, velocities",
)  # fmt: skip
# From inputs (n, P) and outputs (n, M) to a function of inputs (N, P).
Fit = Callable[[np.ndarray, np.ndarray], Callable[[np.ndarray], np.ndarray]]


def regression(kernel: str, noise_floor: float = NOISE_FLOOR) -> Fit:
    return lambda inputs, outputs: PoseRegression.fit(inputs, outputs, kernel, noise_floor).predict


def _affine(inputs: np.ndarray, outputs: np.ndarray):
    """As published: of poses alone."""
    width = inputs.shape[1] // 2
    found = AffinePoseMap.fit(inputs[:, :width], outputs)
    return lambda rows: found.predict(rows[:, :width])


WAYS: dict[str, Fit] = {
    OURS: regression("neural_network"),
    SE: regression("squared_exponential"),
    LINEAR: regression("linear"),
    AFFINE: _affine,
    AFFINE_MOVING: lambda inputs, outputs: AffinePoseMap.fit(inputs, outputs).predict,
}


def learnt(fit: Fit, inputs: Rows, outputs: Rows) -> Callable[[Rows], Rows]:
    """A function of all parts' inputs, learnt a part."""
    found = [fit(given, wanted) for given, wanted in zip(inputs, outputs, strict=True)]
    return lambda rows: tuple(predict(part) for predict, part in zip(found, rows, strict=True))
