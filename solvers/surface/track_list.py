"""Signed distances to several objects over a frame range, asked together; see ``present`` for a single moment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .closest_point import SurfaceHits
from .track import SurfaceTrack


class SurfaceTracks:
    """Closest-point queries against O objects over F frames, each point against one of them at one frame.

    Points say which by a number, object F + frame (``sides.SidedSurface``).
    """

    def __init__(self, surfaces: Sequence[SurfaceTrack], frames: int):
        self.surfaces, self._frames = surfaces, frames

    def query(self, points: np.ndarray, number: np.ndarray, reach: np.ndarray | float) -> SurfaceHits:
        """Nearest places to points (M, 3), world, within ``reach`` metres, one for all or (M,); world space."""
        obj, frame = np.divmod(number, self._frames)
        reaches = np.broadcast_to(reach, obj.shape)
        rows, hits = [], []
        for k, surface in enumerate(self.surfaces):
            # One that is asked less far answers sooner.
            for limit, chosen in _alike(reaches, np.flatnonzero(obj == k)):
                rows.append(chosen)
                hits.append(surface.query(points[chosen], frame[chosen], limit))
        return SurfaceHits.gathered(hits, rows)

    def face_normals(self, triangle: np.ndarray, number: np.ndarray) -> np.ndarray:
        """Unit normals (M, 3) of triangles (M,); zero where a triangle has no area."""
        obj, frame = np.divmod(number, self._frames)
        out = np.zeros((len(obj), 3))
        for k, surface in enumerate(self.surfaces):
            chosen = np.flatnonzero(obj == k)
            out[chosen] = surface.face_normals(triangle[chosen], frame[chosen])
        return out

    def at_least(self, points: np.ndarray, number: np.ndarray) -> np.ndarray:
        """(M,) metres that the objects are away at least: here nothing is known before they are asked."""
        return np.zeros(len(points))


def _alike(values, rows):
    """Each value (of few) among rows (M,) with the rows that have it."""
    while rows.size:
        value = values[rows[0]]
        same = values[rows] == value
        yield value, rows[same]
        rows = rows[~same]
