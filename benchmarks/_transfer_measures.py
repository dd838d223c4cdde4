"""How well Transfer does on the scored set, beside other ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from benchmarks.baselines.linear_map_cost import densify_by_linear_maps
from benchmarks.baselines.paper_displacement import PaperDisplacement
from solvers.core.interpolation import BetweenRows
from solvers.regression.gaussian_process import NOISE_FLOOR, GaussianProcess
from solvers.surface.cotangent import lumped_mass
from solvers.transfer.correspondence import GAUSSIAN_PROCESS, LINE, ClipRows, DenseClip, densify
from solvers.transfer.regression_inputs import inputs_of_parts
from solvers.transfer.rigid_motion import RigidTransfer
from solvers.transfer.surface_transfer import bodies_of, rigid_pairs

from ._transfer_bodies import gallopers, moving
from ._transfer_cases import Case, Direction, Rows, direction, direction_of, subjects_of, together
from ._transfer_ways import (
    AFFINE,
    LINEAR,
    OURS,
    OURS_ALONE,
    SE,
    SE_ALONE,
    WAYS,
    Way,
    alone,
    beside_torso,
    regression,
)
from .transfer_set import transfer_set

SIZES, SPLITS, SHARE = (25, 50, 100, 150, 200, 246), 5, 0.7
TRUTH, SPARSE = "truth", "key poses"
COSTS: dict[str, Callable[[list[ClipRows]], list[DenseClip]]] = {
    "ours": partial(densify, cost=GAUSSIAN_PROCESS),
    "paper": densify_by_linear_maps,
    "line": partial(densify, cost=LINE),
}
PHASES = 4
SEEDS = (0, 1, 2, 3)
# One way over another, on unseen clips.
OVER = (
    ("parts alone", OURS, OURS_ALONE),
    ("squared exponential", OURS, SE),
    ("linear", OURS, LINEAR),
    ("squared exponential, both of parts alone", OURS_ALONE, SE_ALONE),
)


# ------------------------------------------------------------------------------------------------- learning curves


def learning_curves(
    of: Direction, ways: dict[str, Way] = WAYS, first: np.ndarray | None = None, splits: int = SPLITS
) -> dict[str, np.ndarray]:
    """By way (2, sizes): errors, mm, of what was learnt from and of the rest, means over random splits 70 to 30 of all
    true pairs (Boukhayma et al. 2017, figure 7).  first: pairs that all training begins with (figure 8)."""
    moments = together(of.training)
    found = {name: np.zeros((2, len(SIZES))) for name in ways}
    for seed in range(splits):
        chosen, rest = _split(len(moments.inputs[0]), seed, first)
        for column, size in enumerate(SIZES):
            some = moments.taken(chosen[:size])
            for name, fit in ways.items():
                predict = fit(some.inputs, some.outputs)
                for row, part in enumerate((some, moments.taken(rest))):
                    found[name][row, column] += of.error(predict(part.inputs), part) / splits
    return found


def _split(count: int, seed: int, first: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(seed).permutation(count)
    if first is not None:
        order = np.concatenate((first, order[~np.isin(order, first)]))
    return order[: round(SHARE * count)], order[round(SHARE * count) :]


# --------------------------------------------------------------------------------------------------- pairs of frames


def dense_clips(of: Direction, cost: str) -> list[DenseClip]:
    return COSTS[cost]([case.clip for case in of.training])


def timing(of: Direction) -> dict[str, dict[str, float]]:
    """By cost: errors of paired times against the truth, ms: mean, and root mean square."""
    found = {}
    for name in COSTS:
        both = zip(dense_clips(of, name), of.training, strict=True)
        away = np.concatenate([dense.target_rows - case.truth[dense.source_rows] for dense, case in both])
        away = np.abs(away) * 1e3 / of.fps
        found[name] = {"mean": float(away.mean()), "rms": float(np.sqrt(np.mean(away**2)))}
    return found


def training_pairs(of: Direction, kind: str) -> tuple[Rows, Rows]:
    """Inputs and outputs, part by part, of true pairs, of key poses alone, or of what those are made dense to."""
    if kind == TRUTH:
        moments = together(of.training)
        return moments.inputs, moments.outputs
    if kind == SPARSE:
        sides = [replace(case.clip, source=case.moving).paired() for case in of.training]
    else:
        sides = []
        for dense, case in zip(dense_clips(of, kind), of.training, strict=True):
            there = BetweenRows.at_places(dense.target_rows, len(case.there))
            given = tuple(part[dense.source_rows] for part in case.moving)
            sides.append((given, tuple(there.of(part) for part in case.there.rows)))
    return tuple(tuple(np.concatenate(part) for part in zip(*side, strict=True)) for side in zip(*sides, strict=True))


def errors(of: Direction, predict: Callable[[Rows], Rows]) -> dict[str, float]:
    """Of all training clips, mm, of each unseen one, and their root mean square."""
    everything = together(of.training)
    found = {"training": of.error(predict(everything.inputs), everything)}
    for case in of.unseen:
        found[case.name] = of.error(predict(case.moments.inputs), case.moments)
    found["unseen"] = float(np.sqrt(np.mean([found[case.name] ** 2 for case in of.unseen])))
    return found


def by_pairs(of: Direction, kinds=(SPARSE, "line", "paper", "ours", TRUTH), ways=tuple(WAYS)) -> dict:
    """By (pairs, way): ``errors``."""
    found = {}
    for kind in kinds:
        inputs, outputs = training_pairs(of, kind)
        for name in ways:
            found[kind, name] = errors(of, WAYS[name](inputs, outputs))
    return found


def floors(of: Direction) -> dict[str, dict[str, float]]:
    """What no way can be better than, and what a mean pose is."""
    mean = tuple(part.mean(axis=0) for part in together(of.training).answers)
    cases = {"training": together(of.training)} | {case.name: case.moments for case in of.unseen}
    found = {"components": {}, "mean pose": {}}
    for name, moments in cases.items():
        found["components"][name] = of.error(moments.answers, moments)
        found["mean pose"][name] = of.error(mean, moments)
    for row in found.values():
        row["unseen"] = float(np.sqrt(np.mean([row[case.name] ** 2 for case in of.unseen])))
    return found


def other_seeds(backward: bool) -> dict[int, dict[str, float]]:
    """By seed of noise, time and key poses: ratios of errors on unseen clips, by ways and pairs; of ours on training
    clips over those of key poses and of even time; and of the times themselves."""
    found = {}
    for seed in SEEDS:
        scored = transfer_set.__wrapped__(seed)
        of = direction_of(scored, subjects_of(scored), backward)
        pairs = by_pairs(of, (SPARSE, "line", "ours", TRUTH), (OURS, SE, LINEAR, OURS_ALONE, SE_ALONE))
        times = timing(of)
        found[seed] = {
            f"{label}, {pairing}": pairs[kind, way]["unseen"] / pairs[kind, other]["unseen"]
            for label, way, other in OVER
            for kind, pairing in (("ours", "dense"), (TRUTH, "true"))
        } | {
            "key poses alone": pairs["ours", OURS]["training"] / pairs[SPARSE, OURS]["training"],
            "straight line": pairs["ours", OURS]["training"] / pairs["line", OURS]["training"],
            "times, straight line": times["ours"]["mean"] / times["line"]["mean"],
        }
    return found


# --------------------------------------------------------------------------------------------------------- ablations


def ablations(of: Direction, kind: str = "ours") -> dict[str, dict[str, float]]:
    """``errors`` where one thing is done another way."""
    inputs, outputs = training_pairs(of, kind)
    spread = [part.std(axis=0) for part in inputs]
    halves = [part.shape[1] // 2 for part in inputs]
    scale = [np.sqrt(np.mean((part - part.mean(axis=0)) ** 2)) for part in outputs]
    all_scale = np.sqrt(np.mean(np.square(scale)))

    def changed(change, floors=None):
        def seen(given):
            return inputs_of_parts([change(part, number) for number, part in enumerate(given)])

        fits = [regression("neural_network", floor) for floor in floors or [NOISE_FLOOR] * len(inputs)]
        found = [fit(given, wanted) for fit, given, wanted in zip(fits, seen(inputs), outputs, strict=True)]
        return lambda given: tuple(predict(part) for predict, part in zip(found, seen(given), strict=True))

    same = lambda part, number: part  # noqa: E731
    ways = {
        "ours": changed(same),
        "parts alone": WAYS[OURS_ALONE](inputs, outputs),
        "all parts seen": _seeing_all(inputs, outputs),
        "greatest likelihood": beside_torso(_likeliest)(inputs, outputs),
        "inputs whitened": changed(lambda part, number: part / spread[number]),
        "no velocity": changed(lambda part, number: part[:, : halves[number]]),
        "noise 0.1 a part": changed(same, [0.1] * len(inputs)),
        "noise 0.1, one unit for all": changed(same, [0.1 * (all_scale / one) ** 2 for one in scale]),
    }
    return {name: errors(of, predict) for name, predict in ways.items()}


def _seeing_all(inputs: Rows, outputs: Rows):
    """Each part from all parts."""
    fit = alone(regression("neural_network"))
    predict = fit([np.concatenate(inputs, axis=1)] * len(inputs), outputs)
    return lambda rows: predict([np.concatenate(rows, axis=1)] * len(rows))


def _likeliest(inputs: np.ndarray, outputs: np.ndarray):
    """Our regression with nothing believed of the kernel's parameters beforehand."""
    (middle, size), (shift, height) = (
        (rows.mean(axis=0), np.sqrt(np.mean((rows - rows.mean(axis=0)) ** 2))) for rows in (inputs, outputs)
    )
    process = GaussianProcess.fit((inputs - middle) / size, (outputs - shift) / height)
    return lambda rows: process.predict((rows - middle) / size) * height + shift


# ------------------------------------------------------------------------------------------------------- where it is


def drift(of: Direction) -> dict[str, dict[str, float]]:
    """By way, on unseen clips from the right start: how far the torso is off on the ground, m, mean and worst, and its
    heading, degrees, mean; learnt from dense pairs of ours."""
    dense = dense_clips(of, "ours")
    pairs = rigid_pairs([(case.here, case.there, one) for case, one in zip(of.training, dense, strict=True)])
    ours = RigidTransfer.learn(pairs, bodies_of(of.source, of.target))
    paper = PaperDisplacement.learn(pairs)
    found = {"ours": [], "paper": []}
    for case in of.unseen:
        here = case.here.sampled(case.places)
        right = case.answered
        found["ours"].append(_away(*ours.apply(here.rotations, here.translations), right))
        start = replace(paper, rotation=right.rotations[0], place=right.translations[0])
        found["paper"].append(_away(*start.apply(here.rotations, here.translations), right))
    return {
        name: {"mean": float(np.mean([row[0] for row in rows])), "worst": float(max(row[1] for row in rows)),
               "heading": float(np.mean([row[2] for row in rows]))}
        for name, rows in found.items()
    }  # fmt: skip


def _away(rotations, translations, right) -> tuple[float, float, float]:
    moved = translations - translations[0] + right.translations[0]
    away = np.linalg.norm(moved[:, :2] - right.translations[:, :2], axis=1)
    turn = rotations @ np.swapaxes(right.rotations, 1, 2)
    yaw = np.arctan2(turn[:, 1, 0] - turn[:, 0, 1], turn[:, 0, 0] + turn[:, 1, 1])
    return float(away.mean()), float(away.max()), float(np.degrees(np.abs(yaw).mean()))


# ------------------------------------------------------------------------------------------------------------- cycles


def phases(rows: np.ndarray) -> np.ndarray:
    """(F,) of a cycle, 0 to 1: the angle in the first two principal components of rows (F, D)."""
    centred = rows - rows.mean(axis=0)
    along = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    along /= np.sqrt(np.mean(along**2, axis=0))
    return np.mod(np.arctan2(along[:, 1], along[:, 0]) / (2 * np.pi), 1.0)


def left_out_phases(inputs: Rows, outputs: Rows, answers: Rows, phase: np.ndarray, shares: np.ndarray) -> dict:
    """By way: error at a quarter of the cycle that nothing was learnt from, over how much that pose moves, percent,
    mean over the quarters.  "nearest": the output of the nearest pair."""
    ways = {name: WAYS[name] for name in (OURS, SE, AFFINE)} | {"nearest": alone(_nearest)}
    found = dict.fromkeys(ways, 0.0)
    for quarter in range(PHASES):
        out = (phase * PHASES).astype(int) % PHASES == quarter
        for name, fit in ways.items():
            predict = fit(tuple(part[~out] for part in inputs), tuple(part[~out] for part in outputs))
            pieces = zip(predict(tuple(part[out] for part in inputs)), answers, strict=True)
            of_parts = [
                np.mean(np.square(rows - right[out]).sum(axis=1))
                / np.mean(np.square(right - right.mean(axis=0)).sum(axis=1))
                for rows, right in pieces
            ]
            found[name] += 100 * float(np.sqrt(shares @ of_parts)) / PHASES
    return found


def _nearest(inputs: np.ndarray, outputs: np.ndarray):
    return lambda rows: outputs[np.square(rows[:, None] - inputs).sum(axis=2).argmin(axis=1)]


def gallop_phases(backward: bool = False) -> dict[str, float]:
    """The same of a gallop, from the horse to the camel or back: one cycle, and what is right is what was captured."""
    source, target = gallopers()[::-1] if backward else gallopers()
    rows = target.track.rows
    mass = lumped_mass(target.subject.reference, target.triangles)
    areas = np.array([mass[part.vertices].sum() for part in target.subject.parts])
    return left_out_phases(moving(source), rows, rows, np.arange(len(rows[0])) / len(rows[0]), areas / areas.sum())


def walk_phases(backward: bool = False) -> dict[str, float]:
    """``left_out_phases`` of the walk of the set, of about two cycles."""
    of = direction(backward)
    case: Case = next(case for case in of.training if case.name == "walk")
    legs = np.concatenate(case.moments.answers[3:], axis=1)
    moments = case.moments
    return left_out_phases(moments.inputs, moments.outputs, moments.answers, phases(legs), of.shares)
