"""The neural network's kernel against the squared exponential once more: as published, and on clips of two dancers."""

from __future__ import annotations

from functools import partial

import numpy as np

from solvers.regression.gaussian_process import GaussianProcess
from solvers.surface.cotangent import lumped_mass
from solvers.transfer.clip_pair import ClipRows
from solvers.transfer.correspondence import densify
from tests.transfer_pairs import SAMBA_CRANE_STANDING, SAMBA_CRANE_STEPPING

from ._transfer_bodies import dancers, moving
from ._transfer_cases import Direction
from ._transfer_measures import errors, training_pairs
from ._transfer_ways import Way, alone, beside_torso, regression

PUBLISHED = 0.1  # Boukhayma et al. 2017, section 5.2: the noise of outputs, here of RMS one
KERNELS = ("neural_network", "squared_exponential")


def _published(inputs: np.ndarray, outputs: np.ndarray, kernel: str):
    """Each part's own rows, the parameters of the greatest likelihood with a noise of at least ``PUBLISHED``."""
    (middle, size), (shift, height) = (
        (rows.mean(axis=0), np.sqrt(np.mean((rows - rows.mean(axis=0)) ** 2))) for rows in (inputs, outputs)
    )
    process = GaussianProcess.fit((inputs - middle) / size, (outputs - shift) / height, kernel, PUBLISHED)
    return lambda rows: process.predict((rows - middle) / size) * height + shift


SETTINGS: dict[str, dict[str, Way]] = {
    "ours": {kernel: beside_torso(regression(kernel)) for kernel in KERNELS},
    "ours, parts alone": {kernel: alone(regression(kernel)) for kernel in KERNELS},
    "published": {kernel: alone(partial(_published, kernel=kernel)) for kernel in KERNELS},
}


def kernels_on_the_set(of: Direction) -> dict[str, tuple[float, float]]:
    """By setting: errors on unseen clips, mm, of both kernels, of dense pairs of ours."""
    pairs = training_pairs(of, "ours")
    return {
        name: tuple(errors(of, ways[kernel](*pairs))["unseen"] for kernel in KERNELS)
        for name, ways in SETTINGS.items()
    }


def kernels_on_dancers(backward: bool = False) -> dict[str, tuple[float, float]]:
    """By setting: errors, mm, of both kernels on a step that was not learnt from, over all steps in turn.

    Human_samba and human_crane, cut at the pairs that were marked by eye; right is what they are paired with by all
    pairs, for nobody knows better.
    """
    source, target = dancers()[::-1] if backward else dancers()
    marked = [pairs.astype(float) for pairs in (SAMBA_CRANE_STANDING, SAMBA_CRANE_STEPPING)]
    marked = [pairs[:, ::-1] for pairs in marked] if backward else marked
    dense = densify([ClipRows(source.track.rows, target.track.rows, pairs) for pairs in marked])
    here = np.concatenate([one.source_rows for one in dense])
    there = target.track.sampled(np.concatenate([one.target_rows for one in dense])).rows
    given = tuple(part[here] for part in moving(source))
    step = np.concatenate((
        np.zeros(len(dense[0].source_rows), int),
        1 + np.clip(np.searchsorted(marked[1][:, 0], dense[1].source_rows, side="right") - 1, 0, len(marked[1]) - 2),
    ))  # fmt: skip
    mass = lumped_mass(target.subject.reference, target.triangles)
    shares = np.array([mass[part.vertices].sum() for part in target.subject.parts])
    shares /= shares.sum()
    return {
        name: tuple(_left_out(ways[kernel], given, there, step, shares) for kernel in KERNELS)
        for name, ways in SETTINGS.items()
    }


def _left_out(way: Way, given, there, step, shares) -> float:
    squares = []
    for number in np.unique(step):
        out = step == number
        predict = way(tuple(part[~out] for part in given), tuple(part[~out] for part in there))
        found = predict(tuple(part[out] for part in given))
        squares.append(shares @ [np.square(a - b[out]).sum(axis=1) for a, b in zip(found, there, strict=True)])
    return float(np.sqrt(np.mean(np.concatenate(squares)))) * 1e3
