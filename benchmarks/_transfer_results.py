"""All that the manual's page on Transfer says, measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import _transfer_measures as measures
from . import _transfer_seams as seams
from ._transfer_cases import direction, key_rows
from ._transfer_kernels import kernels_on_dancers, kernels_on_the_set
from ._transfer_ways import AFFINE, OURS, WAYS
from ._transfer_world import in_the_world


@dataclass(frozen=True)
class Results:
    """By direction's name, unless said.  curves, keyed, whole: by way, see ``learning_curves``; of pairs at random, of
    key poses first, and of the whole body as one part.  seams: by who performs."""

    curves: dict[str, dict[str, np.ndarray]]
    keyed: dict[str, dict[str, np.ndarray]]
    whole: dict[str, dict[str, np.ndarray]]
    pairs: dict[str, dict]
    whole_pairs: dict[str, dict]
    floors: dict[str, dict]
    timing: dict[str, dict]
    seeds: dict[str, dict]
    ablations: dict[str, dict]
    drift: dict[str, dict]
    world: dict[str, dict[str, dict[str, float]]]
    kernels: dict[str, dict[str, tuple[float, float]]]
    phases: dict[str, dict[str, float]]
    seams: dict[str, dict[str, float]]


def results() -> Results:
    found = Results(*({} for _ in range(14)))
    for backward in (False, True):
        of, body = direction(backward), direction(backward, whole=True)
        name, keys = of.name, key_rows(of.training)
        found.curves[name] = measures.learning_curves(of)
        found.keyed[name] = measures.learning_curves(of, first=keys)
        found.whole[name] = measures.learning_curves(body, {way: WAYS[way] for way in (OURS, AFFINE)})
        found.pairs[name] = measures.by_pairs(of)
        found.whole_pairs[name] = measures.by_pairs(body, ("ours", measures.TRUTH), (OURS, AFFINE))
        found.floors[name] = measures.floors(of)
        found.timing[name] = measures.timing(of)
        found.seeds[name] = measures.other_seeds(backward)
        found.ablations[name] = measures.ablations(of)
        found.drift[name] = measures.drift(of)
        found.world[name] = in_the_world(of)
        start, end = name.split(" to ")
        found.kernels[f"unseen clips of the set, {name}"] = kernels_on_the_set(of)
        dancers = "crane to samba" if backward else "samba to crane"
        found.kernels[f"a step left out, {dancers}"] = kernels_on_dancers(backward)
        found.phases[f"walk, {start} to {end}"] = measures.walk_phases(backward)
        found.phases[f"gallop, {'camel to horse' if backward else 'horse to camel'}"] = measures.gallop_phases(backward)
        found.seams["crane by samba" if backward else "samba by crane"] = seams.of_dancers(backward)
        found.seams[f"the set, by {end}"] = seams.of_set(backward)
        print(f"{name} is measured.", flush=True)
    return found
