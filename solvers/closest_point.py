"""Exact signed distance from many points to a triangle mesh.

Query points are sorted along a Morton curve; each run of neighbouring points is tested once against the
triangles by its bounding box, and only the triangles that can be the nearest of some point in the run are
handed down to smaller runs and in the end to the points. Nothing is approximated: the bounds only discard
triangles that cannot win. Runs that are farther than ``max_distance`` from everything drop out at once, so a
far point costs little more than its place in the sort.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from .errors import InputError

_BITS = 10
_FIRST_LEVEL = 2
_SPREAD = sum(((np.arange(1 << _BITS, dtype=np.uint32) >> b) & 1) << np.uint32(3 * b) for b in range(_BITS))
_BLOCK = 16
_LEAF_PAIRS = 48
_EXPANSION = 12
_CHUNK_PAIRS = 16384


@dataclass(frozen=True)
class SurfaceHits:
    """Answers of a query; where nothing lies within reach: inf, the point itself, zeros and -1.

    distance (M,) signed, positive on the outside.  closest (M, 3).  normal (M, 3) unit pseudonormal of the
    closest feature.  triangle (M,) int.  feature (M,) int: 0 face, 1-3 edge ab, bc, ca, 4-6 corner a, b, c.
    """

    distance: np.ndarray
    closest: np.ndarray
    normal: np.ndarray
    triangle: np.ndarray
    feature: np.ndarray


class SurfaceIndex:
    """Precompute for signed closest-point queries against one state of a mesh.

    vertices (V, 3) metres, triangles (T, 3) int. Duplicate vertices are welded for the normals, triangles
    without area are ignored. Sign: angle-weighted pseudonormals (Baerentzen and Aanaes 2005, section 3);
    an open mesh is positive on the side its normals point to, and beyond its border: there is no inside.
    Raises InputError for values that are not numbers, indices out of range and a mesh without any area.
    """

    def __init__(self, vertices: np.ndarray, triangles: np.ndarray, name: str = "mesh"):
        vertices, triangles = _checked_mesh(vertices, triangles, name)
        corners = vertices[triangles]
        cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        edges = np.roll(corners, -1, axis=1) - corners
        longest2 = np.maximum.reduce(list(np.einsum("tij,tij->it", edges, edges)))
        area2 = _norm(cross)
        # A height below 1e-9 of the longest edge is rounding noise in float64 world coordinates.
        valid = area2 > 1e-9 * longest2
        if not valid.any():
            raise InputError(f"'{name}' has no triangle with an area; repair the mesh or leave it out.")
        kept = np.flatnonzero(valid)
        normals = cross[kept] / area2[kept, None]
        kept = kept[(order := _block_order(corners[kept]))]
        self.name = name
        self._triangle = kept
        self._corners = corners[kept]
        self._frames = _planar_frames(self._corners, normals[order])
        self._normals, self._border = _feature_normals(
            vertices, triangles[kept], self._corners, normals[order]
        )
        self._lo, self._hi = _corner_boxes(self._corners)
        size = 1 if len(kept) <= 16 * _BLOCK else _BLOCK
        self._block_start = np.arange(0, len(kept), size)
        self._block_count = np.diff(np.append(self._block_start, len(kept)))
        self._block_lo = np.minimum.reduceat(self._lo, self._block_start)
        self._block_hi = np.maximum.reduceat(self._hi, self._block_start)
        self._vertices = cKDTree(self._corners[:, 0], compact_nodes=False, balanced_tree=False)
        self._slack = 1e-9 * max(np.abs(self._lo).max(), np.abs(self._hi).max(), 1e-6)

    def query(self, points: np.ndarray, max_distance: float) -> SurfaceHits:
        """Nearest surface point of each of points (M, 3) within max_distance (metres, may be inf).

        A point's answer does not depend on the other points of the call.
        """
        points = np.asarray(points, float)
        if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
            raise InputError(f"Query points must be finite numbers of shape (M, 3), not {points.shape}.")
        if not max_distance >= 0:
            raise InputError(f"max_distance must be zero or more metres, not {max_distance}.")
        best = np.full(len(points), -1)
        lo, hi = self._lo.min(axis=0) - max_distance, self._hi.max(axis=0) + max_distance
        within = [(x >= a) & (x <= b) for x, a, b in zip(points.T, lo, hi, strict=True)]
        near = np.flatnonzero(np.logical_and.reduce(within))
        if near.size:
            codes, order = _morton_order(points[near])
            near = near[order]
            for index, candidates in self._leaves(points[near], codes, max_distance):
                self._settle(points, near[index], candidates, best)
        return self._answer(points, best, max_distance)

    def _leaves(self, points, codes, reach):
        """Yield (indices of points, ragged candidates) for runs that are small enough."""
        runs, level = (
            _Runs(np.arange(len(points)), codes, np.ascontiguousarray(points.T), _FIRST_LEVEL),
            _FIRST_LEVEL,
        )
        gap2 = _box_gap2(runs.lo[:, None], runs.hi[:, None], self._block_lo, self._block_hi)
        run, block = np.nonzero(gap2 <= self._bound2(runs, reach)[:, None])
        while self._block_count[block].sum() > _EXPANSION * len(runs.index) and level < _BITS:
            number = np.bincount(run, minlength=len(runs.starts))
            level += 1
            runs, parent = runs.children(number > 0, level)
            run, block = _inherited(block, number, parent)
            gap2 = _box_gap2(runs.lo[run], runs.hi[run], self._block_lo[block], self._block_hi[block])
            keep = gap2 <= self._bound2(runs, reach)[run]
            run, block = run[keep], block[keep]
        counts = self._block_count[block]
        run, candidates = np.repeat(run, counts), _expand(self._block_start[block], counts)
        while run.size:
            run, candidates = self._prune(run, candidates, runs, reach)
            number = np.bincount(run, minlength=len(runs.starts))
            small = (number * runs.sizes <= _LEAF_PAIRS) | (number <= 2) | (runs.sizes <= 2)
            leaf = (number > 0) & (small | (level == _BITS))
            if leaf.any():
                chosen = leaf[runs.of_point]
                run_of = runs.of_point[chosen]
                yield runs.index[chosen], (candidates, (np.cumsum(number) - number)[run_of], number[run_of])
            level += 1
            split = (number > 0) & ~leaf
            if not split.any():
                return
            runs, parent = runs.children(split, level)
            run, candidates = _inherited(candidates, number, parent)

    def _bound2(self, runs, reach):
        """Squared distance (R,) within which the nearest triangle of each point of a run must lie.

        No surface is farther from a point than the vertex nearest to the run's centre is, plus its radius.
        """
        vertex, _ = self._vertices.query(runs.centre, distance_upper_bound=reach)
        return (np.minimum(vertex + runs.radius, reach) + self._slack) ** 2

    def _prune(self, run, candidate, runs, reach):
        """Drop pairs (run, candidate triangle) in which the triangle is nobody's nearest."""
        gap2 = _box_gap2(runs.lo[run], runs.hi[run], self._lo[candidate], self._hi[candidate])
        keep = gap2 <= (reach + self._slack) ** 2
        run, candidate = run[keep], candidate[keep]
        distance = np.sqrt(self._distance2(runs.centre[run], candidate))
        nearest = np.full(len(runs.starts), np.inf)
        if run.size:
            first = np.flatnonzero(np.diff(run, prepend=-1))
            nearest[run[first]] = np.minimum.reduceat(distance, first)
        bound = np.minimum(nearest + 2 * runs.radius, reach + runs.radius) + self._slack
        keep = distance <= bound[run]
        return run[keep], candidate[keep]

    def _distance2(self, points, candidate):
        """Squared distance of paired points (P, 3) and triangles (P,), in chunks that fit the cache."""
        out = np.empty(len(candidate))
        for i in range(0, len(candidate), _CHUNK_PAIRS):
            chunk = slice(i, i + _CHUNK_PAIRS)
            out[chunk] = _planar_distance2(points[chunk].T, self._frames[:, candidate[chunk]])
        return out

    def _settle(self, points, index, candidates, best):
        """Write the nearest of each point's candidates (ragged) into best; ties go to the first."""
        triangles, start, number = candidates
        ends = np.cumsum(number)
        budgets = np.arange(_CHUNK_PAIRS, ends[-1] + _CHUNK_PAIRS, _CHUNK_PAIRS)
        cuts = np.unique(np.append(0, np.minimum(np.searchsorted(ends, budgets) + 1, len(index))))
        for a, b in zip(cuts[:-1], cuts[1:], strict=True):
            n = number[a:b]
            triangle = triangles[_expand(start[a:b], n)]
            row = np.repeat(np.arange(a, b), n)
            distance2 = _planar_distance2(points[index[row]].T, self._frames[:, triangle])
            least = np.minimum.reduceat(distance2, np.cumsum(n) - n)
            winner = np.flatnonzero(distance2 == np.repeat(least, n))[::-1]
            best[index[row[winner]]] = triangle[winner]

    def _answer(self, points, best, reach):
        distance = np.full(len(points), np.inf)
        closest, normal = points.copy(), np.zeros_like(points)
        triangle, feature = np.full(len(points), -1), np.zeros(len(points), int)
        hit = np.flatnonzero(best >= 0)
        won, at = best[hit], points[hit]
        place, kind = _planar_closest(at.T, self._frames[:, won])
        origin, along, across = self._corners[won, 0], self._frames[0:3, won].T, self._frames[4:7, won].T
        foot = origin + along * place[0][:, None] + across * place[1][:, None]
        length = _norm(at - foot)
        within = length <= reach
        hit, won, kind, foot = hit[within], won[within], kind[within], foot[within]
        pseudonormal = self._normals[won, kind]
        side = np.einsum("mi,mi->m", at[within] - foot, pseudonormal)
        inside = (side < 0) & ~self._border[won, kind]
        distance[hit] = np.where(inside, -length[within], length[within])
        closest[hit], normal[hit], feature[hit] = foot, pseudonormal, kind
        triangle[hit] = self._triangle[won]
        return SurfaceHits(distance, closest, normal, triangle, feature)


def _checked_mesh(vertices, triangles, name):
    vertices, triangles = np.asarray(vertices, float), np.asarray(triangles)
    if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.isfinite(vertices).all():
        raise InputError(f"'{name}': vertices must be finite numbers of shape (V, 3); repair the mesh.")
    if triangles.ndim != 2 or triangles.shape[1] != 3 or not len(triangles):
        raise InputError(f"'{name}' has no triangles; give it faces or leave it out.")
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        raise InputError(f"'{name}': a triangle names a vertex that does not exist; repair the mesh.")
    return vertices, triangles


def _block_order(corners):
    """Order (T,) that puts neighbours of like size together, so that blocks have small boxes."""
    lo, hi = _corner_boxes(corners)
    extent = np.maximum.reduce(list((hi - lo).T))
    size_class = -np.floor(np.log2(extent / extent.max()) / 2).astype(np.int64)
    codes = np.empty(len(corners), np.int64)
    sorted_codes, order = _morton_order(corners.mean(axis=1))
    codes[order] = sorted_codes
    return np.argsort((size_class << 3 * _BITS) + codes, kind="stable")


def _morton_order(points):
    """Sorted Morton codes (N,) uint32 of points (N, 3) and the order that sorts them."""
    lo = points.min(axis=0)
    side = max((points.max(axis=0) - lo).max(), 1e-30)
    cell = np.minimum((points - lo) * ((1 << _BITS) / side), (1 << _BITS) - 1).astype(np.intp)
    codes = _SPREAD[cell[:, 0]] | _SPREAD[cell[:, 1]] << np.uint32(1) | _SPREAD[cell[:, 2]] << np.uint32(2)
    # NumPy's stable sort is a radix sort on 16-bit keys: two passes beat one 32-bit comparison sort.
    order = np.argsort((codes & np.uint32(0xFFFF)).astype(np.uint16), kind="stable")
    order = order[np.argsort((codes >> np.uint32(16)).astype(np.uint16)[order], kind="stable")]
    return codes[order], order


class _Runs:
    """Neighbouring points: runs of one octree cell each in the Morton order, with their boxes.

    index, codes (N,), columns (3, N): the points.  starts, sizes (R,).  of_point (N,): the run of each point.
    lo, hi, centre (R, 3), radius (R,): bounds of the points themselves, tighter than the cell.
    """

    def __init__(self, index, codes, columns, level):
        cells = codes >> np.uint32(3 * (_BITS - level))
        self.index, self.codes, self.columns = index, codes, columns
        self.starts = np.flatnonzero(np.concatenate(([True], cells[1:] != cells[:-1])))
        self.sizes = np.diff(np.append(self.starts, len(index)))
        self.of_point = np.repeat(np.arange(len(self.starts)), self.sizes)
        self.lo = np.minimum.reduceat(columns, self.starts, axis=1).T
        self.hi = np.maximum.reduceat(columns, self.starts, axis=1).T
        self.centre, self.radius = (self.lo + self.hi) / 2, _norm(self.hi - self.lo) / 2

    def children(self, kept, level):
        """Runs one level finer of the runs kept (R,) bool, and the parent of each."""
        points = kept[self.of_point]
        runs = _Runs(self.index[points], self.codes[points], self.columns[:, points], level)
        return runs, self.of_point[points][runs.starts]


def _inherited(items, number, parent):
    """Ragged items, number (R,) a run, handed down to runs with parent (S,): (run, item) pairs."""
    start = np.cumsum(number) - number
    return np.repeat(np.arange(len(parent)), number[parent]), items[_expand(start[parent], number[parent])]


def _box_gap2(lo, hi, other_lo, other_hi):
    gap = np.maximum(np.maximum(other_lo - hi, lo - other_hi), 0)
    return np.einsum("...i,...i->...", gap, gap)


def _norm(vectors):
    """Lengths of vectors (..., 3); several times faster than np.linalg.norm over so short an axis."""
    return np.sqrt(np.einsum("...i,...i->...", vectors, vectors))


def _corner_boxes(corners):
    """Boxes (T, 3), (T, 3) of corners (T, 3, 3), without NumPy's slow reduction of a short axis."""
    a, b, c = corners.transpose(1, 0, 2)
    return np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)


def _expand(starts, counts):
    """Concatenated ranges start .. start + count."""
    return np.repeat(starts - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())


def _planar_frames(corners, normals):
    """Rows (18, T): the triangle's plane axes with offsets (x along ab, y, height) and its planar corners."""
    origin = corners[:, 0]
    ab, ac = corners[:, 1] - origin, corners[:, 2] - origin
    length = _norm(ab)
    x = ab / length[:, None]
    y = np.cross(normals, x)
    frames = np.empty((18, len(corners)))
    for row, axis in ((0, x), (4, y), (8, normals)):
        frames[row : row + 3] = axis.T
        frames[row + 3] = np.einsum("ti,ti->t", axis, origin)
    cx, cy = np.einsum("ti,ti->t", ac, x), np.einsum("ti,ti->t", ac, y)
    frames[12:15] = length, cx, cy
    frames[15:18] = cx - length, 1 / ((cx - length) ** 2 + cy**2), 1 / (cx**2 + cy**2)
    return frames


def _planar_coordinates(p, f):
    px, py, pz = p
    x = px * f[0] + py * f[1] + pz * f[2] - f[3]
    y = px * f[4] + py * f[5] + pz * f[6] - f[7]
    return x, y, px * f[8] + py * f[9] + pz * f[10] - f[11]


def _edge_steps(x, y, f):
    """Clamped positions on the edges ab, bc, ca and the squared planar distances to them."""
    length, cx, cy, ex, inverse_bc, inverse_ca = f[12:18]
    ab = np.minimum(np.maximum(x, 0), length)
    bc = np.minimum(np.maximum(((x - length) * ex + y * cy) * inverse_bc, 0), 1)
    ca = np.minimum(np.maximum((x * cx + y * cy) * inverse_ca, 0), 1)
    squares = (
        (x - ab) ** 2 + y**2,
        (x - length - bc * ex) ** 2 + (y - bc * cy) ** 2,
        (x - ca * cx) ** 2 + (y - ca * cy) ** 2,
    )
    inside = (y >= 0) & (y * ex >= (x - length) * cy) & (x * cy >= y * cx)
    return (ab, bc, ca), squares, inside


def _planar_distance2(p, f):
    """Squared distance of points p (3, P) to triangles with frames f (18, P)."""
    x, y, z = _planar_coordinates(p, f)
    _, (ab, bc, ca), inside = _edge_steps(x, y, f)
    return z * z + np.where(inside, 0, np.minimum(np.minimum(ab, bc), ca))


def _planar_closest(p, f):
    """Planar position (2, P) of the nearest point and its feature: 0 face, 1-3 edges, 4-6 corners."""
    x, y, _ = _planar_coordinates(p, f)
    (ab, bc, ca), squares, inside = _edge_steps(x, y, f)
    length, cx, cy, ex = f[12:16]
    edge = np.argmin(squares, axis=0)
    place_x = np.choose(edge, (ab, length + bc * ex, ca * cx))
    place_y = np.choose(edge, (np.zeros_like(ab), bc * cy, ca * cy))
    step = np.choose(edge, (ab / length, bc, 1 - ca))
    kind = np.where(step <= 0, 4 + edge, np.where(step >= 1, 4 + (edge + 1) % 3, 1 + edge))
    return (np.where(inside, x, place_x), np.where(inside, y, place_y)), np.where(inside, 0, kind)


def _feature_normals(vertices, triangles, corners, normals):
    """Unit pseudonormals (T, 7, 3) of face, edges ab, bc, ca, corners a, b, c; which are borders (T, 7)."""
    welded = _weld(vertices)[triangles]
    out = np.empty((len(triangles), 7, 3))
    out[:, 0] = normals
    following = np.roll(welded, -1, axis=1)
    keys = np.minimum(welded, following) * len(vertices) + np.maximum(welded, following)
    _, edge = np.unique(keys.ravel(), return_inverse=True)
    out[:, 1:4] = _gathered_sum(edge.reshape(-1, 3), np.ones(welded.shape), normals)
    to_next = np.roll(corners, -1, axis=1) - corners
    to_previous = np.roll(corners, 1, axis=1) - corners
    sine = _norm(np.cross(to_next, to_previous))
    angle = np.arctan2(sine, np.einsum("tij,tij->ti", to_next, to_previous))
    out[:, 4:7] = _gathered_sum(welded, angle, normals)
    border = np.zeros((len(triangles), 7), bool)
    border[:, 1:4] = np.bincount(edge.ravel())[edge.reshape(-1, 3)] == 1
    on_border = np.zeros(len(vertices), bool)
    on_border[welded[border[:, 1:4]]] = on_border[following[border[:, 1:4]]] = True
    border[:, 4:7] = on_border[welded]
    length = _norm(out)[..., None]
    # Two faces folded onto each other cancel: such a feature keeps its own face's normal.
    flat = length < 1e-9
    return np.where(flat, normals[:, None], out / np.where(flat, 1, length)), border


def _gathered_sum(groups, weights, normals):
    """Sum weights (T, 3) times face normals over equal groups (T, 3), gathered back to (T, 3, 3)."""
    flat = groups.ravel()
    sums = [np.bincount(flat, (weights * normals[:, i, None]).ravel()) for i in range(3)]
    return np.stack(sums, axis=1)[groups]


def _weld(vertices):
    """Representative (V,) of each vertex; equal to a millionth of the mesh's size counts as the same."""
    lo = vertices.min(axis=0)
    size = max((vertices.max(axis=0) - lo).max(), 1e-30)
    grid = np.rint((vertices - lo) * (1e6 / size)).astype(np.int64)
    _, representative = np.unique((grid[:, 0] << 42) + (grid[:, 1] << 21) + grid[:, 2], return_inverse=True)
    return representative.reshape(-1)
