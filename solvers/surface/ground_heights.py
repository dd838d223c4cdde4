"""How high a surface is above or below points: its faces on the upright line through each, or the highest of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.errors import InputError

# Faces a cell of the grid has, about.
_IN_A_CELL = 4
_MOST_CELLS = 1 << 20
# Of a face: points so far outside of it still count, so that none falls between two.
_EDGE = 1e-9
_BATCH = 1 << 18


class GroundHeights:
    """Of vertices (V, 3), world, Z up, and triangles (T, 3), in their order in a grid seen from above.

    Upright faces have no height; under an overhang the upper face counts.  is_faced: only faces whose front looks up
    count.  edge: shares of a face by which points outside of it still count.
    Raises InputError where no face lies flat enough to stand on, or a vertex is not a number.
    """

    def __init__(self, vertices: np.ndarray, triangles: np.ndarray, is_faced: bool = False, edge: float = _EDGE):
        vertices, triangles = np.asarray(vertices, float), np.asarray(triangles, int).reshape(-1, 3)
        self._edge = edge
        if not np.isfinite(vertices).all():
            raise InputError("A vertex of the ground is not a number; repair the mesh, or choose another ground.")
        corners = vertices[triangles]
        first, second = corners[:, 1, :2] - corners[:, 0, :2], corners[:, 2, :2] - corners[:, 0, :2]
        area = first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]
        spans = np.abs(first).sum(axis=1) * np.abs(second).sum(axis=1)
        flat = (area if is_faced else np.abs(area)) > 1e-12 * np.maximum(spans, 1e-300)
        if not flat.any():
            raise InputError("The ground has no face to stand on; choose a mesh that can be seen from above.")
        slopes = np.stack((second[:, 1], -second[:, 0], -first[:, 1], first[:, 0]), axis=1)[flat] / area[flat, None]
        rises = corners[flat, 1:, 2] - corners[flat, :1, 2]
        self._numbers = np.flatnonzero(flat)
        # Of each face a row: a corner, the slopes of the shares of both others, and how far those are above it.
        self._rows = np.concatenate((corners[flat, 0], slopes, rises), axis=1)
        self._build(corners[flat, :, :2])

    def _build(self, corners: np.ndarray) -> None:
        low, high = corners.min(axis=1), corners.max(axis=1)
        self._low = low.min(axis=0)
        size = np.maximum(high.max(axis=0) - self._low, 1e-12)
        cells = np.clip(len(corners) / _IN_A_CELL, 1, _MOST_CELLS)
        self._cell = float(np.sqrt(size[0] * size[1] / cells)) or float(size.max())
        # A long and narrow surface has as many cells along its length.
        self._cell = max(self._cell, float(size.max()) / _MOST_CELLS * 2)
        self._shape = np.floor(size / self._cell).astype(int) + 1
        start, end = (self._cells(edge) for edge in (low, high))
        width = end - start + 1
        count = width[:, 0] * width[:, 1]
        face = np.repeat(np.arange(len(corners)), count)
        step = np.arange(len(face)) - np.repeat(np.cumsum(count) - count, count)
        x, y = start[face, 0] + step // width[face, 1], start[face, 1] + step % width[face, 1]
        number = x * self._shape[1] + y
        order = np.argsort(number, kind="stable")
        self._faces = face[order]
        self._starts = np.searchsorted(number[order], np.arange(self._shape[0] * self._shape[1] + 1))

    def _cells(self, points: np.ndarray) -> np.ndarray:
        """(N, 2) of points (N, 2), those outside in the nearest one."""
        return np.clip(np.floor((points - self._low) / self._cell).astype(int), 0, self._shape - 1)

    def __call__(self, points: np.ndarray, below: np.ndarray | None = None) -> np.ndarray:
        """(N,) heights at points (N, 3) or (N, 2), NaN where there is no ground below or above.

        below: (N,) what is higher does not count; None: everything does.
        """
        points = np.asarray(points, float)[:, :2]
        out = np.full(len(points), -np.inf)
        for point, heights, _ in self._met(points):
            if below is not None:
                low = heights <= below[point]
                point, heights = point[low], heights[low]
            np.maximum.at(out, point, heights)
        return np.where(np.isfinite(out), out, np.nan)

    def layers(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All heights at points (N, 3) or (N, 2), rising at each, one point after the other; (N + 1,) where each
        point's begin."""
        return self.faces(points)[:2]

    def faces(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As ``layers``, and which of the triangles each height is of."""
        points = np.asarray(points, float)[:, :2]
        met = list(self._met(points)) or [(np.zeros(0, int), np.zeros(0), np.zeros(0, int))]
        point, heights, triangles = (np.concatenate(part) for part in zip(*met, strict=True))
        order = np.lexsort((triangles, heights, point))
        return np.searchsorted(point[order], np.arange(len(points) + 1)), heights[order], triangles[order]

    def _met(self, points: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Of points (N, 2), some at a time: which, how high, and of which triangle, for each face on the upright line
        through it."""
        cells = self._cells(points)
        number = cells[:, 0] * self._shape[1] + cells[:, 1]
        starts, counts = self._starts[number], self._starts[number + 1] - self._starts[number]
        for some in _batches(np.cumsum(counts)):
            yield self._met_by(points, starts, counts, some)

    def _met_by(self, points, starts, counts, some: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        point = np.repeat(np.arange(some.start, some.stop), counts[some])
        step = np.arange(len(point)) - np.repeat(np.cumsum(counts[some]) - counts[some], counts[some])
        face = self._faces[starts[point] + step]
        x, y, z, ux, uy, vx, vy, first, second = self._rows[face].T
        x, y = points[point, 0] - x, points[point, 1] - y
        u, v = ux * x + uy * y, vx * x + vy * y
        inside = np.flatnonzero((u >= -self._edge) & (v >= -self._edge) & (u + v <= 1.0 + self._edge))
        heights = z[inside] + u[inside] * first[inside] + v[inside] * second[inside]
        return point[inside], heights, self._numbers[face[inside]]


def _batches(ends: np.ndarray) -> list[slice]:
    """Points of which so many faces are looked at together: ends (N,) faces up to each."""
    if not len(ends):
        return []
    if ends[-1] <= _BATCH:
        return [slice(0, len(ends))]
    cuts = np.searchsorted(ends, np.arange(_BATCH, ends[-1], _BATCH))
    edges = np.unique(np.concatenate(([0], cuts, [len(ends)])))
    return [slice(int(start), int(end)) for start, end in zip(edges[:-1], edges[1:], strict=True)]
