"""What is scored of a mapped motion."""

from __future__ import annotations

import numpy as np

from ._map_measures import BAD, edge_excess
from ._map_score_cases import ScoreCase
from ._map_score_ways import OURS, WAYS
from .mesh_sequences import edge_lengths

_EDGES_EVERY = 3
# Frames at a clip's start in which nothing is known of how the pose came about.
_RUN_IN = 3


def scored(case: ScoreCase) -> dict[str, dict[str, float] | str]:
    """By way: percentages, and "acceleration" over that of what is right, or of ours where nobody knows it.

    In place of figures, why a way has none.
    """
    found = {name: way(case) for name, way in WAYS.items()}
    usual = _acceleration(case, found[OURS] if case.truth is None else case.truth)
    return {name: shown if isinstance(shown, str) else _figures(case, shown, usual) for name, shown in found.items()}


def _figures(case: ScoreCase, shown: np.ndarray, usual: float) -> dict[str, float]:
    own = edge_lengths(case.target, case.triangles)
    every = np.flatnonzero(case.counted | case.unseen)[::_EDGES_EVERY]
    excess = edge_excess(edge_lengths(shown[every], case.triangles), own)
    figures = {"bad": 100 * (excess > BAD).mean()}
    if _is_moving(case):
        figures["acceleration"] = _acceleration(case, shown) / usual
    if case.truth is not None:
        off = 100 * np.linalg.norm(shown - case.truth, axis=2).mean(axis=1) / case.diagonal
        figures["pose"] = off[case.counted].mean()
        if case.unseen.any():
            figures["unseen"] = off[case.unseen].mean()
        right = edge_lengths(case.truth[every], case.triangles)
        figures["edges"] = 100 * np.abs(edge_lengths(shown[every], case.triangles) - right).sum() / right.sum()
    return {key: float(value) for key, value in figures.items()}


def _is_moving(case: ScoreCase) -> bool:
    return bool((np.bincount(case.clips) > _RUN_IN + 2).any())


def _acceleration(case: ScoreCase, shown: np.ndarray) -> float:
    """RMS over vertices and frames, within each clip."""
    if not _is_moving(case):
        return 1.0
    parts = [np.diff(shown[case.clips == clip][_RUN_IN:], 2, axis=0) for clip in np.unique(case.clips)]
    return float(np.sqrt(np.mean(np.concatenate([(part**2).sum(axis=2).mean(axis=1) for part in parts]))))
