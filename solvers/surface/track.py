"""Signed distances to an object that may stand still, move rigidly or deform over a frame range."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.types import MeshTrack
from ..core.vectors import cross
from ..rotations.polar import nearest_rotation
from .closest_point import SurfaceHits, SurfaceIndex

# Relative to the object's size: below it a moving object is taken for rigid (float32 evaluation leaves 1e-7).
_RIGID_TOLERANCE = 1e-6
# Indices of a deforming object kept at a time; a batch of frames should not be longer.
KEPT_STATES = 64


class SurfaceTrack:
    """Closest-point queries against one object, each point at its own frame.

    A static object has one index, a rigid one is queried in its own frame of reference, a deforming one has an index
    a state, of which the latest ``KEPT_STATES`` are kept.
    """

    def __init__(self, mesh: MeshTrack):
        self.mesh = mesh
        self._motion = None if mesh.is_static else rigid_motion(mesh.vertices)
        self.is_deforming = not mesh.is_static and self._motion is None
        self._indices: dict[int, SurfaceIndex] = {}
        if not self.is_deforming:
            self._indices[0] = SurfaceIndex(mesh.vertices[0], mesh.triangles, mesh.name)

    def to_first_state(self, points: np.ndarray, frames: np.ndarray) -> np.ndarray:
        """Points (M, 3) at frames (M,) carried into the first state of a static or rigid object."""
        if self._motion is None:
            return points
        rotations, shifts = (part[frames] for part in self._motion)
        return np.einsum("mba,mb->ma", rotations, points - shifts)

    def query(self, points: np.ndarray, frames: np.ndarray, reach: float) -> SurfaceHits:
        """Nearest places to points (M, 3), world, at frames (M,) of the range, within ``reach`` metres; world space."""
        if self.is_deforming:
            return self._query_states(points, frames, reach)
        hits = self._indices[0].query(self.to_first_state(points, frames), reach)
        if self._motion is None:
            return hits
        rotations, shifts = (part[frames] for part in self._motion)
        closest = np.einsum("mab,mb->ma", rotations, hits.closest) + shifts
        return replace(hits, closest=closest, normal=np.einsum("mab,mb->ma", rotations, hits.normal))

    def face_normals(self, triangle: np.ndarray, frames: np.ndarray) -> np.ndarray:
        """Unit normals (M, 3) of triangles (M,) at frames (M,); zero where a triangle has no area."""
        state = np.zeros_like(frames) if self.mesh.is_static else frames
        corner = self.mesh.vertices[state[:, None], self.mesh.triangles[triangle]]
        normal = cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
        length = np.linalg.norm(normal, axis=1, keepdims=True)
        return np.divide(normal, length, out=np.zeros_like(normal), where=length > 0)

    def _query_states(self, points, frames, reach):
        if not len(points):
            return self._index(0).query(points, reach)
        order = np.argsort(frames, kind="stable")
        states, starts = np.unique(frames[order], return_index=True)
        rows = np.split(order, starts[1:])
        hits = [self._index(int(state)).query(points[r], reach) for state, r in zip(states, rows, strict=True)]
        return SurfaceHits.gathered(hits, rows)

    def _index(self, state: int) -> SurfaceIndex:
        if state not in self._indices:
            if len(self._indices) >= KEPT_STATES:
                del self._indices[next(iter(self._indices))]
            mesh = self.mesh.state(state)
            self._indices[state] = SurfaceIndex(mesh.vertices, mesh.triangles, mesh.name)
        return self._indices[state]


def rigid_motion(vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Rotations (S, 3, 3) and shifts (S, 3) that carry state 0 of (S, V, 3) to each state, x' = R x + t.

    None where some state is not a rigid copy of the first (Kabsch 1976, residual over 1e-6 of the object's size).
    """
    # Axes first: sums over vertices and differences are several times faster that way.
    places = np.ascontiguousarray(np.swapaxes(vertices, 1, 2))
    centre = places.mean(axis=2, keepdims=True)
    local = places - centre
    first, others = local[0], local[1:]
    rotations = np.concatenate((np.eye(3)[None], nearest_rotation(others @ first.T)))
    residual = np.abs(rotations[1:] @ first - others).max(initial=0.0)
    if residual > _RIGID_TOLERANCE * max(np.abs(first).max(), 1e-12) + 1e-7 * np.abs(places).max():
        return None
    return rotations, (centre - rotations @ centre[0])[..., 0]
