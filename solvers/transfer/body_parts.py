"""A mesh as body parts that overlap: a torso and limbs, and how much each says about a face or a vertex where they do.

As Boukhayma et al. 2017, section 4: a tree of two levels whose parts share a band of the surface with the torso.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, dijkstra

from ..core.errors import InputError
from ..surface.cotangent import face_neighbours
from ..surface.edges import edge_lengths, unique_edges, unique_pairs
from ..surface.weld import TOGETHER, coincident_pairs


@dataclass(frozen=True)
class BodyParts:
    """K parts of a mesh of V vertices and T faces; part 0 is the torso.

    names: K.  members: of each part its vertices (n_k,).  vertex_weights: (n_k,) how much the part says about each of
    them.  faces: of each part the faces (m_k,) that are wholly in it.  face_weights: (m_k,).  The weights of a vertex,
    and of a face, add up to one over the parts.
    """

    names: tuple[str, ...]
    members: tuple[np.ndarray, ...]
    vertex_weights: tuple[np.ndarray, ...]
    faces: tuple[np.ndarray, ...]
    face_weights: tuple[np.ndarray, ...]

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def build(
        cls, memberships: np.ndarray, names: tuple[str, ...], vertices: np.ndarray, triangles: np.ndarray
    ) -> BodyParts:
        """Of memberships (K, V) bool, the torso first; vertices (V, 3) and triangles (T, 3) of one pose.

        The weight of a limb is a smoothstep of how far a place is across the overlap, d / (d + e) with the distances d
        to where only the torso is and e to where only the limb is, along the surface.

        Raises InputError, naming parts, for: a part that is empty or has no whole face, vertices or faces in no part,
        a limb that does not overlap the torso (unless it is loose from it), lies wholly in it, swallows it, overlaps
        another limb or is in pieces.
        """
        memberships = np.asarray(memberships, bool)
        names, vertices, triangles = tuple(names), np.asarray(vertices, float), np.asarray(triangles)
        if memberships.shape != (len(names), len(vertices)) or not len(names):
            raise InputError(
                f"Parts of shape {memberships.shape} do not fit {len(names)} names and {len(vertices)} vertices."
            )
        _require_cover(memberships, names)
        graph = surface_graph(vertices, triangles)
        _require_tree(memberships, names, graph)
        whole = memberships[:, triangles].all(axis=2)
        _require_faces(memberships, names, triangles, whole)
        _require_one_piece(memberships, names, graph)
        shares = _limb_shares(memberships, graph)
        face_weights = _weights(shares[:, triangles].mean(axis=2), whole)
        members, faces = ([np.flatnonzero(row) for row in mask] for mask in (memberships, whole))
        of_vertices = _weights(shares, memberships)
        return cls(
            names,
            tuple(members),
            tuple(row[some] for row, some in zip(of_vertices, members, strict=True)),
            tuple(faces),
            tuple(row[some] for row, some in zip(face_weights, faces, strict=True)),
        )


def surface_graph(vertices: np.ndarray, triangles: np.ndarray) -> csr_matrix:
    """(V, V) symmetric lengths of paths along a surface of vertices (V, 3) and triangles (T, 3).

    Along edges, straight across each two faces that share one, so that regular meshes have no slow direction, and
    between vertices that lie together.
    """
    count, size = len(vertices), float(np.ptp(vertices, axis=0).max())
    pairs = (unique_edges(triangles)[0], _across(triangles), coincident_pairs(vertices))
    ends, _ = unique_pairs(*np.concatenate(pairs).T)
    # Not zero, which in a sparse graph is no edge.
    graph = csr_matrix((np.maximum(edge_lengths(vertices, ends), TOGETHER * size), ends.T), (count, count))
    return graph + graph.T


def _across(triangles: np.ndarray) -> np.ndarray:
    """Pairs (N, 2) of the corners that two neighbouring faces do not share."""
    one, other = triangles[face_neighbours(triangles.T)]
    shared = one[:, :, None] == other[:, None, :]
    rows = np.arange(len(one))
    return np.stack(
        (one[rows, shared.any(axis=2).argmin(axis=1)], other[rows, shared.any(axis=1).argmin(axis=1)]), axis=1
    )


def _limb_shares(memberships: np.ndarray, graph: csr_matrix) -> np.ndarray:
    """(K, V) how far across from the torso a place is, 0 to 1; the torso's row is not used."""
    torso, shares = memberships[0], memberships.astype(float)
    for limb in range(1, len(memberships)):
        overlap = memberships[limb] & torso
        from_torso = _distances(graph, torso & ~memberships[1:].any(axis=0), overlap)
        from_limb = _distances(graph, memberships[limb] & ~torso, overlap)
        shares[limb, overlap] = _share(from_torso, from_limb)
    return shares


def _distances(graph: csr_matrix, sources: np.ndarray, places: np.ndarray) -> np.ndarray:
    """From a mask of vertices to the nearest of a mask of sources, by paths through those vertices alone."""
    kept = np.flatnonzero(sources | places)
    inside = graph[kept][:, kept]
    starts = np.flatnonzero(sources[kept] & (inside @ places[kept].astype(float) > 0.0))
    if not len(starts):
        return np.full(int(places.sum()), np.inf)
    return dijkstra(inside, indices=starts, min_only=True)[places[kept]]


def _share(near: np.ndarray, far: np.ndarray) -> np.ndarray:
    """near / (near + far); of a piece that is not connected to one of the two, all; to neither, half."""
    endless = np.isinf(near) | np.isinf(far)
    share = near / np.where(endless, 1.0, near + far)
    return np.where(endless, 0.5 + 0.5 * (np.isinf(near).astype(float) - np.isinf(far)), share)


def _weights(shares: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """(K, N) smoothstep of the limbs' shares where the torso is too, the rest the torso's; zero outside a part."""
    weights = np.where(inside, shares * shares * (3.0 - 2.0 * shares), 0.0)
    weights[1:] = np.where(inside[1:] & ~inside[0], 1.0, weights[1:])
    weights[0] = 1.0 - weights[1:].sum(axis=0)
    return weights


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _require_cover(memberships: np.ndarray, names: tuple[str, ...]) -> None:
    for name, row in zip(names, memberships, strict=True):
        if not row.any():
            raise InputError(f"'{name}' has no vertex; paint it, or remove it from the parts.")
    bare = np.flatnonzero(~memberships.any(axis=0))
    if len(bare):
        bare_ones = _counted(len(bare), "vertex is", "vertices are")
        raise InputError(
            f"{bare_ones} in no part, the first of them {bare[0]}; give them to one of the parts."
        )


def _require_tree(memberships: np.ndarray, names: tuple[str, ...], graph: csr_matrix) -> None:
    torso = memberships[0]
    for limb in range(1, len(names)):
        both = memberships[limb] & torso
        loose = not graph[memberships[limb]][:, ~memberships[limb]].nnz
        if not both.any() and not loose:
            raise InputError(f"'{names[limb]}' does not overlap '{names[0]}'; let both have the vertices of a band.")
        if np.array_equal(both, torso):
            raise InputError(f"'{names[limb]}' has all of '{names[0]}'; take it back to a limb and a band.")
        if np.array_equal(both, memberships[limb]):
            raise InputError(
                f"'{names[limb]}' lies wholly in '{names[0]}'; let them share a band only, not the limb's end."
            )
        for other in range(1, limb):
            shared = np.flatnonzero(memberships[limb] & memberships[other])
            if len(shared):
                both_ones = _counted(len(shared), "vertex", "vertices")
                raise InputError(
                    f"'{names[other]}' and '{names[limb]}' overlap in {both_ones}, the first of them {shared[0]}; "
                    f"limbs may overlap '{names[0]}' only."
                )


def _require_faces(memberships, names, triangles, whole) -> None:
    for name, row in zip(names, whole, strict=True):
        if not row.any():
            raise InputError(f"'{name}' has no whole face; paint all corners of some faces.")
    cut = np.flatnonzero(~whole.any(axis=0))
    if len(cut):
        # Each corner is in a part, but no part has all three.
        of_corners = memberships[:, triangles[cut[0]]]
        touching = " and ".join(f"'{names[part]}'" for part in np.flatnonzero(of_corners.any(axis=1)))
        cut_ones = _counted(len(cut), "face is", "faces are")
        raise InputError(
            f"{cut_ones} in no part as a whole, the first of them {cut[0]} between {touching}; widen the band where "
            "these overlap."
        )


def _require_one_piece(memberships: np.ndarray, names: tuple[str, ...], graph: csr_matrix) -> None:
    """A limb may have loose pieces of the mesh, but in each of those it is in one piece."""
    loose = connected_components(graph, directed=False)[1]
    for name, row in zip(names[1:], memberships[1:], strict=True):
        inside = np.flatnonzero(row)
        count, pieces = connected_components(graph[inside][:, inside], directed=False)
        sizes, first = np.bincount(pieces), np.unique(pieces, return_index=True)[1]
        of_piece = loose[inside[first]]
        # Of the pieces of one component, all but the largest are strays.
        order = np.lexsort((-sizes, of_piece))
        stray = order[1:][of_piece[order][1:] == of_piece[order][:-1]]
        if len(stray):
            raise InputError(
                f"'{name}' is in {count} pieces; take the {_counted(sizes[stray[0]], 'vertex', 'vertices')} around "
                f"vertex {inside[first[stray[0]]]} out of it, or join them."
            )
