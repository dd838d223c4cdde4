"""Real meshes that deform, and what is measured on them."""

from __future__ import annotations

import numpy as np

from solvers.surface import edges

from .datasets import data_file


def mesh_sequence(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (F, V, 3) and triangles (T, 3), polygons as fans, in the file's own units and axes."""
    with np.load(data_file(f"mesh_seq/{name}.npz")) as file:
        vertices, faces = file["verts"].astype(float), file["faces"]
    fans = [faces[faces[:, k] >= 0][:, [0, k - 1, k]] for k in range(2, faces.shape[1])]
    return vertices, np.concatenate(fans).astype(int)


def edge_lengths(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Lengths (F, E) of the edges of triangles (T, 3) of vertices (F, V, 3)."""
    return edges.edge_lengths(vertices, edges.unique_edges(triangles)[0])


def volumes(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Enclosed volumes (F,), signed; what open borders leave open is closed towards the mean of the vertices."""
    corners = (vertices - vertices.mean(axis=1, keepdims=True))[:, triangles]
    return np.einsum("fti,fti->f", corners[:, :, 0], np.cross(corners[:, :, 1], corners[:, :, 2])) / 6.0
