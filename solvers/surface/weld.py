"""Vertices of a triangle mesh that lie together, as on a seam or along split normals, taken for one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

# Vertices nearer than this share of the mesh's size are in one place, where nothing else is said.
TOGETHER = 1e-6
# The same over many frames, which are in single precision and may lie far from the origin.
STAYING_TOGETHER = 1e-5
_CELLS_PER_TOLERANCE = 8


def coincident_pairs(vertices: np.ndarray, tolerance: float | None = None) -> np.ndarray:
    """Pairs (P, 2) of vertices (V, 3) no farther apart than the tolerance, in their unit, the lower number first.

    Of three or more that lie together each with each.  tolerance: None for a millionth of the mesh's size.
    """
    tolerance = _millionth(vertices) if tolerance is None else tolerance
    # An unbalanced tree takes half the time; the order of its pairs is unspecified.
    tree = cKDTree(vertices, balanced_tree=False, compact_nodes=False)
    return np.sort(tree.query_pairs(tolerance, output_type="ndarray").reshape(-1, 2), axis=1)


def weld(vertices: np.ndarray, tolerance: float | None = None) -> np.ndarray:
    """(V,) for each of the vertices (V, 3) the first of those that lie together with it, itself where there is none.

    Vertices within the tolerance of one another, in their unit, lie together, and so do those between which there is a
    chain of such.  What lies within a fraction of it is joined first, so that thousands of vertices in one place do
    not make millions of pairs.  tolerance: None for a millionth of the mesh's size.
    """
    tolerance = _millionth(vertices) if tolerance is None else tolerance
    cells = np.rint(vertices * (_CELLS_PER_TOLERANCE / tolerance))
    order = np.lexsort(cells.T)
    is_new = np.ones(len(order), bool)
    is_new[1:] = (cells[order[1:]] != cells[order[:-1]]).any(axis=1)
    cell = np.empty(len(order), int)
    cell[order] = np.cumsum(is_new) - 1
    first = order[is_new]
    pairs = coincident_pairs(vertices[first], tolerance)
    if len(pairs):
        links = csr_matrix((np.ones(len(pairs), np.int8), pairs.T), (len(first), len(first)))
        count, group = connected_components(links, directed=False)
        lowest = np.full(count, len(vertices))
        np.minimum.at(lowest, group, first)
        first = lowest[group]
    return first[cell]


def staying_together(frames: Sequence[np.ndarray], tolerance: float | None = None) -> np.ndarray:
    """(V,) for each vertex the first of those that lie together with it in all F frames (V, 3), itself if none does.

    What lies together is said at ``weld``, of each frame by itself: pieces that touch in some frames stay apart.
    tolerance: in their unit, along each axis; None for a hundred-thousandth of the mesh's size in the first frame.
    """
    size = float(np.ptp(frames[0], axis=0).max())
    tolerance = STAYING_TOGETHER * max(size, 1e-30) if tolerance is None else tolerance
    same, split = weld(np.asarray(frames[0], float), tolerance), {0}
    while True:
        moved = np.flatnonzero(same != np.arange(len(same)))
        straying = np.array([_straying(frame, moved, same[moved], tolerance) for frame in frames])
        straying[list(split)] = 0
        if not straying.any():
            return same
        # A fourth coordinate keeps apart what is apart already.
        frame = int(straying.argmax())
        split.add(frame)
        places = np.column_stack((frames[frame], 10.0 * tolerance * same))
        same = weld(places.astype(float), tolerance)


def _straying(frame: np.ndarray, vertices: np.ndarray, first: np.ndarray, tolerance: float) -> int:
    """How many of some vertices (N,) of a frame (V, 3) are not where other ones (N,) are."""
    return int((np.abs(frame[vertices] - frame[first]).max(axis=1, initial=0.0) > tolerance).sum())


def _millionth(vertices: np.ndarray) -> float:
    return TOGETHER * max(float(np.ptp(vertices, axis=0).max()), 1e-30)
