"""Out of an object by the side one was on.

The nearest way out of a box that has been moved over a foot may lead through its top or its bottom; the motion was made
beside it. A point inside is therefore measured towards the side that it faced at bind, where that is not too far.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .closest_point import SurfaceHits
from .track import SurfaceTrack
from .weld import weld

_TRIES = 3
# The first probe beyond twice the depth, as a share of the way a point may travel.
_START = 0.03
# Of a distance: planes that are faced alike.
_ALIKE = 1e-6


def faced_sides(surface: SurfaceTrack, points: np.ndarray, frames: np.ndarray, hits: SurfaceHits) -> np.ndarray:
    """Triangles (M,) that points (M, 3) face, for ``sided``; -1 beyond reach.

    Where the closest place is an edge or a corner, several triangles are as near, and which of them was found is up to
    rounding. The one a point faces is the one whose plane it is farthest from; of several planes alike the first.
    """
    out = hits.triangle.copy()
    shared = np.flatnonzero(hits.feature > 0)
    if not shared.size:
        return out
    mesh = surface.mesh
    welded = weld(mesh.vertices[0])[mesh.triangles]
    row, triangle = _around(welded, hits.triangle[shared], hits.feature[shared])
    row = shared[row]
    normal = surface.face_normals(triangle, frames[row])
    away = np.einsum("pk,pk->p", normal, points[row] - hits.closest[row]) / hits.distance[row]
    start = np.flatnonzero(np.diff(row, prepend=-1))
    best = np.repeat(np.maximum.reduceat(away, start), np.diff(np.append(start, len(row))))
    first = np.where(away >= best - _ALIKE, triangle, len(welded))
    out[row[start]] = np.minimum.reduceat(first, start)
    return out


def _around(welded, triangle, feature):
    """Pairs (row, triangle), by row, of all triangles that share the feature of a triangle (K,) each."""
    corner = np.where(feature > 3, feature - 4, feature - 1)
    other = np.where(feature > 3, corner, feature % 3)
    one, two = welded[triangle, corner], welded[triangle, other]
    order = np.argsort(welded.ravel(), kind="stable")
    start = np.searchsorted(welded.ravel()[order], one)
    count = np.searchsorted(welded.ravel()[order], one, side="right") - start
    row = np.repeat(np.arange(len(one)), count)
    place = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    found = order[np.repeat(start, count) + place] // 3
    meets = (welded[found] == two[row, None]).any(axis=1)
    return row[meets], found[meets]


class SidedSurface(Protocol):
    """What ``sided`` asks of a surface: see ``SurfaceTrack``."""

    def query(self, points: np.ndarray, frames: np.ndarray, reach: float) -> SurfaceHits: ...

    def face_normals(self, triangle: np.ndarray, frames: np.ndarray) -> np.ndarray: ...


def sided(
    surface: SidedSurface, points: np.ndarray, frames: np.ndarray, hits: SurfaceHits, side: np.ndarray, limit: float
) -> tuple[np.ndarray, np.ndarray]:
    """Signed distance (M,) of points (M, 3) and its gradient (M, 3), of points inside towards the side they were on.

    hits: of ``surface.query``.  side: (M,) triangle nearest at bind, -1 for none.  limit: metres a point may travel; it
    leaves by the nearest way where the side is farther.
    """
    distance, normal = hits.distance, _gradients(points, hits)
    inside = np.flatnonzero((distance < 0) & (side >= 0))
    if not inside.size:
        return distance, normal
    direction = surface.face_normals(side[inside], frames[inside])
    # Already the way out: the nearest face looks to the same side.
    other = np.einsum("mi,mi->m", direction, normal[inside]) < 0.99
    inside, direction = inside[other], direction[other]
    distance = distance.copy()
    step = _START * limit + 2.0 * np.abs(distance[inside])
    for _ in range(_TRIES):
        if not inside.size:
            break
        probe = points[inside] + step[:, None] * direction
        found = surface.query(probe, frames[inside], limit)
        outside = (found.distance > 0) & np.isfinite(found.distance)
        away = np.divide(
            probe - found.closest, found.distance[:, None], out=np.zeros_like(probe), where=outside[:, None]
        )
        travel = np.einsum("mi,mi->m", away, found.closest - points[inside])
        good = outside & (travel > 0) & (travel <= limit)
        distance[inside[good]], normal[inside[good]] = -travel[good], away[good]
        left = ~outside & (step <= limit)
        inside, direction, step = inside[left], direction[left], 2.0 * step[left]
    return distance, normal


def _gradients(points, hits):
    """(M, 3) of the signed distance; the pseudonormal on the surface itself, zero beyond reach."""
    away = points - hits.closest
    known = np.isfinite(hits.distance) & (np.abs(hits.distance) > 1e-9)
    return np.divide(away, hits.distance[:, None], out=hits.normal.copy(), where=known[:, None])
