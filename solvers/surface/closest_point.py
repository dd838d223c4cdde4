"""Exact signed distance from many points to a triangle mesh.

Space is divided into cells (``space_cells``) that know which triangles can be the nearest of a point in them; they are
made where points ask and kept, since bodies come back to the same places frame after frame. Nothing is approximated:
the bounds only discard triangles that cannot win. Points farther than ``max_distance`` from everything cost little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from ..core.errors import InputError
from ..core.vectors import cross, lengths
from .edges import unique_edges
from .planar_triangles import planar_closest, planar_frames
from .space_cells import SpaceCells, TriangleBlocks
from .weld import weld

_BITS = 10
_SPREAD = sum(((np.arange(1 << _BITS, dtype=np.uint32) >> b) & 1) << np.uint32(3 * b) for b in range(_BITS))


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

    @classmethod
    def gathered(cls, hits: Sequence[SurfaceHits], rows: Sequence[np.ndarray]) -> SurfaceHits:
        """Answers to parts of the points as those to all. rows: of each part, the points' numbers, every one once."""
        count = sum(len(numbers) for numbers in rows)
        out = []
        for field in fields(cls):
            parts = [getattr(part, field.name) for part in hits]
            whole = np.empty((count, *parts[0].shape[1:]), parts[0].dtype)
            for numbers, values in zip(rows, parts, strict=True):
                whole[numbers] = values
            out.append(whole)
        return cls(*out)


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
        doubled = cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        edges = np.roll(corners, -1, axis=1) - corners
        longest2 = np.maximum.reduce(list(np.einsum("tij,tij->it", edges, edges)))
        area2 = lengths(doubled)
        # A height below 1e-9 of the longest edge is rounding noise in float64 world coordinates.
        valid = area2 > 1e-9 * longest2
        if not valid.any():
            raise InputError(f"'{name}' has no triangle with an area; repair the mesh or leave it out.")
        kept = np.flatnonzero(valid)
        normals = doubled[kept] / area2[kept, None]
        kept = kept[(order := _block_order(corners[kept]))]
        self.name = name
        self._triangle = kept
        self._corners = corners[kept]
        self._frames = planar_frames(self._corners, normals[order])
        self._normals, self._border = _feature_normals(
            vertices, triangles[kept], self._corners, normals[order]
        )
        lo, hi = _corner_boxes(self._corners)
        self._blocks = TriangleBlocks.of(self._corners[:, 0], lo, hi)
        self._lo, self._hi = lo.min(axis=0), hi.max(axis=0)
        self._slack = 1e-9 * max(np.abs(self._lo).max(), np.abs(self._hi).max(), 1e-6)
        self._cells: SpaceCells | None = None

    def query(self, points: np.ndarray, max_distance: float) -> SurfaceHits:
        """Nearest surface point of each of points (M, 3) within max_distance (metres, may be inf).

        A point's answer does not depend on the other points of the call, nor on earlier calls.
        """
        points = np.asarray(points, float)
        if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
            raise InputError(f"Query points must be finite numbers of shape (M, 3), not {points.shape}.")
        if not max_distance >= 0:
            raise InputError(f"max_distance must be zero or more metres, not {max_distance}.")
        best = np.full(len(points), -1)
        lo, hi = self._lo - max_distance, self._hi + max_distance
        within = [(x >= a) & (x <= b) for x, a, b in zip(points.T, lo, hi, strict=True)]
        near = np.flatnonzero(np.logical_and.reduce(within))
        if near.size:
            at = points[near]
            best[near] = self._cells_for(at, max_distance).nearest(at)
        return self._answer(points, best, max_distance)

    def _cells_for(self, points, reach):
        """Cells that cover points (M, 3) within reach; made anew where those there are do not."""
        cells = self._cells
        if cells is None or not cells.cover(points, reach):
            lo, hi = self._lo, self._hi
            if np.isfinite(reach):
                lo, hi = lo - reach, hi + reach
            lo, hi = np.minimum(lo, points.min(axis=0)), np.maximum(hi, points.max(axis=0))
            self._cells = cells = SpaceCells(self._frames, self._blocks, self._slack, lo, hi, reach)
        return cells

    def _answer(self, points, best, reach):
        distance = np.full(len(points), np.inf)
        closest, normal = points.copy(), np.zeros_like(points)
        triangle, feature = np.full(len(points), -1), np.zeros(len(points), int)
        hit = np.flatnonzero(best >= 0)
        won, at = best[hit], points[hit]
        place, kind = planar_closest(at.T, self._frames[:, won])
        origin, along, across = self._corners[won, 0], self._frames[0:3, won].T, self._frames[4:7, won].T
        foot = origin + along * place[0][:, None] + across * place[1][:, None]
        length = lengths(at - foot)
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


def _corner_boxes(corners):
    """Boxes (T, 3), (T, 3) of corners (T, 3, 3), without NumPy's slow reduction of a short axis."""
    a, b, c = corners.transpose(1, 0, 2)
    return np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)


def _feature_normals(vertices, triangles, corners, normals):
    """Unit pseudonormals (T, 7, 3) of face, edges ab, bc, ca, corners a, b, c; which are borders (T, 7)."""
    welded = weld(vertices)[triangles]
    out = np.empty((len(triangles), 7, 3))
    out[:, 0] = normals
    following = np.roll(welded, -1, axis=1)
    _, edge = unique_edges(welded)
    out[:, 1:4] = _gathered_sum(edge, np.ones(welded.shape), normals)
    to_next = np.roll(corners, -1, axis=1) - corners
    to_previous = np.roll(corners, 1, axis=1) - corners
    sine = lengths(cross(to_next, to_previous))
    angle = np.arctan2(sine, np.einsum("tij,tij->ti", to_next, to_previous))
    out[:, 4:7] = _gathered_sum(welded, angle, normals)
    border = np.zeros((len(triangles), 7), bool)
    border[:, 1:4] = np.bincount(edge.ravel())[edge] == 1
    on_border = np.zeros(len(vertices), bool)
    on_border[welded[border[:, 1:4]]] = on_border[following[border[:, 1:4]]] = True
    border[:, 4:7] = on_border[welded]
    length = lengths(out)[..., None]
    # Two faces folded onto each other cancel: such a feature keeps its own face's normal.
    flat = length < 1e-9
    return np.where(flat, normals[:, None], out / np.where(flat, 1, length)), border


def _gathered_sum(groups, weights, normals):
    """Sum weights (T, 3) times face normals over equal groups (T, 3), gathered back to (T, 3, 3)."""
    flat = groups.ravel()
    sums = [np.bincount(flat, (weights * normals[:, i, None]).ravel()) for i in range(3)]
    return np.stack(sums, axis=1)[groups]
