"""The nearest places of a surface among those of its faces that look as points do.

A thin wall that is brought nearer to a body by more than half of its thickness has its back nearer to where its front
was. What rested on the front is to go over to the front: the nearest of all places would be the wrong side.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from ..core.types import TriangleMesh
from ..core.vectors import cross
from .planar_triangles import planar_closest, planar_distance2, planar_frames

# Pairs of a point and a face that are looked at together; metres by which places are as near as each other.
_PAIRS, _AS_NEAR = 4_000_000, 1e-6


def nearest_facing(
    mesh: TriangleMesh, points: np.ndarray, normals: np.ndarray, least: float, reach: float
) -> tuple[np.ndarray, np.ndarray]:
    """Triangles (N,) of the nearest places to points (N, 3) and those places (N, 3); -1 and the point where none is.

    normals: (N, 3) unit, of the points.  least: the cosine between a point's normal and a face's that is to be passed.
    reach: metres, may be inf. Of faces that are as near, the one that looks most as the point does counts.
    """
    corners = mesh.vertices[mesh.triangles]
    doubled = cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(doubled, axis=1)
    kept = np.flatnonzero(area > 1e-12 * max(area.max(initial=0.0), 1e-30))
    corners, faces = corners[kept], doubled[kept] / area[kept, None]
    triangle, places = np.full(len(points), -1), np.array(points, float)
    if not kept.size:
        return triangle, places
    frames, middles = planar_frames(corners, faces), corners.mean(axis=1)
    radii = np.linalg.norm(corners - middles[:, None], axis=2).max(axis=1)
    size = max(1, _PAIRS // len(kept))
    for first in range(0, len(points), size):
        part = slice(first, first + size)
        alike = normals[part] @ faces.T
        row, face = _candidates(points[part], middles, radii, alike > least, reach)
        at = points[part][row].T
        distance = np.sqrt(planar_distance2(at, frames[:, face]))
        nearest = np.full(len(alike), np.inf)
        np.minimum.at(nearest, row, distance)
        those = (distance <= nearest[row] + _AS_NEAR) & (distance <= reach)
        row, face, at = row[those], face[those], at[:, those]
        order = np.lexsort((face, -np.round(alike[row, face], 9), row))
        hit, start = np.unique(row[order], return_index=True)
        face, at = face[order[start]], at[:, order[start]]
        (along, across), _ = planar_closest(at, frames[:, face])
        triangle[first + hit] = kept[face]
        x, y = frames[0:3, face].T, frames[4:7, face].T
        places[first + hit] = corners[face, 0] + along[:, None] * x + across[:, None] * y
    return triangle, places


def _candidates(points, middles, radii, alike, reach):
    """Pairs (row, face) among those that look alike (n, T), of which one is the nearest: a face is no farther than its
    middle, and no nearer than that less its radius."""
    far = cdist(points, middles)
    most = np.minimum(np.where(alike, far, np.inf).min(axis=1), reach)
    return np.nonzero(alike & (far - radii <= most[:, None] + _AS_NEAR))
