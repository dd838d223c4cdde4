"""Out of an object by the side one was on.

The nearest way out of a box that has been moved over a foot may lead through its top or its bottom; the motion was made
beside it. A point inside is therefore measured towards the side that it faced at bind, where that is not too far.
"""

from __future__ import annotations

import numpy as np

from .closest_point import SurfaceHits
from .surface_track import SurfaceTrack

_TRIES = 3
_START = 0.01


def sided(
    surface: SurfaceTrack, points: np.ndarray, frames: np.ndarray, hits: SurfaceHits, side: np.ndarray, limit: float
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
    step = _START + 2.0 * np.abs(distance[inside])
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
