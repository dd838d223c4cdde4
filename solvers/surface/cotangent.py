"""Differential operators of a triangle mesh at rest: gradients in each face's plane, divergence, Laplacian, mass.

Faces may be flipped, without area or in many components; vertices may be in no face.  Lengths in the mesh's units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix, csc_matrix, csr_matrix
from scipy.sparse.csgraph import connected_components

from ..core.errors import InputError

# A face is a sliver when its altitude is less than this share of its longest edge, or its area of the mean area.
SLIVER_ALTITUDE, SLIVER_AREA = 1e-2, 1e-4
# A sliver thinner than this is left out even when a vertex then has no face.
_NO_ALTITUDE, _NO_AREA = 1e-4, 1e-8


@dataclass(frozen=True)
class SurfaceOperators:
    """Of the T faces that are kept, ordered by component; V vertices.

    faces (T,): their numbers in the mesh.  corners (3, T).  area (T,).  frames (3, 3, T): two unit vectors in the
    plane and the normal, as columns.  inverse (3, T): entries 11, 12, 22 of the inverse of the upper triangular
    matrix of the edges 0-1 and 0-2 in that plane.  mass (V,): a third of the area around, positive also for loose
    vertices.  divergence (V, 2T): of in-plane gradients, all first columns before all second ones, times area.
    laplacian (V, V): the cotangent Laplacian, positive semi-definite.  starts (C,): first face of each component.
    face_component (T,).  vertex_component (V,), -1 where a vertex is in no kept face.
    """

    faces: np.ndarray
    corners: np.ndarray
    area: np.ndarray
    frames: np.ndarray
    inverse: np.ndarray
    mass: np.ndarray
    divergence: csr_matrix
    laplacian: csc_matrix
    starts: np.ndarray
    face_component: np.ndarray
    vertex_component: np.ndarray

    @property
    def components(self) -> int:
        return len(self.starts)

    def gradients(self, vertices: np.ndarray) -> np.ndarray:
        """In-plane gradients (..., 3, 2, T) of vertex positions (..., 3, V): the identity's columns for the rest."""
        origin = vertices[..., self.corners[0]]
        first, second = (vertices[..., corner] - origin for corner in self.corners[1:])
        out = np.empty((*origin.shape[:-1], 2, origin.shape[-1]))
        np.multiply(first, self.inverse[0], out=out[..., 0, :])
        np.multiply(first, self.inverse[1], out=out[..., 1, :])
        out[..., 1, :] += second * self.inverse[2]
        return out


def surface_operators(vertices: np.ndarray, triangles: np.ndarray) -> SurfaceOperators:
    """Operators of vertices (V, 3) and triangles (T, 3).

    Slivers are left out unless a vertex then has no face.  Raises InputError where no face has an area.  Laplacian:
    Pinkall and Polthier 1993; in-plane gradients of the hat functions as in Botsch et al. 2010, Polygon Mesh
    Processing, 3.3.
    """
    kept = ~left_out(vertices, triangles)
    if not kept.any():
        raise InputError("The target has no face with an area; give it faces, or choose another first frame.")
    labels = vertex_components(triangles[kept], len(vertices))
    faces = np.flatnonzero(kept)
    faces = faces[np.argsort(labels[triangles[faces, 0]], kind="stable")]
    corners = np.ascontiguousarray(triangles[faces].T)
    numbers, starts, face_component = np.unique(labels[corners[0]], return_index=True, return_inverse=True)
    frames, lengths = _frames(vertices, corners)
    area = 0.5 * lengths[0] * lengths[2]
    inverse = np.stack((1 / lengths[0], -lengths[1] / (lengths[0] * lengths[2]), 1 / lengths[2]))
    hats = _hat_gradients(inverse, corners, len(vertices))
    divergence = (hats.T @ _diagonal(np.tile(area, 2))).tocsr()
    vertex_component = np.full(len(vertices), -1)
    vertex_component[corners.reshape(-1)] = np.tile(face_component.reshape(-1), 3)
    return SurfaceOperators(
        faces=faces,
        corners=corners,
        area=area,
        frames=frames,
        inverse=inverse,
        mass=lumped_mass(vertices, triangles),
        divergence=divergence,
        laplacian=(divergence @ hats).tocsc(),
        starts=starts,
        face_component=face_component.reshape(-1),
        vertex_component=vertex_component,
    )


def left_out(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """(T,) true for slivers, except those that are a vertex's last hold and have some area."""
    area, longest = _sizes(vertices, triangles)
    altitude = 2.0 * area / np.maximum(longest * longest, 1e-300)
    mean = area.mean() if len(area) else 0.0
    sliver = (altitude < SLIVER_ALTITUDE) | (area < SLIVER_AREA * mean)
    nothing = (altitude < _NO_ALTITUDE) | (area < _NO_AREA * mean)
    held = np.zeros(len(vertices), bool)
    held[triangles[~sliver]] = True
    needed = ~held[triangles].all(axis=1) & ~nothing
    return sliver & ~needed


def lumped_mass(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """(V,) a third of the area of the faces around each vertex; where there is none, the mean of the others."""
    area, _ = _sizes(vertices, triangles)
    mass = np.bincount(triangles.reshape(-1), np.repeat(area / 3.0, 3), len(vertices))
    some = mass > 1e-6 * mass.mean()
    return np.where(some, mass, mass[some].mean())


def vertex_components(triangles: np.ndarray, count: int) -> np.ndarray:
    """(V,) a number for each vertex, the same for those that faces (T, 3) connect."""
    start, end = triangles.reshape(-1), np.roll(triangles, 1, axis=1).reshape(-1)
    graph = coo_matrix((np.ones(len(start), np.int8), (start, end)), (count, count))
    return connected_components(graph, directed=False)[1]


def face_neighbours(corners: np.ndarray) -> np.ndarray:
    """Pairs (2, N) of faces that share an edge, of corners (3, T); where more than two do, each with the next."""
    edges = np.concatenate((corners[[0, 1]], corners[[1, 2]], corners[[2, 0]]), axis=1)
    low, high = np.sort(edges, axis=0).astype(np.int64)
    key = low * (high.max() + 1) + high
    order = np.argsort(key, kind="stable")
    same = np.flatnonzero(key[order][1:] == key[order][:-1])
    face = order % corners.shape[1]
    return np.stack((face[same], face[same + 1]))


def _sizes(vertices, triangles):
    """Areas (T,) and longest edges (T,)."""
    corner = vertices[triangles]
    edges = np.roll(corner, -1, axis=1) - corner
    area = 0.5 * np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    return area, np.linalg.norm(edges, axis=2).max(axis=1, initial=0.0)


def _frames(vertices, corners):
    """Frames (3, 3, T) with the first edge along x, and (3, T) its length and the second edge's x and y."""
    first, second = (vertices[corner] - vertices[corners[0]] for corner in corners[1:])
    length = np.linalg.norm(first, axis=1, keepdims=True)
    x = first / length
    along = np.sum(second * x, axis=1, keepdims=True)
    y = second - along * x
    height = np.linalg.norm(y, axis=1, keepdims=True)
    y = y / height
    frames = np.stack((x, y, np.cross(x, y)), axis=-1)
    return np.ascontiguousarray(np.moveaxis(frames, 0, -1)), np.concatenate((length, along, height), axis=1).T


def _hat_gradients(inverse, corners, count):
    """(2T, V): the in-plane gradient of a function given at the vertices."""
    zero = np.zeros_like(inverse[0])
    of_edges = np.array(((inverse[0], zero), (inverse[1], inverse[2])))
    values = np.stack((-of_edges.sum(axis=1), of_edges[:, 0], of_edges[:, 1]), axis=1)
    rows = np.arange(values.shape[0] * values.shape[2]).reshape(2, 1, -1)
    rows, columns = np.broadcast_arrays(rows, corners[None])
    shape = (2 * corners.shape[1], count)
    return csr_matrix((values.reshape(-1), (rows.reshape(-1), columns.reshape(-1))), shape)


def _diagonal(values):
    numbers = np.arange(len(values))
    return csr_matrix((values, (numbers, numbers)))
