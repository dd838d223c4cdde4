"""From a few pairs of poses of two clips to a pose of the target for every frame of the source between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d

from ..core.errors import InputError, PartError
from .association_cost import bridge_cost, regression_cost, unevenness
from .clip_pair import ClipRows, checked_clips
from .pose_regression import PoseRegression
from .time_warping import constrained_path, within_reach

__all__ = ["ClipRows", "DenseClip", "densify"]

GAUSSIAN_PROCESS, LINE = "gaussian_process", "line"
# Source frames: takes the steps of whole rows away, and leaves as much change of pace as there is.
SMOOTHING = 1.25


@dataclass(frozen=True)
class DenseClip:
    """For each whole source row from the first pair to the last, the target row that answers to it.

    source_rows: (N,) int.  target_rows: (N,) float, never going back.  line: (N,) straight between pairs.
    cost: (n, m) of pairing any two rows, for looking at.  path: (P, 2) int, the nodes that it led to.
    note: what did not go as asked, in words; empty where all did.
    """

    source_rows: np.ndarray
    target_rows: np.ndarray
    cost: np.ndarray
    path: np.ndarray
    line: np.ndarray
    note: str


def densify(clips: list[ClipRows], cost: str = GAUSSIAN_PROCESS, run: int = 2) -> list[DenseClip]:
    """Target rows for all source rows between pairs, of each clip.

    cost: "gaussian_process" learns from the pairs of all clips which poses go together, a neural-network process a
    part, and prefers time between pairs as even as the pairs show it; a path of least cost is then smoothed. "line" is
    even time between pairs. Where pairs are too steep for runs of at most `run` steps, time is even too, and the note
    says so. Both pass through the pairs.
    InputError naming clip, pair and part: fewer than two pairs, out of range or order, clips of one frame, parts that
    are not the same in all clips or never move.
    """
    if cost not in (GAUSSIAN_PROCESS, LINE):
        raise InputError(f"There is no cost '{cost}'; choose '{GAUSSIAN_PROCESS}' or '{LINE}'.")
    clips = checked_clips(clips)
    parts, clips = clips[0].telling, telling_clips(clips)
    uneven = unevenness([clip.pairs for clip in clips])
    shapes = [(len(clip.source[0]), len(clip.target[0])) for clip in clips]
    costs = [bridge_cost(clip.pairs, shape, uneven) for clip, shape in zip(clips, shapes, strict=True)]
    if cost == LINE:
        return [_even(clip, cost) for clip, cost in zip(clips, costs, strict=True)]
    learnt = _learnt(clips, parts)
    for clip, total in zip(clips, costs, strict=True):
        total += regression_cost(learnt, clip.source, clip.target)
    return [dense_by_cost(clip, total, run) for clip, total in zip(clips, costs, strict=True)]


def telling_clips(clips: list[ClipRows]) -> list[ClipRows]:
    """The same, checked, of the parts that tell something: what is stiff in one of the two says nothing of time."""
    clips = checked_clips(clips)
    return [clip.of_parts(clips[0].telling) for clip in clips]


def _learnt(clips, parts) -> list[PoseRegression]:
    """A regression a part, from the pairs of all clips; parts: their numbers, for messages."""
    sides = zip(*(clip.paired() for clip in clips), strict=True)
    return pose_regressions(*([np.concatenate(rows) for rows in zip(*side, strict=True)] for side in sides), parts)


def pose_regressions(
    inputs: list[np.ndarray], outputs: list[np.ndarray], parts: Sequence[int] | None = None
) -> list[PoseRegression]:
    """A regression a part, from rows of the source (L, P_k) to those of the target (L, Q_k) at pairs of poses.

    parts: their numbers, for messages.  Raises PartError as ``PoseRegression.fit``.
    """
    learnt = []
    for part, given, wanted in zip(parts or range(len(inputs)), inputs, outputs, strict=True):
        try:
            learnt.append(PoseRegression.fit(given, wanted))
        except InputError as problem:
            raise PartError(part, str(problem)) from problem
    return learnt


def _straight(pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whole source rows (N,) from the first pair to the last, target rows (N,) at even time, both as nodes (N, 2)."""
    source_rows = np.arange(np.ceil(pairs[0, 0] - 1e-9), np.floor(pairs[-1, 0] + 1e-9) + 1).astype(int)
    line = np.interp(source_rows, *pairs.T)
    return source_rows, line, np.stack((source_rows, np.round(line).astype(int)), axis=1)


def _even(clip: ClipRows, costs: np.ndarray) -> DenseClip:
    source_rows, line, straight = _straight(clip.pairs)
    return DenseClip(source_rows, line, costs, straight, line, "")


def dense_by_cost(clip: ClipRows, costs: np.ndarray, run: int = 2) -> DenseClip:
    """A clip's target rows by the smoothed path of least cost (n, m) in runs of at most so many steps."""
    pairs = clip.pairs
    source_rows, line, straight = _straight(pairs)
    nodes = np.round(pairs).astype(int)
    reached = within_reach(nodes, run)
    path = _path(costs, nodes, reached, straight, run)
    away = _mean_column(path, source_rows) - line
    target_rows = _through(line + _smooth(away, source_rows, pairs, reached), source_rows, pairs)
    return DenseClip(source_rows, target_rows, costs, path, line, _note(clip, reached, run))


def _path(costs, nodes, reached, straight, run) -> np.ndarray:
    """(P, 2) int: least cost where pairs are in reach of each other, the straight line where not."""
    changes = np.flatnonzero(np.diff(reached)) + 1
    pieces = []
    for first, last in zip([0, *changes], [*changes, len(reached)], strict=True):
        if reached[first]:
            pieces.append(constrained_path(costs, nodes[first : last + 1], run).nodes)
        else:
            inside = (straight[:, 0] >= nodes[first, 0]) & (straight[:, 0] <= nodes[last, 0])
            pieces.append(straight[inside])
    return np.unique(np.concatenate(pieces), axis=0)


def _mean_column(path, source_rows) -> np.ndarray:
    """(N,) the middle of the target rows that each source row is paired with."""
    at = path[:, 0] - source_rows[0]
    inside = (at >= 0) & (at < len(source_rows))
    at, columns = at[inside], path[inside, 1]
    count = len(source_rows)
    return np.bincount(at, columns, count) / np.bincount(at, minlength=count)


def _smooth(away, source_rows, pairs, reached) -> np.ndarray:
    """Distances (N,) from the line, smoothed, and zero at pairs and where the line is all there is."""
    block = np.clip(np.searchsorted(pairs[:, 0], source_rows, side="right") - 1, 0, len(reached) - 1)
    away = np.where(reached[block], away, 0.0)
    away[np.isin(source_rows, np.round(pairs[:, 0]))] = 0.0
    smooth = gaussian_filter1d(away, SMOOTHING, mode="nearest")
    smooth -= np.interp(source_rows, pairs[:, 0], np.interp(pairs[:, 0], source_rows, smooth))
    return np.where(reached[block], smooth, 0.0)


def _through(target_rows, source_rows, pairs) -> np.ndarray:
    """Never back in time, nor past the pair ahead."""
    block = np.clip(np.searchsorted(pairs[:, 0], source_rows, side="right") - 1, 0, len(pairs) - 2)
    return np.maximum.accumulate(np.clip(target_rows, pairs[block, 1], pairs[block + 1, 1]))


def _note(clip: ClipRows, reached: np.ndarray, run: int) -> str:
    ends = clip.pairs + clip.starts
    stretches = [
        f"{ends[at, 0]:g} to {ends[at + 1, 0]:g} (target {ends[at, 1]:g} to {ends[at + 1, 1]:g})"
        for at in np.flatnonzero(~reached)
    ]
    if not stretches:
        return ""
    return f"time runs evenly in source frames {', '.join(stretches)}: too steep for runs of {run}"
