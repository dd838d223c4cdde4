"""What Transfer costs without Blender: learning, a frame, and walking through two clips."""

from __future__ import annotations

import importlib.util
import statistics
import time
import warnings
from collections.abc import Callable

import numpy as np

from solvers.transfer.correspondence import densify
from solvers.transfer.pose_regression import PoseRegression
from solvers.transfer.regression_inputs import inputs_of_parts
from solvers.transfer.time_warping import constrained_path

from ._transfer_bodies import dance
from ._transfer_cases import COMPONENTS, direction, together

PAIRS = 350
clock = time.perf_counter


def fit_figures() -> dict[str, float | None]:
    """350 pairs of the scored set, 5 parts, 20 numbers in and 20 out, parameters learnt: ours, GPy's and scikit-learn's
    where they are there. fit_moving_s: with velocities and the torso, 40 and 80 numbers in, as Train does it.
    densify_s: five clips."""
    of = direction()
    moments = together(of.training)
    parts = [
        (given[:PAIRS, :COMPONENTS], moving[:PAIRS], wanted[:PAIRS])
        for given, moving, wanted in zip(moments.inputs, inputs_of_parts(moments.inputs), moments.outputs, strict=True)
    ]
    learnt = [PoseRegression.fit(given, wanted) for given, _, wanted in parts]
    frame = [given[7] for given, _, _ in parts]
    return {
        "fit_s": _seconds(lambda: [PoseRegression.fit(given, wanted) for given, _, wanted in parts], 5),
        "fit_moving_s": _seconds(lambda: [PoseRegression.fit(moving, wanted) for _, moving, wanted in parts], 5),
        "gpy_fit_s": _where("GPy", lambda: _seconds(lambda: [_gpy(given, wanted) for given, _, wanted in parts], 1)),
        "sklearn_fit_s": _where(
            "sklearn", lambda: _seconds(lambda: [_sklearn(given, wanted) for given, _, wanted in parts], 1)
        ),
        "predict_ms": 1e3 * _seconds(lambda: [one.predict(rows) for one, rows in zip(learnt, frame, strict=True)], 300),
        "densify_s": _seconds(lambda: densify([case.clip for case in of.training]), 5),
    }


def _scaled(given, wanted):
    centred = [rows - rows.mean(axis=0) for rows in (given, wanted)]
    return [rows / np.sqrt(np.mean(rows**2)) for rows in centred]


def _gpy(given, wanted):
    """The neural-network kernel of GPy, to the end of its optimiser."""
    import GPy

    inputs, outputs = _scaled(given, wanted)
    model = GPy.models.GPRegression(inputs, outputs, GPy.kern.MLP(inputs.shape[1]))
    model.optimize()


def _sklearn(given, wanted):
    """A squared exponential of scikit-learn, which has no neural-network kernel, to the end of its optimiser."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    inputs, outputs = _scaled(given, wanted)
    kernel = ConstantKernel(25.0, (1e-3, 1e5)) * RBF(5.0, (1e-2, 1e4)) + WhiteKernel(0.03, (0.01, 1.0))
    with warnings.catch_warnings():
        # It says that the noise ends at its bound, which is meant.
        warnings.simplefilter("ignore")
        GaussianProcessRegressor(kernel).fit(inputs, outputs)


def frame_figures() -> dict[str, float]:
    """A frame of a dance, on 20,000 faces: regression of all parts, nearest captured meshes, correction, stitching."""
    source, target, learnt, _ = dance()
    held = [np.concatenate((rows[12:13], 0.0 * rows[12:13]), axis=1) for rows in source.track.rows]
    inputs = [rows[0] for rows in inputs_of_parts(held)]

    def predicted():
        return tuple(one.predict(rows) for one, rows in zip(learnt.regressions, inputs, strict=True))

    rows = predicted()
    found = {
        "frame_ms": lambda: target.subject.assemble(predicted()),
        "frame_regression_ms": predicted,
        "frame_nearest_ms": lambda: target.subject.nearest(rows),
        "frame_not_corrected_ms": lambda: target.subject.assemble(predicted(), correct=False),
        "frame_blended_ms": lambda: target.subject.assemble(predicted(), correct=False, stitch=False),
    }
    return {key: 1e3 * _seconds(call, 60) for key, call in found.items()} | {"faces": float(len(target.triangles))}


def warp_figures() -> dict[str, float | None]:
    """The cheapest path through five pairs of tables of costs; dtw-python's, C, through none, where it is there."""
    found: dict[str, float | None] = {}
    for key, size in (("dtw", 1000), ("dtw150", 150)):
        cost = np.random.default_rng(0).random((size, size)) ** 2
        ends = np.linspace(0, size - 1, 5).astype(int)
        pairs = np.stack((ends, ends + np.array((0, size // 50, 0, -(size // 50), 0))), axis=1)
        found[f"{key}_ms"] = 1e3 * _seconds(lambda cost=cost, pairs=pairs: constrained_path(cost, pairs), 15)
        found[f"{key}_python_ms"] = _where("dtw", lambda cost=cost: 1e3 * _seconds(lambda: _dtw_python(cost), 5))
    return found


def _dtw_python(cost):
    import dtw

    dtw.dtw(cost, step_pattern="symmetricP1")


def _where(module: str, figure: Callable[[], float]) -> float | None:
    return figure() if importlib.util.find_spec(module) else None


def _seconds(call: Callable, rounds: int) -> float:
    """Median of rounds, after one that does not count."""
    call()
    taken = []
    for _ in range(rounds):
        start = clock()
        call()
        taken.append(clock() - start)
    return statistics.median(taken)
