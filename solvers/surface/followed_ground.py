"""The ground below what walks over a mesh, of which other parts may be above: a roof, a lamp post, a cliff.

It is followed along the way: from where it is known it goes on at the highest surface that a step reaches, so that what
is above the head, or far below the feet, is never stood on by accident.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .ground_heights import GroundHeights

# Of the height that a step reaches: the way is looked at so finely, whatever the frame rate, and in so many parts a
# frame at most. A steady slope of four in one is still followed.
_FINE, _MOST_PARTS = 0.25, 64
ON, MISSING, UNREACHED = 0, 1, 2


@dataclass(frozen=True)
class FollowedGround:
    """levels: (F, M) heights along M ways; where there is none that a step reaches, the last that there was.
    states: (F, M) ON it; MISSING: nothing is above or below; UNREACHED: what there is is too high or too deep."""

    levels: np.ndarray
    states: np.ndarray


@dataclass(frozen=True)
class Ground:
    """heights: of the mesh.  level, start: metres, and (2,) or (M, 2) where the ground is at that height."""

    heights: GroundHeights
    level: float | np.ndarray
    start: np.ndarray

    @classmethod
    def first_below(cls, heights: GroundHeights, way: np.ndarray, eye: float) -> Ground | None:
        """Where a way (F, 2) first comes to it: the highest surface that is not above the eye, else the lowest.

        None where it never does.
        """
        starts, found = heights.layers(way)
        known = np.flatnonzero(np.diff(starts))
        if not len(known):
            return None
        here = found[starts[known[0]] : starts[known[0] + 1]]
        return cls(heights, float(here[max(np.searchsorted(here, eye, side="right") - 1, 0)]), way[known[0]])

    def along(self, ways: np.ndarray, reach: float) -> FollowedGround:
        """Followed along ways (F, M, 2); reach: metres up or down that a step goes."""
        count, most = ways.shape[:2]
        points = np.concatenate((np.broadcast_to(self.start, (most, 2))[None], ways)).transpose(1, 0, 2)
        fine, ends = _finely(points, _FINE * reach)
        starts, heights = self.heights.layers(fine)
        lasts, begin = ends[:, -1], 0
        levels, states = np.empty(len(fine)), np.zeros(len(fine), np.int8)
        # Mostly there is one surface alone, on which no step is too high; else each way is gone along by itself.
        if len(heights) == len(fine) and (starts[1:] - starts[:-1] == 1).all():
            before = np.concatenate(([0.0], heights[:-1]))
            before[np.concatenate(([0], lasts[:-1] + 1))] = self.level
            if np.abs(heights - before).max() <= reach:
                return FollowedGround(heights[ends.T], states[ends.T])
        for level, end in zip(np.broadcast_to(self.level, most).tolist(), (lasts + 1).tolist(), strict=True):
            some = slice(begin, end)
            levels[some], states[some] = _stepped(starts[begin : end + 1], heights, level, reach)
            begin = end
        return FollowedGround(levels[ends.T], states[ends.T])


def _finely(points: np.ndarray, longest: float) -> tuple[np.ndarray, np.ndarray]:
    """Ways (M, 1 + F, 2) in parts no longer than that, one way after the other: their ends (N, 2), and (M, F) which of
    them are the ways' own points."""
    steps = np.diff(points, axis=1).reshape(-1, 2)
    parts = np.clip(np.ceil(np.linalg.norm(steps, axis=1) / longest), 1, _MOST_PARTS).astype(int)
    last = np.cumsum(parts)
    number = np.arange(last[-1]) - np.repeat(last - parts, parts) + 1
    share = (number / np.repeat(parts, parts))[:, None]
    fine = np.repeat(points[:, :-1].reshape(-1, 2), parts, axis=0) + share * np.repeat(steps, parts, axis=0)
    return fine, (last - 1).reshape(len(points), -1)


def _stepped(starts: np.ndarray, heights: np.ndarray, level: float, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Levels and states along one way, of the rising heights at each of its points: each depends on the one before."""
    levels, states = np.empty(len(starts) - 1), np.empty(len(starts) - 1, np.int8)
    first = int(starts[0])
    edges, heights = (starts - first).tolist(), heights[first : starts[-1]].tolist()
    for number, (begin, end) in enumerate(zip(edges[:-1], edges[1:], strict=True)):
        near = [height for height in heights[begin:end] if abs(height - level) <= reach]
        level = near[-1] if near else level
        levels[number], states[number] = level, ON if near else MISSING if begin == end else UNREACHED
    return levels, states
