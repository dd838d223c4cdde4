"""Do the borders of overlaps show?  Creases there beyond those of the captured meshes, by dihedral angles.

An edge's crease in a mesh is how far its dihedral angle is from what is usual for that edge: its mean over the
captured meshes. Edges at a rim are those with an end within ``RINGS`` rings of a border, where membership of a part
changes: there gradients or vertices of one part give way to those of the other. The measure of a
mesh is the mean crease at rims over the mean crease of all other edges; the same of each captured mesh is what the
body's own bending does there, since parts overlap at joints. ``rim_excess`` is the first over the second, both means
over meshes: 1 where borders do not show, and at most 1.1 is demanded.

Creases are in radians and bounded by the size of the dihedral; the edges' lengths weigh them, so that resolution does
not matter. Numerator and denominator come from one mesh, so that a smoother or livelier mesh makes no difference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from solvers.core.errors import InputError

RINGS = 1


@dataclass(frozen=True)
class Seams:
    """faces (2, E): on both sides of each edge with two.  ends (2, E).  rim (E,): edges at a border of an overlap.

    usual (E,): signed dihedral angles, radians, means over the captured meshes.  own: their rim ratio.
    """

    triangles: np.ndarray
    faces: np.ndarray
    ends: np.ndarray
    rim: np.ndarray
    usual: np.ndarray
    own: float

    @classmethod
    def of(cls, captured: np.ndarray, triangles: np.ndarray, memberships: np.ndarray) -> Seams:
        """captured (N, V, 3), without noise where that is known; triangles (T, 3); memberships (K, V) bool.

        Raises InputError where no overlap has a border, or nothing but borders is left.
        """
        faces, ends = _inner_edges(triangles)
        near = _near_borders(memberships, ends, captured.shape[1])
        rim = near[ends].any(axis=0)
        if rim.all() or not rim.any():
            raise InputError("No edge, or every edge, is at a border of an overlap; let parts overlap in a band.")
        angles = np.stack([_dihedrals(mesh, triangles, faces, ends) for mesh in captured])
        usual = np.arctan2(np.sin(angles).mean(axis=0), np.cos(angles).mean(axis=0))
        found = cls(triangles, faces, ends, rim, usual, 1.0)
        return cls(triangles, faces, ends, rim, usual, float(np.mean([found.ratio(mesh) for mesh in captured])))

    def creases(self, vertices: np.ndarray) -> np.ndarray:
        """(E,) radians, of vertices (V, 3): by how much each dihedral angle is not the usual one."""
        away = _dihedrals(vertices, self.triangles, self.faces, self.ends) - self.usual
        return np.abs(np.arctan2(np.sin(away), np.cos(away)))

    def ratio(self, vertices: np.ndarray) -> float:
        """Mean crease at rims over that of all other edges, of vertices (V, 3)."""
        creases, lengths = self.creases(vertices), np.linalg.norm(np.diff(vertices[self.ends], axis=0)[0], axis=1)
        rim, rest = (np.average(creases[some], weights=lengths[some]) for some in (self.rim, ~self.rim))
        return float(rim / rest)

    def rim_excess(self, meshes: np.ndarray) -> float:
        """Of meshes (N, V, 3), over the captured ones' own."""
        return float(np.mean([self.ratio(mesh) for mesh in meshes])) / self.own


def _inner_edges(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Faces (2, E) on both sides of edges with two, and their ends (2, E), as the first of the faces goes."""
    start, end = triangles.reshape(-1), np.roll(triangles, -1, axis=1).reshape(-1)
    key = np.minimum(start, end).astype(np.int64) * (triangles.max() + 1) + np.maximum(start, end)
    order = np.argsort(key, kind="stable")
    _, first, count = np.unique(key[order], return_index=True, return_counts=True)
    one, other = order[first[count == 2]], order[first[count == 2] + 1]
    return np.stack((one // 3, other // 3)), np.stack((start[one], end[one]))


def _near_borders(memberships: np.ndarray, ends: np.ndarray, count: int) -> np.ndarray:
    """(V,) within so many rings of an edge whose ends are not in the same parts."""
    crossing = (memberships[:, ends[0]] != memberships[:, ends[1]]).any(axis=0)
    near = np.zeros(count, bool)
    near[ends[:, crossing]] = True
    rows, columns = np.concatenate((ends, ends[::-1]), axis=1)
    neighbours = csr_matrix((np.ones(len(rows)), (rows, columns)), (count, count))
    for _ in range(RINGS - 1):
        near |= neighbours @ near.astype(float) > 0.0
    return near


def _dihedrals(vertices: np.ndarray, triangles: np.ndarray, faces: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """(E,) signed, radians: 0 where both faces are in one plane."""
    corners = vertices[triangles].astype(float)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    one, other = normals[faces]
    along = vertices[ends[1]].astype(float) - vertices[ends[0]]
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-12)
    return np.arctan2(np.einsum("ei,ei->e", np.cross(one, other), along), np.einsum("ei,ei->e", one, other))
