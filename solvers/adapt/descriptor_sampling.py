"""Descriptor points chosen among proximity points at bind time (Al-Ashqar et al. 2013, section 6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.errors import InputError
from ..core.types import MeshTrack, TriangleMesh
from ..surface.descriptor_frames import DescriptorPoints, smooth_vertex_normals
from ..surface.proximity_points import proximity_points
from ..surface.reach import Surface, SurfaceReach
from ..surface.weld import weld

_WELD = 1e-4  # of the radius threshold d0: 3 micrometres for a 1.8 m body


def thin_track(positions: np.ndarray, spacing: float) -> np.ndarray:
    """Mask (F, J) of the samples of each joint that lie `spacing` or more from the last one kept.

    positions: (F, J, 3), in the space of the surface that they are sampled against.  Neighbouring frames
    give the same descriptors, so a sixth of the radius threshold d0 loses nothing.
    """
    keep = np.zeros(positions.shape[:2], bool)
    keep[:1] = True
    last = positions[:1].copy()
    for frame in range(1, len(positions)):
        gone = np.square(positions[frame] - last[0]).sum(axis=1) >= spacing**2
        keep[frame] = gone
        last[0, gone] = positions[frame, gone]
    return keep


def environment_proximity(
    points: np.ndarray, meshes: Sequence[TriangleMesh], max_distance: float, d0: float
) -> tuple[np.ndarray, DescriptorPoints, np.ndarray]:
    """Proximity points of joints over all objects at one state of the environment.

    points: (M, 3) in frame order, world, metres.  max_distance: coverage, half the body height serves.
    d0: radius threshold, metres; vertices that lie together at its scale count as one, so that the
    prisms of a mesh with split edges leave no gaps.

    Returns, in the order of the points: point index (P,), places on the surfaces (P) and distances (P,).
    """
    found = []
    for index, mesh in enumerate(meshes):
        if not np.isfinite(mesh.vertices).all():
            raise InputError(f"'{mesh.name}' has vertices that are not numbers; repair the mesh.")
        triangles = weld(mesh.vertices, _WELD * d0)[mesh.triangles]
        normals = smooth_vertex_normals(mesh.vertices, triangles)
        point, triangle, barycentric, distance = proximity_points(
            points, mesh.vertices, triangles, normals, max_distance
        )
        found.append((point, np.full(len(point), index), triangle, barycentric, distance))
    if not found:
        raise InputError("The environment has no objects; choose at least one mesh.")
    point, index, triangle, barycentric, distance = (np.concatenate(c) for c in zip(*found, strict=True))
    order = np.argsort(point, kind="stable")
    places = DescriptorPoints(index[order], triangle[order], barycentric[order])
    return point[order], places, distance[order]


def sample_descriptors(
    candidates: DescriptorPoints,
    distances: np.ndarray,
    meshes: Sequence[TriangleMesh | MeshTrack],
    d0: float,
) -> DescriptorPoints:
    """Incremental sampling: a candidate is adopted unless one adopted before it lies within its radius.

    candidates: P proximity points in frame order.  distances: (P,) of the joint from each, metres.
    meshes: the environment that the radius is measured on (the first state of one that moves).
    d0: radius threshold, 0.03 m x height / 1.8.

    The radius is r = max(d, d0) / 2 along the surface, so the far side of a thin wall is not
    shadowed; two objects never shadow one another.  Repeated candidates change nothing.  Raises InputError
    for mismatched input.
    Source: Al-Ashqar et al. 2013, section 6, eq. 7.
    """
    if distances.shape != (len(candidates),):
        raise InputError(f"{len(candidates)} candidates have distances of shape {distances.shape}.")
    if not d0 > 0:
        raise InputError(f"The radius threshold is {d0}; it must be positive.")
    radius = 0.5 * np.maximum(distances, d0)
    adopted = [np.empty(0, int)]
    for index in np.unique(candidates.object_index):
        rows = candidates.of_object(index)
        surface = Surface(_still(meshes[index]), meshes[index].triangles, _WELD * d0)
        offered = _places(surface, candidates, rows), candidates.triangle[rows]
        adopted.append(rows[_adopt(surface, offered, radius[rows], d0)])
    kept = np.sort(np.concatenate(adopted))
    return DescriptorPoints(candidates.object_index[kept], candidates.triangle[kept], candidates.barycentric[kept])


def _still(mesh):
    return mesh.vertices if mesh.vertices.ndim == 2 else mesh.vertices[0]


def _places(surface, points, rows):
    corners = surface.vertices[surface.triangles[points.triangle[rows]]]
    return np.einsum("pk,pkc->pc", points.barycentric[rows], corners)


def _adopt(surface, offered, radius, d0):
    """Indices of the offered points that are adopted, in order; loops over adopted points only."""
    shadows = _Shadows(surface, *offered, radius, d0)
    adopted = []
    while len(shadows.open):
        first = shadows.open[0]
        adopted.append(first)
        shadows.cast(offered[0][first], offered[1][first])
    return np.array(adopted, int)


class _Shadows:
    """Candidates of one object that are still open while adopted points cast their shadows."""

    def __init__(self, surface, at, triangle, radius, d0):
        self._surface, self._d0 = surface, d0
        self._octave = np.log2(radius / (0.5 * d0)).astype(int)
        self._reach = {}
        self._at, self._triangle, self._radius = at, triangle, radius
        self.open = np.arange(len(at))

    def cast(self, position, triangle):
        """Close every open candidate that has the point within its radius."""
        rows = self.open
        close = np.square(self._at[rows] - position).sum(axis=1) < self._radius[rows] ** 2
        direct = close & (self._triangle[rows] == triangle)
        closed = np.zeros(len(self._at), bool)
        closed[rows[direct]] = True
        doubtful = rows[close & ~direct]
        for octave in np.unique(self._octave[doubtful]):
            members, reach = self._level(octave)
            ways = reach.within(position, triangle, self._radius[doubtful].max())
            closed[members[ways < self._radius[members]]] = True
        self.open = rows[~closed[rows]]

    def _level(self, octave):
        """Ways to the open candidates whose radii lie in one octave, prepared when first needed."""
        if octave not in self._reach:
            members = self.open[self._octave[self.open] == octave]
            finest = 0.5 * self._d0 * 2.0**octave
            reach = SurfaceReach(
                self._surface, self._at[members], self._triangle[members], 2 * finest, finest
            )
            self._reach[octave] = members, reach
        return self._reach[octave]
