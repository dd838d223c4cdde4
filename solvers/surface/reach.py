"""Which points of a surface lie within a short path along it from another point."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from .edges import unique_edges
from .weld import weld

_NODES_PER_RADIUS = 3  # crossing an edge off its best place then adds a few per cent of the radius


class Surface:
    """A welded triangle mesh with its edges.

    vertices (V, 3), triangles (T, 3), edges (E, 2), edge_of_side (T, 3): see ``unique_edges``.
    """

    def __init__(self, vertices: np.ndarray, triangles: np.ndarray, tolerance: float):
        self.vertices = vertices
        self.triangles = weld(vertices, tolerance)[triangles]
        self.edges, self.edge_of_side = unique_edges(self.triangles)


class SurfaceReach:
    """Ways along a triangle mesh, up to a radius, from any point of it to a fixed set of points.

    The shortest way is searched by Dijkstra over nodes on the edges near the set; it is straight inside
    every triangle, so large flat faces need no subdivision, and the far side of a thin wall is as far as
    the way round its rim.
    """

    def __init__(
        self,
        surface: Surface,
        at: np.ndarray,
        triangle: np.ndarray,
        radius: float,
        finest: float,
    ):
        """The set: at (C, 3) on the surface's triangles (C,).

        radius: longest way, metres.  finest: shortest distance that is to be resolved, metres.
        """
        self._radius = radius
        self._lift = 4 * radius  # a fourth coordinate per triangle keeps neighbours to one triangle
        self._count = len(at)
        position, entry_node, entry_triangle = _nodes(surface, at, radius, finest)
        self._nodes = len(position)
        self._entry_node = entry_node
        self._entries = cKDTree(self._lifted(position[entry_node], entry_triangle))
        rows, columns, length = self._links(at, triangle)
        self._build(rows, columns, length)

    def _lifted(self, position, triangle):
        return np.column_stack([position, self._lift * triangle])

    def _links(self, at, triangle):
        """Straight edges inside single triangles: node to node and node to point of the set."""
        pairs = self._entries.query_pairs(self._radius, output_type="ndarray")
        across = self._entries.data[pairs[:, 0]] - self._entries.data[pairs[:, 1]]
        ends = np.sort(self._entry_node[pairs], axis=1)
        keep = np.unique(ends @ [self._nodes, 1], return_index=True)[1]
        keep = keep[ends[keep, 0] != ends[keep, 1]]
        ends, between = ends[keep], np.linalg.norm(across[keep], axis=1)

        goals = cKDTree(self._lifted(at, triangle))
        last = self._entries.sparse_distance_matrix(goals, self._radius, output_type="ndarray")
        rows = np.concatenate([ends[:, 0], ends[:, 1], self._entry_node[last["i"]]])
        columns = np.concatenate([ends[:, 1], ends[:, 0], self._nodes + last["j"]])
        return rows, columns, np.concatenate([between, between, last["v"]])

    def _build(self, rows, columns, length):
        """CSR arrays with room behind for the ways out of one changing start, the last row."""
        self._size = self._nodes + self._count + 1
        order = np.argsort(rows, kind="stable")
        self._used = len(order)
        room = np.zeros(len(self._entry_node))
        self._length = np.concatenate([length[order], room])
        self._column = np.concatenate([columns[order], room]).astype(np.int32)
        self._pointer = np.zeros(self._size + 1, np.int32)
        self._pointer[1:] = np.cumsum(np.bincount(rows, minlength=self._size))

    def within(self, position: np.ndarray, triangle: int, radius: float) -> np.ndarray:
        """Lengths (C,) of the paths from a point (3,) on a triangle to the set, inf beyond the radius.

        Ways inside that one triangle are left to the caller: they are plain distances.
        """
        start = np.append(position, self._lift * triangle)
        entries = np.array(self._entries.query_ball_point(start, radius), int)
        end = self._used + len(entries)
        self._length[self._used : end] = np.linalg.norm(self._entries.data[entries] - start, axis=1)
        self._column[self._used : end] = self._entry_node[entries]
        self._pointer[-1] = end
        graph = csr_matrix(
            (self._length[:end], self._column[:end], self._pointer), (self._size, self._size), copy=False
        )
        ways = dijkstra(graph, directed=True, indices=self._size - 1, limit=radius)
        return ways[self._nodes : -1]


def _nodes(surface, at, radius, finest):
    """Nodes on edges and vertices near the set: positions (K, 3) and their (node, triangle) entries (E,)."""
    near = cKDTree(at)
    edge, on_edge = _edge_nodes(surface, near, radius, finest / _NODES_PER_RADIUS)
    vertex = np.unique(surface.triangles)
    vertex = vertex[np.isfinite(near.query(surface.vertices[vertex], distance_upper_bound=radius)[0])]

    edges, triangles = len(surface.edges), len(surface.triangles)
    owner = np.concatenate([edge, edges + vertex])
    keys = np.concatenate([surface.edge_of_side.ravel(), edges + surface.triangles.ravel()])
    order = np.argsort(keys, kind="stable")
    first, behind = (np.searchsorted(keys[order], owner, side=side) for side in ("left", "right"))
    count = behind - first
    node = np.repeat(np.arange(len(owner)), count)
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    triangle = np.tile(np.repeat(np.arange(triangles), 3), 2)[order][first[node] + within]
    return np.concatenate([on_edge, surface.vertices[vertex]]), node, triangle


def _edge_nodes(surface, near, radius, spacing):
    """Midpoints of edge pieces no longer than the spacing, halving only pieces that reach the set."""
    start, end = surface.vertices[surface.edges[:, 0]], surface.vertices[surface.edges[:, 1]]
    edge = np.arange(len(surface.edges))
    owners, places = [np.empty(0, int)], [np.empty((0, 3))]
    while len(edge):
        middle = (start + end) / 2
        half = np.linalg.norm(end - start, axis=1) / 2
        reached = near.query(middle, distance_upper_bound=radius + half.max())[0] <= radius + half
        short = reached & (2 * half <= spacing)
        owners.append(edge[short])
        places.append(middle[short])
        split = reached & ~short
        edge = np.concatenate([edge[split], edge[split]])
        start, middle, end = start[split], middle[split], end[split]
        start, end = np.concatenate([start, middle]), np.concatenate([middle, end])
    return np.concatenate(owners), np.concatenate(places)
