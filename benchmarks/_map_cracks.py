"""How far apart vertices come that lie together in all frames of a target, on rigs as they are imported."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from solvers.core.steps import result_of
from solvers.mapping.pair_suggestion import RowSpace, scores
from solvers.mapping.source_motion import SourceModel, source_track
from solvers.mapping.track import MotionMap
from solvers.shapes.target_space import learn_target_steps
from solvers.surface.weld import coincident_pairs

from ._rig_meshes import FOLDERS, RigMesh, rig_meshes
from .datasets import data_folder

PAIRS, GAIN, FPS = 6, 2.0, 24.0
# Of the diagonal: nearer ones, in all frames, lie together.
_TOGETHER = 1e-5
_SMALLEST = 8


def crack_figures() -> dict[str, float]:
    """crack_pct_<rig>: the widest crack of its meshes over their diagonals, percent, by a map of 6 pairs from its own
    joints, as they move and twice as far from their mean.  split_pct_<rig>: the same if each vertex moves by itself."""
    figures = {}
    for file in rig_files():
        name = f"{file.parent.name}_{file.stem}".lower()
        meshes = list(rig_meshes(file, _SMALLEST))
        moving = [mesh for mesh in meshes if np.ptp(mesh.vertices, axis=0).max() > 1e-4 * mesh.diagonal]
        for key, is_split in (("crack", False), ("split", True)):
            figures[f"{key}_pct_{name}"] = max(100 * widest_crack(mesh, is_split) for mesh in moving)
    return figures


def rig_files() -> list[Path]:
    """All that there are."""
    return [file for folder in FOLDERS for file in sorted((data_folder() / folder).rglob("*.glb"))]


def widest_crack(mesh: RigMesh, is_split: bool = False) -> float:
    """Over the diagonal. is_split: each vertex moves by itself, as once it did."""
    pairs = together(mesh.vertices, _TOGETHER * mesh.diagonal)
    same = np.arange(mesh.vertices.shape[1]) if is_split else None
    space = result_of(learn_target_steps(mesh.vertices, mesh.triangles, same=same))
    shown = space.vertices_of(mapped(mesh, space))
    return float(np.linalg.norm(shown[:, pairs[:, 0]] - shown[:, pairs[:, 1]], axis=2).max(initial=0.0)) / mesh.diagonal


def together(vertices: np.ndarray, tolerance: float) -> np.ndarray:
    """Pairs (P, 2) of vertices (F, V, 3) that are no farther apart in any frame."""
    pairs = coincident_pairs(vertices[0], tolerance)
    apart = np.max([np.linalg.norm(frame[pairs[:, 0]] - frame[pairs[:, 1]], axis=1) for frame in vertices], axis=0)
    return pairs[apart <= tolerance]


def mapped(mesh: RigMesh, space) -> np.ndarray:
    """Coefficients (2 F, D) by pairs of best score: of the source as it is, and as it swings twice as far."""
    times = np.arange(len(mesh.points)) / FPS
    model = SourceModel.fit(tuple(map(str, range(mesh.points.shape[1]))), mesh.points, times, "none", tracked=False)
    mean = mesh.points.mean(axis=0)
    rows, wide = (
        source_track(model, mean + gain * (mesh.points - mean), times, tracked=False).features for gain in (1.0, GAIN)
    )
    known, picks = RowSpace.of(rows), []
    for _ in range(PAIRS):
        picks.append(int(np.argmax(scores(known, rows[picks]))))
    mapping = MotionMap.learn(rows[picks], space.coefficients[picks], space.box)
    return mapping.coefficients(np.concatenate((rows, wide)))
