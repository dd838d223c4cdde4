"""Closed pieces of a surface whose faces look inward."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from ..core.types import TriangleMesh
from ..core.vectors import cross
from .weld import weld


def inside_out(mesh: TriangleMesh, within: np.ndarray) -> tuple[int, int]:
    """How many closed pieces of a mesh are turned inside out, and how many closed pieces it has.

    within: (K, 3) places. What has all of them inside its bounds, as a room has a body, is to look inward.
    Vertices that lie together are one, and a piece is closed where each of its edges belongs to two of its faces.
    """
    triangles = weld(mesh.vertices)[mesh.triangles]
    count = len(mesh.vertices)
    edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    links = csr_matrix((np.ones(len(edges), np.int8), edges.T), (count, count))
    piece = connected_components(links, directed=False)[1]
    _, edge, shared = np.unique(edges, axis=0, return_index=True, return_counts=True)
    closed = np.zeros(piece.max() + 1, bool)
    closed[piece[triangles[:, 0]]] = True
    closed[piece[edges[edge[shared != 2], 0]]] = False
    corners = mesh.vertices[triangles] - mesh.vertices[triangles[0, 0]]
    volumes = np.einsum("tk,tk->t", corners[:, 0], cross(corners[:, 1], corners[:, 2])) / 6.0
    volume = np.bincount(piece[triangles[:, 0]], volumes, len(closed))
    turned = [number for number in np.flatnonzero(closed & (volume < 0.0)) if not _holds(mesh, piece == number, within)]
    return len(turned), int(closed.sum())


def _holds(mesh, mine, places) -> bool:
    """Whether places are all within the bounds of some of the vertices (V,) bool."""
    low, high = mesh.vertices[mine].min(axis=0), mesh.vertices[mine].max(axis=0)
    return bool(((places > low) & (places < high)).all())
