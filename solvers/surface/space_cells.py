"""Which triangles can be nearest to a point: an octree over space, grown where points ask and kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from .planar_triangles import planar_distance2, planar_gradients

# Triangles that lie together and are tested by one box while cells are large.
_BLOCK = 16
# Lists of blocks become lists of triangles when they hold no more than this, or at this depth.
_FINE, _COARSE_DEPTH = 256, 7
# The tree begins with a grid, finer where there are fewer blocks to test each of its cells with.
_GRID, _GRID_DEPTH = 4096, 4
# A cell is split when it holds more triangles than this and its points have cost that many tests.
_LEAF, _WORTH = 16, 64
_DEPTH = 12
# Of no more points than this a cell is split only when they have cost this many tests of triangles: splitting is cheap
# by the thousand.
_FEW, _SPLIT = 512, 65536
# Share of a cell's size under which the gradient of a distance is not trusted.
_TOUCHING = 1e-5
# Pairs of points and triangles at a time, and points at a time: their numbers fit the cache.
_PAIRS, _POINTS = 16384, 16384


@dataclass(frozen=True)
class TriangleBlocks:
    """Neighbouring triangles in blocks. start, count: (B,).  lo, hi: (B, 3).  places: of one corner a triangle."""

    start: np.ndarray
    count: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    places: cKDTree

    @classmethod
    def of(cls, corner: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> TriangleBlocks:
        """corner: (T, 3) of each triangle, ordered so that neighbours follow each other;  lo, hi: (T, 3) boxes."""
        start = np.arange(0, len(corner), _BLOCK)
        count = np.diff(np.append(start, len(corner)))
        places = cKDTree(corner, compact_nodes=False, balanced_tree=False)
        return cls(start, count, np.minimum.reduceat(lo, start), np.maximum.reduceat(hi, start), places)


class SpaceCells:
    """The octree of one mesh, for points within reach of it.

    A cell keeps all triangles (or, while it is large, blocks) that can be nearest to some point in it, with their
    distances from its centre and the gradients there. A triangle is convex, so its distance grows at least linearly:
    that tells most of them from the nearest without a test. What a point is answered does not depend on how far the
    tree has grown. Queries change the tree: one thread at a time.
    """

    def __init__(self, frames, blocks: TriangleBlocks, slack: float, lo, hi, reach: float):
        """frames: (18, T) of ``planar_frames``;  lo, hi: (3,) all points' bounds;  slack: metres, above rounding."""
        self._frames, self._blocks, self._slack, self._reach = frames, blocks, slack, reach
        self._lo, self._hi = lo - slack, hi + slack
        self._centre, self._half = _Rows(3), _Rows()
        self._parent, self._child, self._visits = _Rows(dtype=int), _Rows(dtype=int), _Rows(dtype=int)
        self._start, self._count, self._first = _Rows(dtype=int), _Rows(dtype=int), _Rows(dtype=int)
        self._coarse = _Rows(dtype=bool)
        # What cells hold: triangles or blocks, and gradient and distance of the triangles.
        self._item, self._slope = _Rows(dtype=int), _Rows(4)
        half = (hi - lo).max() / 2
        # No cell at the last depth, which is not split, is as large.
        self._least = 1.5 * half / (1 << _DEPTH)
        self._add(((lo + hi) / 2)[None], np.array([half]), np.array([-1]))
        self._coarse.values[0] = True
        self._store(np.zeros(1, int), np.zeros(len(blocks.start), int), np.arange(len(blocks.start)), 0.0)
        self._depth = int(np.clip(np.log2(_GRID / len(blocks.start)), 0, _GRID_DEPTH))
        self._side = 1 << self._depth
        self._corner, self._edge = (lo + hi) / 2 - half, 2 * half / self._side
        grid = np.stack(np.meshgrid(*3 * [np.arange(self._side)], indexing="ij"), axis=-1).reshape(-1, 3)
        centres = self._corner + (grid + 0.5) * self._edge
        self._add(centres, np.full(len(grid), self._edge / 2), np.zeros(len(grid), int))

    def cover(self, points: np.ndarray, reach: float) -> bool:
        """Whether the tree serves points (M, 3) up to a reach."""
        inside = (points.min(axis=0) >= self._lo) & (points.max(axis=0) <= self._hi)
        return reach <= self._reach and bool(inside.all())

    def nearest(self, points: np.ndarray) -> np.ndarray:
        """The nearest triangle (M,) of points (M, 3), the first of equals; -1 where none is within reach."""
        parts = [points[begin : begin + _POINTS] for begin in range(0, len(points), _POINTS)]
        return np.concatenate([self._nearest(part) for part in parts])

    def _nearest(self, points):
        out = np.full(len(points), -1)
        cell = self._descend(points)
        number = self._count.values[cell]
        rows = np.flatnonzero(number)
        if not rows.size:
            return out
        cell, number, points = cell[rows], number[rows], points[rows]
        away = np.ones((len(rows), 4))
        np.subtract(points, self._centre.values[cell], out=away[:, :3])
        upper = np.sqrt(self._distance2(points, self._first.values[cell])) + self._slack
        start = self._start.values[cell]
        for a, b in _cuts(number, _PAIRS):
            row = np.repeat(np.arange(a, b), number[a:b])
            item = _expand(start[a:b], number[a:b])
            least = np.einsum("pi,pi->p", self._slope.values.take(item, 0), away.take(row, 0))
            near = least <= upper[row]
            row, triangle = row[near], self._item.values[item[near]]
            distance2 = self._distance2(points[row], triangle)
            begin = np.flatnonzero(np.diff(row, prepend=-1))
            least = np.minimum.reduceat(distance2, begin)
            winner = np.flatnonzero(distance2 == np.repeat(least, np.diff(np.append(begin, len(row)))))[::-1]
            out[rows[row[winner]]] = triangle[winner]
        return out

    def _descend(self, points):
        """The cell (M,) that each point lies in, growing the tree on the way."""
        place = np.clip(((points - self._corner) / self._edge).astype(int), 0, self._side - 1)
        cell = 1 + place @ (self._side**2, self._side, 1)
        if len(points) <= _FEW:
            deepest = self._walk(points, cell)
            if deepest is not None:
                return deepest
        active = np.arange(len(points))
        for depth in range(self._depth, _DEPTH + 1):
            still = active[self._child.values[cell[active]] == 0]
            if still.size:
                self._grow(cell[still], depth)
            active = active[self._child.values[cell[active]] > 0]
            if not active.size:
                break
            at = cell[active]
            upper = points[active] >= self._centre.values[at]
            cell[active] = self._child.values[at] + upper @ (1, 2, 4)
        return cell

    def _walk(self, points, cell):
        """As ``_descend`` of few points from their cells (M,) where the tree need not grow for them, else None."""
        while True:
            child = self._child.values[cell]
            inner = child > 0
            if not inner.any():
                break
            upper = points >= self._centre.values[cell]
            cell = np.where(inner, child + upper @ (1, 2, 4), cell)
        count = self._count.values[cell]
        np.add.at(self._visits.values, cell, 1)
        # Splitting a cell takes as long as this many tests.
        worth = (self._visits.values[cell] * count > _SPLIT) & (count > _LEAF) & (self._half.values[cell] > self._least)
        if (worth | (count < 0) | (self._coarse.values[cell] & (count > 0))).any():
            return None
        return cell

    def _grow(self, cells, depth):
        """Fill cells that are new, split those that are worth it. cells: of one depth, one entry a point."""
        cells, number = np.unique(cells, return_counts=True)
        new = cells[self._count.values[cells] < 0]
        if new.size:
            self._fill(new, depth >= _COARSE_DEPTH)
        if depth == _DEPTH:
            return
        self._visits.values[cells] += number
        count, coarse = self._count.values[cells], self._coarse.values[cells]
        few = number.sum() <= _FEW
        worth = (count > _LEAF) & (self._visits.values[cells] > (_SPLIT // np.maximum(count, 1) if few else _WORTH))
        split = cells[worth | (coarse & (count > 0))]
        if split.size:
            half = self._half.values[split] / 2
            offset = (np.arange(8)[:, None] >> np.arange(3) & 1) * 2.0 - 1.0
            centre = self._centre.values[split, None] + offset * half[:, None, None]
            first = self._add(centre.reshape(-1, 3), np.repeat(half, 8), np.repeat(split, 8))
            self._child.values[split] = first + 8 * np.arange(len(split))

    def _add(self, centre, half, parent):
        """New, unfilled cells; returns the first one's number."""
        first, count = self._half.size, len(half)
        self._centre.extend(centre)
        self._half.extend(half)
        self._parent.extend(parent)
        for rows in (self._child, self._start, self._visits, self._coarse):
            rows.extend(np.zeros(count))
        for rows in (self._count, self._first):
            rows.extend(np.full(count, -1))
        return first

    def _fill(self, cells, fine_now):
        """Hand down what the parents hold, without what is nobody's nearest."""
        coarse = self._coarse.values[self._parent.values[cells]]
        if coarse.any():
            self._fill_from_blocks(cells[coarse], fine_now)
        cells = cells[~coarse]
        if not cells.size:
            return
        parent, centre = self._parent.values[cells], self._centre.values[cells]
        start, number = self._start.values[parent], self._count.values[parent]
        away = np.ones((len(cells), 4))
        np.subtract(centre, self._centre.values[parent], out=away[:, :3])
        bound = self._bound(cells, np.sqrt(self._distance2(centre, self._first.values[parent])))
        for a, b in _cuts(number, 4 * _PAIRS):
            row = np.repeat(np.arange(a, b), number[a:b])
            item = _expand(start[a:b], number[a:b])
            least = np.einsum("pi,pi->p", self._slope.values.take(item, 0), away.take(row, 0))
            near = least <= bound[row]
            self._keep(cells[a:b], row[near] - a, self._item.values[item[near]])

    def _fill_from_blocks(self, cells, fine_now):
        parent, blocks, centre = self._parent.values[cells], self._blocks, self._centre.values[cells]
        number = self._count.values[parent]
        item = self._item.values[_expand(self._start.values[parent], number)]
        row = np.repeat(np.arange(len(cells)), number)
        at = centre[row]
        away = at - np.clip(at, blocks.lo[item], blocks.hi[item])
        far = np.sqrt(np.einsum("pi,pi->p", away, away))
        away /= np.maximum(far, 1e-300)[:, None]
        # The nearest corner stands for the nearest triangle, and a block's box for what is in it.
        nearest, corner = blocks.places.query(centre, distance_upper_bound=self._reach)
        first = np.zeros_like(centre)
        known = np.flatnonzero(np.isfinite(nearest) & (nearest > 0))
        first[known] = (centre[known] - blocks.places.data[corner[known]]) / nearest[known, None]
        keep = self._may_win(cells, row, far, away, nearest, first)
        row, item = row[keep], item[keep]
        fine = (np.bincount(row, blocks.count[item], minlength=len(cells)) <= _FINE) | fine_now
        self._coarse.values[cells] = ~fine
        few = fine[row]
        # Rows count the fine cells alone, or the others.
        rank = np.where(fine, np.cumsum(fine), np.cumsum(~fine))[row] - 1
        self._store(cells[~fine], rank[~few], item[~few], 0.0)
        if fine.any():
            count = blocks.count[item[few]]
            self._keep(cells[fine], np.repeat(rank[few], count), _expand(blocks.start[item[few]], count))

    def _keep(self, cells, row, triangle):
        """Store those of the pairs (row into cells, triangle), row by row, that can be nearest to a point of a cell."""
        centre = self._centre.values[cells]
        far = np.sqrt(self._distance2(centre[row], triangle))
        nearest = np.full(len(cells), np.inf)
        begin = np.flatnonzero(np.diff(row, prepend=-1))
        if row.size:
            nearest[row[begin]] = np.minimum.reduceat(far, begin)
        keep = far <= self._bound(cells, nearest)[row]
        row, triangle, far = row[keep], triangle[keep], far[keep]
        slope = np.empty((len(row), 4))
        for begin in range(0, len(row), _PAIRS):
            part = slice(begin, begin + _PAIRS)
            slope[part, :3] = planar_gradients(centre[row[part]].T, self._frames[:, triangle[part]])
        slope[:, 3] = far
        # Where rounding would turn the gradient, nothing is known but that no distance is below zero.
        slope[far < _TOUCHING * self._half.values[cells[row]]] = 0.0
        closest = np.flatnonzero(far == nearest[row])
        self._first.values[cells[row[closest]]] = triangle[closest]
        first = np.zeros((len(cells), 3))
        first[row[closest]] = slope[closest, :3]
        keep = self._may_win(cells, row, far, slope[:, :3], nearest, first)
        self._store(cells, row[keep], triangle[keep], slope[keep])

    def _may_win(self, cells, row, far, slope, nearest, first):
        """Which of the convex things at distances far (P,) with gradients slope (P, 3) can be nearest in cells[row].

        nearest (C,), first (C, 3): distance and gradient of one of them at the centre, q its nearest place there. At d
        from the centre that one is at most |d + centre - q| <= nearest + first.d + d^2 / (2 nearest) away, another at
        least far + slope.d.
        """
        half = self._half.values[cells]
        bend = 1.5 * half**2 / np.maximum(nearest, _TOUCHING * half)
        apart = np.abs(slope - first[row]).sum(axis=1)
        apart *= half[row]
        return (far <= self._bound(cells, nearest)[row]) & (far - apart <= (nearest + bend)[row] + self._slack)

    def _bound(self, cells, upper):
        """How far from the centres (C,) a triangle may be that is nearest to some point; upper (C,): the nearest's."""
        radius = np.sqrt(3.0) * self._half.values[cells]
        return np.minimum(upper + 2 * radius, self._reach + radius) + self._slack

    def _store(self, cells, row, item, slope):
        number = np.bincount(row, minlength=len(cells))
        self._start.values[cells] = self._item.size + np.cumsum(number) - number
        self._count.values[cells] = number
        self._item.extend(item)
        self._slope.extend(np.broadcast_to(slope, (len(item), 4)))

    def _distance2(self, points, triangle):
        """Squared distances (P,) of points (P, 3) and triangles (P,), in pairs."""
        out = np.empty(len(triangle))
        for begin in range(0, len(out), _PAIRS):
            part = slice(begin, begin + _PAIRS)
            out[part] = planar_distance2(points[part].T, self._frames[:, triangle[part]])
        return out


class _Rows:
    """An array (N,) or (N, K) that grows at its end."""

    def __init__(self, *width: int, dtype=float):
        self._room = np.empty((64, *width), dtype)
        self.size = 0

    @property
    def values(self) -> np.ndarray:
        return self._room[: self.size]

    def extend(self, more: np.ndarray) -> None:
        end = self.size + len(more)
        if end > len(self._room):
            room = np.empty((max(end, 2 * len(self._room)), *self._room.shape[1:]), self._room.dtype)
            room[: self.size] = self.values
            self._room = room
        self._room[self.size : end] = more
        self.size = end


def _expand(starts, counts):
    """Concatenated ranges start .. start + count."""
    return np.repeat(starts - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())


def _cuts(numbers, budget):
    """Slices (a, b) of ragged rows with numbers (R,) each, of about a budget of entries."""
    ends = np.cumsum(numbers)
    if ends[-1] <= budget:
        return ((0, len(numbers)),)
    budgets = np.arange(budget, ends[-1] + budget, budget)
    cuts = np.unique(np.append(0, np.minimum(np.searchsorted(ends, budgets) + 1, len(numbers))))
    return zip(cuts[:-1], cuts[1:], strict=True)
