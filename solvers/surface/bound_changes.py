"""How far surfaces are from where they were at bind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.subsampling import evenly_spaced
from ..core.types import MeshTrack, TriangleMesh
from .closest_point import SurfaceIndex
from .track import rigid_motion

# Metres at a body of 1.8 m: less is rounding.
NOTHING = 1e-4
# Of a range, and of a surface, that are compared.
_STATES, _VERTICES = 16, 20_000


@dataclass(frozen=True)
class Change:
    """distance: metres, the farthest that any point is from where it was.  is_rigid: the shape is still the same.
    is_edited: the faces are others, so that the distance is that between the surfaces."""

    distance: float
    is_rigid: bool
    is_edited: bool = False

    def counts(self, scale: float) -> bool:
        """Whether it is more than rounding. scale: body height / 1.8 m."""
        return self.distance > NOTHING * scale


def change_of_points(before: np.ndarray, now: np.ndarray) -> Change:
    """Of points (S, P, 3) that belong together, world metres; S = 1 or as many states each."""
    count = max(len(before), len(now))
    before, now = (np.broadcast_to(points, (count, *points.shape[1:])) for points in (before, now))
    rows = evenly_spaced(np.arange(count), _STATES)
    distance = max(float(np.linalg.norm(now[row] - before[row], axis=-1).max(initial=0.0)) for row in rows)
    is_rigid = all(rigid_motion(np.stack((before[row], now[row]))) is not None for row in rows)
    return Change(distance, is_rigid)


def change_of_faces(before: MeshTrack, now: MeshTrack) -> Change:
    """Of a surface whose faces have been edited: the farthest that a vertex of one lies from the other."""
    count = max(len(before.vertices), len(now.vertices))
    rows = evenly_spaced(np.arange(count), _STATES) if count > 1 else [0]
    return Change(max(_apart(before.state(row), now.state(row)) for row in rows), False, True)


def _apart(first: TriangleMesh, second: TriangleMesh) -> float:
    return max(_farthest(first.vertices, second), _farthest(second.vertices, first))


def _farthest(points: np.ndarray, mesh: TriangleMesh) -> float:
    index = SurfaceIndex(mesh.vertices, mesh.triangles, mesh.name)
    return float(np.abs(index.query(evenly_spaced(points, _VERTICES), np.inf).distance).max())
