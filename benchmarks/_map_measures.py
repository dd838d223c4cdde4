"""What is measured of a mapped motion, and of poses half-way between two."""

from __future__ import annotations

import numpy as np

from benchmarks.baselines.target_representations import COMBINED, GRADIENTS, POINTS
from solvers.surface.cotangent import lumped_mass

from ._map_cases import FPS, Case, Target, from_clip, onto_itself, target
from ._map_ways import OPEN, WAYS, Mapped, target_space
from .mesh_sequences import edge_lengths, volumes

# An edge is bad when it is longer than its longest in the target's own frames, or shorter than its shortest, by more.
BAD = 0.25
TARGETS = ("horse_gallop", "horse_poses", "walking_cat", "chicken_crossing", "face_poses")
_EDGES_EVERY = 3
_MIDPOINTS = 24
# Open surfaces and heaps of parts have no volume to speak of.
_NO_VOLUME = ("face_poses", "walking_cat", "chicken_crossing")
_RUN_IN = 6
# Frames a second that maps learnt at FPS are run at.
RATES = (30, 24)


def cases() -> list[Case]:
    """Sources and targets of the comparison."""
    gallop, poses, cat = target("horse_gallop"), target("horse_poses"), target("walking_cat")
    chicken, face = target("chicken_crossing"), target("face_poses")
    own, dog = onto_itself(gallop), from_clip("dog", "walk00", gallop)
    return [
        own,
        own.amplified(2.0),
        dog,
        dog.amplified(2.0),
        from_clip("dog", "trot", gallop),
        onto_itself(poses),
        from_clip("dog", "walk00", poses),
        onto_itself(chicken),
        from_clip("bvh", "bandai/dataset-1_walk_giant_001", chicken),
        onto_itself(cat),
        from_clip("dog", "walk00", cat),
        onto_itself(face),
    ]


def measured(case: Case) -> dict[str, dict[str, float]]:
    """By way: percentages, but "acceleration", the largest against that without a box. What is not known is missing."""
    found = {}
    for name, way in WAYS.items():
        mapped = way.learn(case)
        shown = mapped.vertices(case.times)
        figures = _bad_edges(case.target, shown) | {"acceleration": peak_acceleration(shown)}
        figures |= {f"at_{fps}": _rate_change(case, mapped, fps) for fps in RATES}
        if case.is_known:
            figures |= _against_truth(case, mapped)
        found[name] = {key: float(value) for key, value in figures.items()}
    usual = found[OPEN]["acceleration"]
    for figures in found.values():
        figures["acceleration"] /= usual
    return found


def _bad_edges(mesh: Target, shown: np.ndarray) -> dict[str, float]:
    """bad: share of edges and frames.  beyond: how far edges are outside of their own range, on average."""
    own = edge_lengths(mesh.vertices, mesh.triangles)
    excess = edge_excess(edge_lengths(shown[::_EDGES_EVERY], mesh.triangles), own)
    return {"bad": 100 * (excess > BAD).mean(), "beyond": 100 * excess.mean()}


def edge_excess(lengths: np.ndarray, own: np.ndarray) -> np.ndarray:
    """(F, E): by what share lengths (F, E) are beyond the range of their own (N, E), either way; 0 inside."""
    longest, shortest = own.max(axis=0), own.min(axis=0)
    floor = 1e-9 * longest.max()
    return np.maximum(np.maximum(lengths / np.maximum(longest, floor), shortest / np.maximum(lengths, floor)) - 1, 0.0)


def peak_acceleration(shown: np.ndarray) -> float:
    """Of vertices (F, V, 3) at FPS: the mean over the mesh at the worst frame, but for the first tenth of a second."""
    second = np.diff(shown[_RUN_IN:], 2, axis=0)
    return float(np.linalg.norm(second, axis=2).mean(axis=1).max()) * FPS**2


def _rate_change(case: Case, mapped: Mapped, fps: int) -> float:
    """By how much the output changes at so many frames a second, over how much it moves (RMS)."""
    first, last = np.ceil(fps * case.times[0] + _RUN_IN * fps / FPS), np.floor(fps * case.times[-1])
    times = np.arange(first, last + 1) / fps
    usual, there = mapped.output(times, FPS), mapped.output(times, fps)
    return 100 * np.linalg.norm(there - usual) / np.linalg.norm(usual - usual.mean(axis=0))


def _against_truth(case: Case, mapped: Mapped) -> dict[str, float]:
    """Of the diagonal pose and centroid, of themselves edges and volume: at the frames that no pair was made of, but
    "all" is the pose at those as well."""
    mesh = case.target
    held_out = ~np.isin(case.truth, mapped.paired)
    found, right = mapped.vertices(case.known), mesh.vertices[case.truth]
    everywhere = np.linalg.norm(found - right, axis=2).mean()
    far = np.linalg.norm(right - mesh.vertices.mean(axis=0), axis=(1, 2))
    missed = np.linalg.norm(found - right, axis=(1, 2)) / far
    found, right = found[held_out], right[held_out]
    lengths = edge_lengths(right, mesh.triangles)
    mass = _share(mesh)
    figures = {
        "pairs": 100 * missed[~held_out].max(),
        "all": 100 * everywhere / mesh.diagonal,
        "pose": 100 * np.linalg.norm(found - right, axis=2).mean() / mesh.diagonal,
        "edges": 100 * np.abs(edge_lengths(found, mesh.triangles) - lengths).sum() / lengths.sum(),
        "centroid": 100 * np.linalg.norm(mass @ found - mass @ right, axis=1).mean() / mesh.diagonal,
    }
    if mesh.name not in _NO_VOLUME:
        figures["volume"] = 100 * np.abs(volumes(found, mesh.triangles) / volumes(right, mesh.triangles) - 1).mean()
    return figures


def midpoints(mesh: Target) -> dict[str, dict[str, float]]:
    """By representation: of poses half-way between two random ones, percent against the mean of both."""
    rng = np.random.default_rng(0)
    first, second = np.array([rng.choice(len(mesh.vertices), 2, replace=False) for _ in range(_MIDPOINTS)]).T
    one, other = mesh.vertices[first], mesh.vertices[second]
    length = 0.5 * (edge_lengths(one, mesh.triangles) + edge_lengths(other, mesh.triangles))
    found = {}
    for kind in (POINTS, GRADIENTS, COMBINED):
        space = target_space(mesh.name, kind, 50, mesh)
        shown = space.vertices_of(0.5 * (space.coefficients[first] + space.coefficients[second]))
        mass = _share(mesh)
        figures = {
            "edges": 100 * np.abs(edge_lengths(shown, mesh.triangles) - length).sum() / length.sum(),
            "centroid": 100 * np.linalg.norm(mass @ (shown - 0.5 * (one + other)), axis=1).mean() / mesh.diagonal,
        }
        if mesh.name not in _NO_VOLUME:
            usual = 0.5 * (volumes(one, mesh.triangles) + volumes(other, mesh.triangles))
            figures["volume"] = 100 * np.abs(volumes(shown, mesh.triangles) / usual - 1).mean()
        found[kind] = {key: float(value) for key, value in figures.items()}
    return found


def _share(mesh: Target) -> np.ndarray:
    """(V,) of the surface, that is around each vertex."""
    mass = lumped_mass(mesh.vertices[0], mesh.triangles)
    return mass / mass.sum()
