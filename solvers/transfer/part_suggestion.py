"""Parts of a body by its shape alone: limbs are what reaches out far along the surface, the torso is what is left."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.spatial import cKDTree

from ..core.errors import InputError
from ..surface.cotangent import lumped_mass
from ..surface.weld import TOGETHER, coincident_pairs
from .body_parts import surface_graph
from .body_pieces import BodyPieces, carried

# Points that distances are measured from, spread over the surface.
_SAMPLES = 40
# Shares of the longest way along the surface.  How far a limb reaches out: a head does, fingers and ears do not.
_REACH = 0.07
# How far beyond the place where it meets another limb a hill is the limb's alone.
_BEYOND = 0.02
# A limb ends where a ring around it is longer than the mean of those before by this factor; a ring's half width, and
# from ring to ring.
_THICKER, _RING, _STEP = 1.8, 0.02, 0.005
# Ways from tips within which areas tell what is alike, and over how much of a way they begin to count.
_WITHIN, _FADE = (0.06, 0.10, 0.14, 0.18), 0.03
# Two limbs are a pair when areas differ by less than this, as a logarithm, with what tips lie more remote by.
_ALIKE, _REMOTE = 0.42, 3.0
# Between loose pieces there are ways wherever they are this much farther apart than at their nearest, of the extent.
_BRIDGE = 0.02
# Loose pieces with less than this share of all area belong to one part.
_SMALL = 0.1
# Of the longest way along the surface: the width of the band that a limb shares with the torso.
_OVERLAP = 0.06


@dataclass(frozen=True)
class _Limb:
    """tip: the vertex farthest out.  root: the remoteness at which the limb meets another one.  area: of what is
    farther out than that."""

    tip: int
    root: float
    area: float


@dataclass(frozen=True)
class _Body:
    """A connected graph of lengths (V, V), area around vertices (V,), remoteness (V,) and the longest way ``size``.

    The remoteness of a vertex is its mean distance along the surface from all of it (Hilaga et al. 2001, section 4.1):
    limbs are hills of it however a body poses.
    """

    graph: csr_matrix
    mass: np.ndarray
    remoteness: np.ndarray
    size: float

    @classmethod
    def of(cls, vertices: np.ndarray, triangles: np.ndarray) -> _Body:
        graph, mass = _bridged(surface_graph(vertices, triangles), vertices), lumped_mass(vertices, triangles)
        start, nearest = int(dijkstra(graph, indices=0).argmax()), np.full(len(vertices), np.inf)
        owner, ways = np.zeros(len(vertices), int), np.empty((_SAMPLES, len(vertices)))
        for number in range(_SAMPLES):
            ways[number] = dijkstra(graph, indices=start)
            owner[ways[number] < nearest] = number
            np.minimum(nearest, ways[number], out=nearest)
            start = int(nearest.argmax())
        share = np.bincount(owner, mass, _SAMPLES)
        remoteness = share @ ways / share.sum()
        # What lies together must not be cut apart by rounding.
        pairs = coincident_pairs(vertices)
        np.minimum.at(remoteness, pairs[:, 1], remoteness[pairs[:, 0]])
        return cls(graph, mass, remoteness, float(ways.max()))

    def above(self, tip: int, level: float) -> np.ndarray:
        """(V,) bool: the hill around a tip that is more remote than a level."""
        kept = np.flatnonzero(self.remoteness > level)
        piece = connected_components(self.graph[kept][:, kept], directed=False)[1]
        hill = np.zeros(len(self.mass), bool)
        hill[kept[piece == piece[np.searchsorted(kept, tip)]]] = True
        return hill


@dataclass(frozen=True)
class Suggestion:
    """parts: (K, V) bool, a torso and K - 1 limbs.  body: (V,) bool, where limbs were looked for: without what is worn
    or held.  pieces: (V,) the loose piece that a vertex is of, for those that are not of the body."""

    parts: np.ndarray
    body: np.ndarray
    pieces: np.ndarray

    @property
    def carried(self) -> int:
        """How many loose pieces go along with a part."""
        return len(np.unique(self.pieces[~self.body]))

    def moving_along(self, vertices: np.ndarray, poses: np.ndarray) -> Suggestion:
        """The same with those pieces in the part that they move with in other poses (F, V, 3) than vertices (V, 3)."""
        return replace(self, parts=carried(self.parts, self.body, self.pieces, vertices, poses))


def suggest_parts(vertices: np.ndarray, triangles: np.ndarray, count: int = 5) -> np.ndarray:
    """Memberships (K, V) bool of a torso and count - 1 limbs: see ``suggestion``."""
    return suggestion(vertices, triangles, count).parts


def suggestion(vertices: np.ndarray, triangles: np.ndarray, count: int = 5) -> Suggestion:
    """A torso and count - 1 limbs, of vertices (V, 3) and triangles (T, 3).

    Limbs are the hills of remoteness that stay apart long (persistence: Edelsbrunner et al. 2002).  The large ones come
    first, and before them pairs of alike ones: legs and arms before a head, legs before horns, a head before a tail.
    Each goes from its tip to where it is suddenly thicker, and shares a band with the torso there.  Loose pieces that
    are not of the body (``body_pieces``) change nothing of that: each goes wholly to the part that it touches.  Small
    pieces of the body are in one part too, and vertices without a face go with the nearest vertex that has one.

    Free of place, size and mostly of pose.  Raises InputError where there are fewer limbs, saying how many there are.
    """
    vertices, triangles = np.asarray(vertices, float), np.asarray(triangles)
    if count < 2:
        raise InputError(f"{count} parts were asked for; ask for at least two, a torso and a limb.")
    used, numbers = np.unique(triangles, return_inverse=True)
    if not len(used) or not np.isfinite(vertices).all():
        raise InputError("The mesh has no faces, or places that are not numbers; repair it.")
    parts, body, pieces = _of_used(vertices[used], numbers.reshape(-1, 3), count)
    if len(used) < len(vertices):
        nearest = cKDTree(vertices[used]).query(vertices)[1]
        parts, body, pieces = parts[:, nearest], body[nearest], pieces[nearest]
    return Suggestion(parts, body, pieces)


def _of_used(vertices: np.ndarray, triangles: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Parts (count, V), body (V,) and pieces (V,) of vertices that are all in faces."""
    pieces = BodyPieces.of(vertices, triangles, surface_graph(vertices, triangles))
    *likelier, last = pieces.chosen()
    for body in likelier:
        with suppress(InputError):
            return _with_pieces(vertices, triangles, count, body, pieces.label)
    return _with_pieces(vertices, triangles, count, last, pieces.label)


def _with_pieces(vertices, triangles, count, body, label) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if body.all():
        return _limbs_and_torso(vertices, triangles, count), body, label
    number = np.cumsum(body) - 1
    parts = np.zeros((count, len(vertices)), bool)
    parts[:, body] = _limbs_and_torso(vertices[body], number[triangles[body[triangles[:, 0]]]], count)
    return carried(parts, body, label, vertices), body, label


def _limbs_and_torso(vertices: np.ndarray, corners: np.ndarray, count: int) -> np.ndarray:
    """(count, V) of a body whose vertices are all in faces."""
    body = _Body.of(vertices, corners)
    limbs = _limbs(body)
    if len(limbs) < count - 1:
        raise _too_few(len(limbs), count)
    limbs = _chosen(body, limbs, count - 1)
    parts = _parts(body, limbs, corners)
    parts = _loose_pieces(parts, body, [limb.tip for limb in limbs], surface_graph(vertices, corners))
    kept = int(parts[1:].any(axis=1).sum())
    if kept < count - 1:
        raise _too_few(kept, count)
    return parts


def _too_few(found: int, count: int) -> InputError:
    return InputError(
        f"{found} limbs were found and {count - 1} asked for; ask for {found + 1} parts, or paint them by hand."
        if found
        else "No limb was found: nothing reaches out of this shape; paint parts by hand."
    )


def _parts(body: _Body, limbs: list[_Limb], triangles: np.ndarray) -> np.ndarray:
    """(K, V): limbs are all within some way from their tips, the torso all beyond another, shorter one."""
    ways = dijkstra(body.graph, indices=[limb.tip for limb in limbs])
    lengths = np.array([_length(body, *pair) for pair in zip(limbs, ways, strict=True)])
    while True:
        # At least the farther half of a limb is its own.
        own = ways < np.maximum(lengths - _OVERLAP * body.size, 0.5 * lengths)[:, None]
        parts = np.concatenate((~own.any(axis=0, keepdims=True), ways < lengths[:, None]))
        for limb, mine in zip(parts[1:], own, strict=True):
            # All of a face is in the limb when one of its corners is in nothing else.
            limb[triangles[mine[triangles].any(axis=1)]] = True
        meeting = parts[1:, parts[1:].sum(axis=0) > 1].any(axis=1)
        if not meeting.any():
            return parts
        lengths = np.where(meeting, 0.95 * lengths, lengths)


def _length(body: _Body, limb: _Limb, ways: np.ndarray) -> float:
    """How far from its tip a limb goes, of ways (V,): to where it is suddenly thicker, from the foot of its hill on.

    Thick is where the ring at a distance is longer than those before, on average or just now.
    """
    foot = float(np.quantile(ways[_hill(body, limb.tip, limb.root)], 0.95))
    order = np.argsort(ways, kind="stable")
    along, area = ways[order], np.cumsum(body.mass[order])
    half = max(_RING * body.size, float(body.graph.data.mean()))
    distances = np.arange(foot, along[-1], _STEP * body.size)
    before, here, after = (np.interp(distances + shift, along, area) for shift in (-half, 0.0, half))
    rings = (after - before) / (2.0 * half)
    # A tail may be thickest near its tip.
    thick = rings > _THICKER * np.minimum(here / distances, np.minimum.accumulate(rings))
    return float(distances[thick.argmax()])


def _limbs(body: _Body) -> list[_Limb]:
    """Hills of remoteness, by joining vertices from the most remote one down; what reaches out too little is none."""
    height, least = body.remoteness, _REACH * body.size
    edges = body.graph.tocoo()
    once = edges.row < edges.col
    low, high = edges.row[once], edges.col[once]
    level = np.minimum(height[low], height[high])
    order = np.argsort(-level, kind="stable")
    above, top, roots = list(range(len(height))), list(range(len(height))), {}

    def summit(vertex):
        while above[vertex] != vertex:
            above[vertex] = above[above[vertex]]
            vertex = above[vertex]
        return vertex

    for one, other, now in zip(low[order].tolist(), high[order].tolist(), level[order].tolist(), strict=True):
        one, other = summit(one), summit(other)
        if one == other:
            continue
        if height[top[one]] < height[top[other]]:
            one, other = other, one
        if height[top[other]] - now >= least:
            roots.setdefault(top[one], now)
            roots.setdefault(top[other], now)
        above[other] = one
    return [_limb(body, tip, root) for tip, root in roots.items()]


def _limb(body: _Body, tip: int, root: float) -> _Limb:
    return _Limb(tip, root, float(body.mass[_hill(body, tip, root)].sum()))


def _hill(body: _Body, tip: int, root: float) -> np.ndarray:
    return body.above(tip, root + _BEYOND * body.size)


def _chosen(body: _Body, limbs: list[_Limb], count: int) -> list[_Limb]:
    """Pairs of alike limbs first, of those the large ones; then single ones; then halves of pairs."""
    pairs = _pairs(body, limbs)
    paired = {limb for pair in pairs for limb in pair}
    pairs.sort(key=lambda pair: -sum(limbs[limb].area for limb in pair))
    whole = [limb for pair in pairs[: count // 2] for limb in pair]
    single = sorted(set(range(len(limbs))) - paired, key=lambda limb: -limbs[limb].area)
    halves = [limb for pair in pairs[count // 2 :] for limb in pair]
    return [limbs[limb] for limb in (whole + single + halves)[:count]]


def _pairs(body: _Body, limbs: list[_Limb]) -> list[tuple[int, int]]:
    """The most alike two, then of the others, and so on; alike in area around the tip and in how remote that is."""
    ways = dijkstra(body.graph, indices=[limb.tip for limb in limbs]) / body.size
    areas = [np.clip((within - ways) / _FADE, 0.0, 1.0) @ body.mass for within in _WITHIN]
    profile = np.log(np.maximum(np.stack(areas, axis=1), 1e-30))
    far = np.array([body.remoteness[limb.tip] for limb in limbs]) / body.size
    unlike = np.abs(profile[:, None] - profile).max(axis=2) + _REMOTE * np.abs(far[:, None] - far)
    pairs, taken = [], set()
    first, second = np.triu_indices(len(limbs), 1)
    for k in np.argsort(unlike[first, second], kind="stable"):
        pair = int(first[k]), int(second[k])
        if unlike[pair] < _ALIKE and not taken & set(pair):
            pairs.append(pair)
            taken |= set(pair)
    return pairs


def _bridged(graph: csr_matrix, vertices: np.ndarray) -> csr_matrix:
    """The graph with its components joined where they are nearest or nearly so, from the largest on (Prim 1957)."""
    count, label = connected_components(graph, directed=False)
    if count == 1:
        return graph
    wide = _BRIDGE * float(np.ptp(vertices, axis=0).max())
    joined, apart = int(np.bincount(label).argmax()), np.full(len(vertices), np.inf)
    nearest, waiting, bridges = np.zeros(len(vertices), int), np.ones(len(vertices), bool), []
    for _ in range(count - 1):
        new = np.flatnonzero(label == joined)
        waiting[new] = False
        rest = np.flatnonzero(waiting)
        away, near = cKDTree(vertices[new]).query(vertices[rest])
        closer = away < apart[rest]
        apart[rest[closer]], nearest[rest[closer]] = away[closer], new[near[closer]]
        least = rest[apart[rest].argmin()]
        joined = label[least]
        ends = rest[(label[rest] == joined) & (apart[rest] <= apart[least] + wide)]
        bridges.append(np.stack((nearest[ends], ends)))
    ends = np.concatenate(bridges, axis=1)
    link = csr_matrix((np.maximum(apart[ends[1]], TOGETHER * wide), ends), graph.shape)
    return graph + link + link.T


def _loose_pieces(parts: np.ndarray, body: _Body, tips: list[int], graph: csr_matrix) -> np.ndarray:
    """Small ones wholly in the limb whose tip they have, or the part that has most of them; large ones are cut once."""
    count, label = connected_components(graph, directed=False)
    if count == 1:
        return parts
    area = np.bincount(label, body.mass, count)
    own = np.concatenate((~parts[1:].any(axis=0, keepdims=True), parts[1:] & ~parts[0]))
    owned = np.stack([np.bincount(label, row * body.mass, count) for row in own])
    owner = owned.argmax(axis=0)
    owner[label[tips]] = np.arange(1, len(parts))
    small = (area < _SMALL * area.sum())[label]
    parts = np.where(small, owner[label] == np.arange(len(parts))[:, None], parts)
    for part in parts[1:]:
        inside = np.flatnonzero(part)
        _, piece = connected_components(graph[inside][:, inside], directed=False)
        weight = np.bincount(piece, body.mass[inside])
        of_piece = label[inside[np.unique(piece, return_index=True)[1]]]
        order = np.lexsort((-weight, of_piece))
        stray = order[1:][of_piece[order][1:] == of_piece[order][:-1]]
        lost = inside[np.isin(piece, stray)]
        part[lost], parts[0, lost] = False, True
    return parts
