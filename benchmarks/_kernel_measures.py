"""The neural network's kernel and the squared exponential on clips that neither has seen, pair by pair of bodies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from solvers.regression.gaussian_process import GaussianProcess
from solvers.regression.kernels import KERNELS, Kernel, NeuralNetwork, kernel_of
from solvers.regression.leave_one_out import leave_groups_out
from solvers.transfer.pose_regression import SPREAD

from ._kernel_cases import CONFIGURATIONS, SUGGESTED, KernelCase, kernel_cases

NETWORK, EXPONENTIAL = KERNELS
BELIEVED, EVIDENCE, LEFT_OUT = "as Transfer", "evidence alone", "a stretch left out"
# What the third setting chooses from: reach and noise, times and as shares of the typical.
_REACHES, _NOISES = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8), (0.01, 0.03, 0.1)
# Poses that the third setting is tried up to: it solves for all of them 21 times a part.
MOST = 400


@dataclass(frozen=True)
class Compared:
    """Of one case: errors on the unseen clip, over the body's size, by setting and kernel; and by kernel what a clip
    that was left out is missed by, mean square, over that of the poses."""

    bodies: str
    group: str
    unseen: str
    count: int
    how: str
    errors: dict[tuple[str, str], float]
    missed: dict[str, float]

    @property
    def body(self) -> str:
        """What counts as one: a pair of animals, or a clip of the two people."""
        return f"{self.bodies}, {self.unseen}" if self.group.startswith("people") else self.bodies


def compared(case: KernelCase, count: int, how: str, seed: int, settings: tuple[str, ...]) -> Compared:
    pairs = case.pairs(count, how, seed)
    inputs, outputs, stretch = case.dense(pairs)
    errors, missed = {}, {}
    for kernel in KERNELS:
        for setting in settings:
            if setting == LEFT_OUT and len(stretch) > MOST:
                continue
            fit = partial(_FITS[setting], kernel=kernel, stretch=stretch)
            sides = zip(inputs, outputs, case.shown, strict=True)
            found = [_predicted(fit, *side) for side in sides]
            squares = case.squares([rows for rows, _ in found])
            errors[setting, kernel] = float(np.sqrt(case.shares @ squares))
            if setting == BELIEVED:
                clip = stretch // 1000
                missed[kernel] = float(
                    case.shares @ [_missed(process, *scaled, clip) for _, (process, *scaled) in found]
                )
    return Compared(case.name, case.group, case.unseen, count, how, errors, missed)


def _predicted(fit, inputs, outputs, shown):
    """Rows of the unseen clip, and the process with what it was learnt from, scaled as ``PoseRegression`` does."""
    (given, middle, size), (wanted, shift, height) = _scaled(inputs), _scaled(outputs)
    process = fit(given, wanted)
    return process.predict((shown - middle) / size) * height + shift, (process, given, wanted)


def _scaled(rows):
    middle = rows.mean(axis=0)
    size = float(np.sqrt(np.mean((rows - middle) ** 2))) or 1.0
    return (rows - middle) / size, middle, size


def _missed(process: GaussianProcess, inputs: np.ndarray, outputs: np.ndarray, groups: np.ndarray) -> float:
    """Mean square where a group at a time is not learnt from."""
    covariances = process.kernel.prepared(inputs)(inputs) + process.noise * np.eye(len(inputs))
    return float(np.mean(leave_groups_out(covariances, outputs, groups) ** 2))


def reaching(kernel: str, inputs: np.ndarray, reaches: Iterable[float]) -> Iterator[Kernel]:
    """Kernels of a name that reach so many times as far as is typical of inputs (n, P)."""
    kind = kernel_of(kernel)
    typical = kind.typical(float(np.mean(np.einsum("np,np->n", inputs, inputs))), 1.0)
    for reach in reaches:
        if kind is NeuralNetwork:
            yield kind(typical.weight / reach**2, typical.bias, typical.variance)
        else:
            yield kind(typical.length * reach, typical.variance)


def _by_stretches(inputs, outputs, kernel, stretch) -> GaussianProcess:
    found = []
    for tried in reaching(kernel, inputs, _REACHES):
        for noise in _NOISES:
            covariances = tried.prepared(inputs)(inputs) + noise * np.eye(len(inputs))
            found.append(
                (float(np.mean(leave_groups_out(covariances, outputs, stretch) ** 2)), len(found), tried, noise)
            )
    return GaussianProcess.posterior(*min(found)[2:], inputs, outputs)


def _believed(inputs, outputs, kernel, stretch, spread=SPREAD) -> GaussianProcess:
    return GaussianProcess.fit(inputs, outputs, kernel, spread=spread)


_FITS = {BELIEVED: _believed, EVIDENCE: partial(_believed, spread=None), LEFT_OUT: _by_stretches}


def kernels_compared(quick: bool = False) -> Iterator[Compared]:
    """Of every case, or one of each group, and each number of pairs."""
    for case in kernel_cases(quick):
        for seed, (count, how) in enumerate(CONFIGURATIONS):
            settings = (BELIEVED, EVIDENCE, LEFT_OUT) if (count, how) == (6, SUGGESTED) else (BELIEVED, EVIDENCE)
            yield compared(case, count, how, seed, settings)
