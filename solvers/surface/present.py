"""Signed distances to several objects as they are at one moment, asked together.

A query costs dozens of NumPy calls however few its points are. The objects therefore share one index, laid out in a row
so far apart that none is within reach of another, and each is asked in its own frame of reference: one that moves
rigidly keeps its place in the index. One that changes its shape leaves for an index of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from ..core.types import TriangleMesh
from ..core.vectors import cross
from .closest_point import SurfaceHits, SurfaceIndex
from .track import rigid_motion


class PresentSurfaces:
    """Closest-point queries against O objects, each point against one of them: a ``sides.SidedSurface`` whose frames
    are the objects' numbers.

    lo, hi: (O, 3) the objects' bounds, world.  reach: metres, the farthest that anything is asked for.
    """

    def __init__(self, meshes: Sequence[TriangleMesh], reach: float):
        count = len(meshes)
        self.reach = reach
        self._meshes = [_kept(mesh) for mesh in meshes]
        self._rotations, self._shifts = np.tile(np.eye(3), (count, 1, 1)), np.zeros((count, 3))
        self._rows = [_Row(dict(enumerate(self._meshes)), count, reach)] * count
        self.lo, self.hi = np.empty((count, 3)), np.empty((count, 3))
        self._gather()

    def update(self, meshes: Sequence[TriangleMesh]) -> list[int]:
        """Take over the objects' present state; returns the numbers of those that have changed."""
        changed = [k for k, mesh in enumerate(meshes) if not _same(mesh, self._meshes[k])]
        fits = all(_same_faces(meshes[k], self._meshes[k]) for k in changed)
        for k in changed:
            self._meshes[k] = mesh = _kept(meshes[k])
            motion = self._rows[k].motion_of(k, mesh)
            if motion is None:
                self._rows[k] = _Row({k: mesh}, len(meshes), self.reach)
                motion = np.eye(3), np.zeros(3)
            self._rotations[k], self._shifts[k] = motion
            if fits:
                self._place(k)
        if not fits:
            self._gather()
        return changed

    def query(self, points: np.ndarray, objects: np.ndarray, reach: np.ndarray | float) -> SurfaceHits:
        """Nearest places to points (M, 3), world, on objects (M,) within ``reach`` metres, one for all or (M,); world
        space. All are asked as far as the one that is asked farthest: a second call costs more."""
        rotation, shift = self._rotations[objects], self._shifts[objects]
        local = np.einsum("mba,mb->ma", rotation, points - shift)
        hits = self._query_rows(local, objects, np.max(reach))
        closest = np.einsum("mab,mb->ma", rotation, hits.closest) + shift
        distance = hits.distance
        if np.ndim(reach):
            distance = np.where(np.abs(distance) <= reach, distance, np.inf)
        return replace(
            hits, distance=distance, closest=closest, normal=np.einsum("mab,mb->ma", rotation, hits.normal)
        )

    def at_least(self, points: np.ndarray, objects: np.ndarray) -> np.ndarray:
        """(M,) metres that the objects are away at least, by their bounds."""
        outside = np.maximum(np.maximum(self.lo[objects] - points, points - self.hi[objects]), 0.0)
        return np.sqrt(np.einsum("mi,mi->m", outside, outside))

    def face_normals(self, triangle: np.ndarray, objects: np.ndarray) -> np.ndarray:
        """Unit normals (M, 3) of triangles (M,) of objects (M,); zero where a triangle has no area."""
        corner = self._vertices[self._triangles[self._first[objects] + triangle]]
        normal = cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
        length = np.sqrt(np.einsum("mi,mi->m", normal, normal))[:, None]
        return np.divide(normal, length, out=np.zeros_like(normal), where=length > 0)

    def _query_rows(self, local, objects, reach):
        rows = list(dict.fromkeys(self._rows))
        if len(rows) == 1:
            return rows[0].query(local, objects, reach)
        number = np.array([rows.index(row) for row in self._rows])[objects]
        parts = [np.flatnonzero(number == k) for k in range(len(rows))]
        hits = [row.query(local[part], objects[part], reach) for row, part in zip(rows, parts, strict=True)]
        return SurfaceHits.gathered(hits, parts)

    def _gather(self):
        self._start = np.cumsum([0, *(len(mesh.vertices) for mesh in self._meshes)])
        self._vertices = np.empty((self._start[-1], 3))
        for k in range(len(self._meshes)):
            self._place(k)
        parts = zip(self._meshes, self._start[:-1], strict=True)
        self._triangles = np.concatenate([mesh.triangles + start for mesh, start in parts])
        self._first = np.cumsum([0, *(len(mesh.triangles) for mesh in self._meshes)])[:-1]

    def _place(self, k):
        vertices = self._meshes[k].vertices
        self.lo[k], self.hi[k] = _bounds(vertices)
        self._vertices[self._start[k] : self._start[k + 1]] = vertices


class _Row:
    """Some of the objects side by side in one index, made when it is first asked."""

    def __init__(self, meshes: dict[int, TriangleMesh], count: int, reach: float):
        self._meshes = meshes
        numbers = list(meshes)
        self._lo, self._hi = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
        for k, mesh in meshes.items():
            self._lo[k], self._hi[k] = _bounds(mesh.vertices)
        # A row is short along the axis in which the objects are small.
        size = self._hi[numbers] - self._lo[numbers]
        axis = int(np.argmin(size.sum(axis=0)))
        # A point within reach of one object is more than a reach from the next.
        step = size[:, axis] + 3.0 * reach
        self._offset = np.zeros((count, 3))
        self._offset[numbers] = -self._lo[numbers]
        self._offset[numbers, axis] += np.cumsum(step) - step
        self._index: SurfaceIndex | None = None

    def motion_of(self, number: int, mesh: TriangleMesh) -> tuple[np.ndarray, np.ndarray] | None:
        """Rotation and shift that carry an object from its place in the row's shapes; None if its shape has changed."""
        rest = self._meshes[number]
        if not _same_faces(mesh, rest):
            return None
        motion = rigid_motion(np.stack((rest.vertices, mesh.vertices)))
        return None if motion is None else (motion[0][1], motion[1][1])

    def query(self, local: np.ndarray, objects: np.ndarray, reach: float) -> SurfaceHits:
        """See ``PresentSurfaces.query``; in the objects' own frames."""
        within = ((local >= self._lo[objects] - reach) & (local <= self._hi[objects] + reach)).all(axis=1)
        offset = self._offset[objects]
        near = np.flatnonzero(within)
        if near.size == len(local):
            return self._placed(local, offset, reach)
        out = SurfaceHits(
            np.full(len(local), np.inf),
            local.copy(),
            np.zeros_like(local),
            np.full(len(local), -1),
            np.zeros(len(local), int),
        )
        if near.size:
            hits = self._placed(local[near], offset[near], reach)
            for field in fields(SurfaceHits):
                getattr(out, field.name)[near] = getattr(hits, field.name)
        return out

    def _placed(self, local, offset, reach):
        if self._index is None:
            self._index = self._built()
        hits = self._index.query(local + offset, reach)
        return replace(hits, closest=hits.closest - offset)

    def _built(self):
        meshes = list(self._meshes.values())
        start = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
        vertices = [mesh.vertices + self._offset[k] for k, mesh in self._meshes.items()]
        triangles = [mesh.triangles + first for mesh, first in zip(meshes, start[:-1], strict=True)]
        names = "', '".join(mesh.name for mesh in meshes)
        return SurfaceIndex(np.concatenate(vertices), np.concatenate(triangles), names)


def _bounds(vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest of vertices (V, 3); axis by axis, which is several times faster."""
    axes = np.ascontiguousarray(vertices.T)
    return axes.min(axis=1), axes.max(axis=1)


def _kept(mesh: TriangleMesh) -> TriangleMesh:
    """With vertices that nobody else can write into."""
    return replace(mesh, vertices=np.array(mesh.vertices, float))


def _same(mesh: TriangleMesh, other: TriangleMesh) -> bool:
    return np.array_equal(mesh.vertices, other.vertices) and _same_faces(mesh, other)


def _same_faces(mesh: TriangleMesh, other: TriangleMesh) -> bool:
    if mesh.vertices.shape != other.vertices.shape:
        return False
    return mesh.triangles is other.triangles or np.array_equal(mesh.triangles, other.triangles)
