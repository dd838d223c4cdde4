"""Ways to map that are scored: Map's own, what pairs alone can do otherwise, and what needs no pairs but a surface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.baselines.deformation_transfer import DeformationTransfer, nearest_faces
from benchmarks.baselines.rbf_pose_map import RbfPoseMap
from benchmarks.baselines.surface_deform import surface_deform
from solvers.core.steps import result_of
from solvers.mapping.track import MotionMap
from solvers.regression.ridge import PoseRidge
from solvers.shapes.target_space import TargetSpace, learn_target_steps
from solvers.surface.weld import staying_together, weld

from ._map_score_cases import CAMEL, Fold, ScoreCase

# From a case to vertices (F, V, 3), or why there are none.
Way = Callable[[ScoreCase], np.ndarray | str]
OURS = "ours"
NO_SURFACE = "not applicable: the source has no surface"
# By how many poses of the target in a row vertices are made of weights.
_AT_ONCE = 64


@dataclass(frozen=True)
class ByPairs:
    """predict: features (n, P) of pairs, their poses (n, V, 3) and features (F, P) to vertices (F, V, 3)."""

    predict: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]

    def __call__(self, case: ScoreCase) -> np.ndarray:
        out = np.empty((len(case.rows), *case.target.shape[1:]))
        for fold in case.folds:
            out[fold.shown] = self.predict(fold.known, case.poses(fold), case.rows[fold.shown])
        return out


def ours(case: ScoreCase) -> np.ndarray:
    """As Map does it: its space of the target's own motion, its map, its box."""
    space: TargetSpace = result_of(
        learn_target_steps(case.target.astype(np.float32), case.triangles, same=staying_together(case.target))
    )
    out = np.empty((len(case.rows), *case.target.shape[1:]))
    for fold in case.folds:
        mapping = MotionMap.learn(fold.known, coefficients_of(space, fold), space.box)
        found = mapping.coefficients(case.rows[fold.shown])
        out[fold.shown] = np.concatenate([
            space.vertices_of(found[start : start + _AT_ONCE]) for start in range(0, len(found), _AT_ONCE)
        ])  # fmt: skip
    return out


def coefficients_of(space: TargetSpace, fold: Fold) -> np.ndarray:
    """(n, D) at paired rows, on the line between the target's frames."""
    before = np.minimum(fold.paired.astype(int), len(space.coefficients) - 2)
    share = (fold.paired - before)[:, None]
    return (1.0 - share) * space.coefficients[before] + share * space.coefficients[before + 1]


def _nearest(known: np.ndarray, poses: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return poses[((rows[:, None] - known) ** 2).sum(axis=2).argmin(axis=1)]


def _blended(known: np.ndarray, poses: np.ndarray, rows: np.ndarray) -> np.ndarray:
    weights = 1.0 / np.maximum(((rows[:, None] - known) ** 2).sum(axis=2), 1e-12)
    return np.tensordot(weights / weights.sum(axis=1, keepdims=True), poses, 1)


def _rbf(known: np.ndarray, poses: np.ndarray, rows: np.ndarray) -> np.ndarray:
    once = np.unique(known, axis=0, return_index=True)[1]
    flat = RbfPoseMap.fit(known[once], poses[once].reshape(len(once), -1)).predict(rows)
    return flat.reshape(len(rows), *poses.shape[1:])


def _ridge(known: np.ndarray, poses: np.ndarray, rows: np.ndarray) -> np.ndarray:
    flat = PoseRidge.fit(known, poses.reshape(len(poses), -1)).predict(rows)
    return flat.reshape(len(rows), *poses.shape[1:])


def deformation_transfer(case: ScoreCase) -> np.ndarray | str:
    """By faces that are nearest at rest, the source's box stretched to the target's: no pair of these meshes has a
    correspondence of its faces. Vertices that stay together are one, so that it does not tear."""
    if case.source is None:
        return NO_SURFACE
    if case.name == CAMEL:
        return "not applicable: it made what is right"
    source, (rest, triangles, whole) = case.source, _welded(case.source.target_rest, case.triangles, case.target)
    one = source.rest, source.triangles
    answer, near = nearest_faces(one, (rest, triangles))
    size = float((np.ptp(rest, axis=0) / np.maximum(np.ptp(source.rest, axis=0), 1e-12)).mean())
    transfer = DeformationTransfer.build(one, (rest, triangles), answer, near, size)
    return case.taken_off(np.array([transfer.vertices(places) for places in source.vertices])[:, whole])


def follow_surface(case: ScoreCase) -> np.ndarray | str:
    """Blender's modifier Surface Deform, bound at rest to the source, whose box is stretched to the target's."""
    if case.source is None:
        return NO_SURFACE
    source = case.source
    same = weld(source.rest)
    kept, number = np.unique(same, return_inverse=True)
    triangles = _solid(number.reshape(-1)[source.triangles])
    cage = source.rest[kept], triangles
    rest = source.target_rest, case.triangles
    found = surface_deform(cage, rest, source.vertices[:, kept])
    return "Blender cannot bind it" if found is None else case.taken_off(found)


def _welded(rest: np.ndarray, triangles: np.ndarray, frames: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices and triangles without doubles, and of each vertex (V,) which of them it is."""
    kept, number = np.unique(staying_together(frames), return_inverse=True)
    number = number.reshape(-1)
    return rest[kept], _solid(number[triangles]), number


def _solid(triangles: np.ndarray) -> np.ndarray:
    """Those of three different corners."""
    return triangles[(triangles != np.roll(triangles, 1, axis=1)).all(axis=1)]


WAYS: dict[str, Way] = {
    OURS: ours,
    "nearest pair": ByPairs(_nearest),
    "weighted pairs": ByPairs(_blended),
    "RBF": ByPairs(_rbf),
    "ridge of vertices": ByPairs(_ridge),
    "deformation transfer": deformation_transfer,
    "Surface Deform": follow_surface,
}
