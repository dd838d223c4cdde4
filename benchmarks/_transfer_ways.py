"""Ways to learn poses of one subject from those of another."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.baselines.affine_pose_map import AffinePoseMap
from solvers.regression.gaussian_process import NOISE_FLOOR
from solvers.regression.kernels import Kernel, Linear
from solvers.transfer.pose_regression import PoseRegression
from solvers.transfer.regression_inputs import inputs_of_parts

from ._transfer_cases import Rows

OURS, SE, LINEAR, AFFINE, AFFINE_MOVING = (
    "neural network", "squared exponential", "linear", "affine", "affine, velocities",
)  # fmt: skip
OURS_ALONE, SE_ALONE, LINEAR_ALONE = (f"{way}, parts alone" for way in (OURS, SE, LINEAR))
# Of one part: from inputs (n, P) and outputs (n, M) to a function of inputs (N, P).
Fit = Callable[[np.ndarray, np.ndarray], Callable[[np.ndarray], np.ndarray]]
# The same of all parts, of poses and velocities of each.
Way = Callable[[Rows, Rows], Callable[[Rows], Rows]]


def regression(kernel: str | type[Kernel], noise_floor: float = NOISE_FLOOR) -> Fit:
    return lambda inputs, outputs: PoseRegression.fit(inputs, outputs, kernel, noise_floor).predict


def alone(fit: Fit) -> Way:
    """Each part from itself, as in Boukhayma et al. 2017, section 4."""

    def learnt(inputs, outputs):
        found = [fit(given, wanted) for given, wanted in zip(inputs, outputs, strict=True)]
        return lambda rows: tuple(predict(part) for predict, part in zip(found, rows, strict=True))

    return learnt


def beside_torso(fit: Fit) -> Way:
    """Limbs from themselves and the torso, as Transfer does it."""

    def learnt(inputs, outputs):
        predict = alone(fit)(inputs_of_parts(inputs), outputs)
        return lambda rows: predict(inputs_of_parts(rows))

    return learnt


def _affine(inputs: np.ndarray, outputs: np.ndarray):
    """As published: of poses alone."""
    width = inputs.shape[1] // 2
    found = AffinePoseMap.fit(inputs[:, :width], outputs)
    return lambda rows: found.predict(rows[:, :width])


def _affine_moving(inputs: np.ndarray, outputs: np.ndarray):
    return AffinePoseMap.fit(inputs, outputs).predict


WAYS: dict[str, Way] = {
    OURS: beside_torso(regression("neural_network")),
    SE: beside_torso(regression("squared_exponential")),
    LINEAR: beside_torso(regression(Linear)),
    OURS_ALONE: alone(regression("neural_network")),
    SE_ALONE: alone(regression("squared_exponential")),
    LINEAR_ALONE: alone(regression(Linear)),
    AFFINE: alone(_affine),
    AFFINE_MOVING: beside_torso(_affine_moving),
}
