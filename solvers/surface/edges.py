"""The edges of triangle meshes: each once, and which of them the sides of the triangles are."""

from __future__ import annotations

import numpy as np


def unique_edges(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges (E, 2) of triangles (T, 3), the lower vertex first, in rising order, and the edge (T, 3) of each side.

    The sides of a triangle a, b, c are ab, bc and ca.
    """
    return unique_pairs(triangles, triangles[:, (1, 2, 0)])


def unique_pairs(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (E, 2) of vertices, each once whichever way round, and which of them each of those given (...,) is.

    one, other: (...,) both ends of each.
    """
    # One whole number a pair sorts many times faster than rows of two.
    low, high = np.minimum(one, other).astype(np.int64), np.maximum(one, other)
    count = int(high.max(initial=0)) + 1
    keys, found = np.unique(low * count + high, return_inverse=True)
    return np.stack(np.divmod(keys, count), axis=1), found.reshape(low.shape)


def edge_lengths(vertices: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Lengths (..., E) of edges (E, 2) between vertices (..., V, 3)."""
    start, end = (vertices[..., edges[:, k], :] for k in range(2))
    return np.linalg.norm(start.astype(float) - end, axis=-1)
