"""Signed distances to an object that may stand still, move rigidly or deform over a frame range."""

from __future__ import annotations

import numpy as np

from .closest_point import SurfaceIndex
from .types import MeshTrack

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

    def query(self, points: np.ndarray, frames: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
        """points (M, 3) world, frames (M,) int in the range.

        Returns distance (M,) signed, positive outside, inf beyond ``reach`` metres, and normal (M, 3) of the closest
        feature (zero beyond reach).
        """
        if self.is_deforming:
            return self._query_states(points, frames, reach)
        hits = self._indices[0].query(self.to_first_state(points, frames), reach)
        if self._motion is None:
            return hits.distance, hits.normal
        return hits.distance, np.einsum("mab,mb->ma", self._motion[0][frames], hits.normal)

    def _query_states(self, points, frames, reach):
        distance, normal = np.full(len(points), np.inf), np.zeros((len(points), 3))
        order = np.argsort(frames, kind="stable")
        states, starts = np.unique(frames[order], return_index=True)
        for state, rows in zip(states, np.split(order, starts[1:]), strict=True):
            hits = self._index(int(state)).query(points[rows], reach)
            distance[rows], normal[rows] = hits.distance, hits.normal
        return distance, normal

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
    centre = vertices.mean(axis=1, keepdims=True)
    local = vertices - centre
    u, _, vt = np.linalg.svd(np.einsum("sva,vb->sab", local, local[0]))
    u[..., 2] *= np.linalg.det(u @ vt)[:, None]
    rotations = u @ vt
    residual = np.abs(np.einsum("sab,vb->sva", rotations, local[0]) - local).max()
    if residual > _RIGID_TOLERANCE * max(np.abs(local[0]).max(), 1e-12) + 1e-7 * np.abs(vertices).max():
        return None
    return rotations, (centre - np.einsum("sab,cb->sca", rotations, centre[0]))[:, 0]
