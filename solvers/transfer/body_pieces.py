"""Loose pieces of a mesh: which of them are the body, in which limbs are looked for, and with what the others move.

Bodies come in pieces (a robot's arm, a man in trousers and shoes), and so does what they wear and hold: a halo, a
sword, glasses.  The body is told by three things: its pieces lie against each other, those of limbs come in twos and
are no rods, and those that do not are large and neither rods nor plates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from ..core.subsampling import strided
from ..rotations.rigid import procrustes
from ..surface.cotangent import lumped_mass

# Of the root of the largest piece's area: pieces that lie against each other are no farther apart.
_TOUCHING = 0.04
# Where one piece has more than this share of all area it is a body by itself, to which at most whole limbs are missing.
_WHOLE = 0.5
# Shares of the largest piece's area.  From the first on a piece is of the body, alone as it may be; from the second on
# where there is one like it; and from the third on where the largest piece is a body by itself.
_LARGE, _PAIRED, _PAIRED_OF_WHOLE = 0.15, 0.08, 0.12
# Pieces are like each other when areas, and sizes along their axes, differ by less than these factors.  A piece that is
# so many times longer than it is wide is a rod, as a blade; so many times wider than it is thick, a plate, as a shield.
_ALIKE, _ALIKE_ALONG, _ROD, _PLATE = 1.25, 1.5, 10.0, 5.0
# Vertices of a part, nearest to a piece, that the piece goes along with or not; and of the piece, that tell.
_NEAR, _TELLING = 40, 200
# A piece goes along with another part than the one that it touches where it strays from that by this factor less.
_CLEARLY = 0.5
# Vertices of a part, over all of it, that may go along with a piece, and how many have to.
_ANYWHERE, _HOLD = 400, 8


@dataclass(frozen=True)
class BodyPieces:
    """label (V,): the piece of each vertex.  mass (V,): area around it.  is_body (P,): which pieces are the body.

    second (P,): which are, where the first choice has too few limbs.
    """

    label: np.ndarray
    mass: np.ndarray
    is_body: np.ndarray
    second: np.ndarray

    @classmethod
    def of(cls, vertices: np.ndarray, triangles: np.ndarray, graph: csr_matrix) -> BodyPieces:
        """Of vertices (V, 3), all in faces, triangles (T, 3) and their ``surface_graph``."""
        count, label = connected_components(graph, directed=False)
        mass = lumped_mass(vertices, triangles)
        area = np.bincount(label, mass, count)
        if count == 1 or not area.max() > 0.0:
            every = np.ones(count, bool)
            return cls(label, mass, every, every)
        share = area / area.max()
        whole = area.max() > _WHOLE * area.sum()
        along = _along_axes(vertices, mass, label, area)
        no_rod, no_plate = along[:, 2] < _ROD * along[:, 1], along[:, 1] < _PLATE * along[:, 0]
        paired = _has_twin(share, along, _PAIRED_OF_WHOLE if whole else _PAIRED)
        single = (share > _LARGE) & no_plate & (not whole)
        wanted = (share >= 1.0) | no_rod & (paired | single)
        reach = _TOUCHING * float(np.sqrt(area.max()))
        places = _spread(vertices, graph, label, reach)
        second = _touching(*places, share, share > _PAIRED_OF_WHOLE, reach) if whole else np.ones(count, bool)
        return cls(label, mass, _touching(*places, share, wanted, reach), second)

    def chosen(self) -> list[np.ndarray]:
        """Masks (V,) of the body's vertices, the likelier first, all of them different."""
        if np.array_equal(self.is_body, self.second):
            return [self.is_body[self.label]]
        return [self.is_body[self.label], self.second[self.label]]


def carried(
    parts: np.ndarray, body: np.ndarray, label: np.ndarray, vertices: np.ndarray, poses: np.ndarray | None = None
) -> np.ndarray:
    """Memberships (K, V) of a torso and limbs with every piece that is not of the body wholly in one of them.

    parts (K, V) bool, right where body (V,) bool is; label (V,): pieces; vertices (V, 3).  poses: (F, V, 3) others of
    the same mesh, which tell with which part a piece moves; where there are none, it goes with the part that it
    touches, or comes nearest to.
    """
    # Where both are, what is worn or held is the limb's.
    limb = np.where(parts[1:].any(axis=0), parts[1:].argmax(axis=0) + 1, 0)
    own, inside, parts = np.where(parts[0], 0, limb), np.flatnonzero(body), parts.copy()
    tree = cKDTree(vertices[inside])
    for number in np.unique(label[~body]):
        piece = np.flatnonzero(label == number)
        away, nearest = tree.query(vertices[piece])
        closest = away <= away.min() + 0.25 * (np.median(away) - away.min())
        owner = int(np.bincount(limb[inside[nearest[closest]]]).argmax())
        if poses is not None:
            owner = _moving_with(piece, owner, own, inside, vertices, poses)
        parts[:, piece] = np.arange(len(parts))[:, None] == owner
    return parts


def _moving_with(piece, touched: int, own, inside, vertices, poses) -> int:
    """The part that a piece moves with as rigidly as may be, or the one touched where that is as good.

    Either the part's nearest places carry the piece, or the piece carries some places of the part: what is held may
    turn in the hand, and what is large may lie nearer to a leg.
    """
    telling = strided(piece, _TELLING)
    turns_of_piece, shifts_of_piece = procrustes(poses[:, telling], vertices[telling])
    strays = np.full(int(own[inside].max()) + 1, np.inf)
    for part in np.unique(own[inside]):
        of_part = inside[own[inside] == part]
        if len(of_part) < 3:
            continue
        away = cKDTree(vertices[telling]).query(vertices[of_part])[0]
        patch = of_part[np.argsort(away, kind="stable")[:_NEAR]]
        carried_along = _astray(*procrustes(poses[:, patch], vertices[patch]), telling, vertices, poses).mean()
        holding = np.union1d(patch, strided(of_part, _ANYWHERE))
        held = np.sort(_astray(turns_of_piece, shifts_of_piece, holding, vertices, poses))[:_HOLD].mean()
        strays[part] = np.sqrt(min(carried_along, held))
    best = int(strays.argmin())
    return best if strays[best] < _CLEARLY * strays[touched] else touched


def _astray(turns, shifts, some, vertices, poses) -> np.ndarray:
    """(n,) mean square distance of some vertices (n,) from where turns (F, 3, 3) and shifts (F, 3) would take them."""
    there = np.einsum("fij,nj->fni", turns, vertices[some]) + shifts[:, None]
    return np.square(there - poses[:, some]).sum(axis=2).mean(axis=0)


def _along_axes(vertices, mass, label, area) -> np.ndarray:
    """(P, 3) of each piece the standard deviations of its surface along its axes, the smallest first."""
    count, total = len(area), np.maximum(area, 1e-300)[:, None]
    means = np.stack([np.bincount(label, mass * column, count) for column in vertices.T], axis=1) / total
    away = vertices - means[label]
    products = (mass[:, None, None] * away[:, :, None] * away[:, None, :]).reshape(-1, 9)
    moments = np.stack([np.bincount(label, column, count) for column in products.T], axis=1) / total
    return np.sqrt(np.maximum(np.linalg.eigvalsh(moments.reshape(-1, 3, 3)), 0.0))


def _has_twin(share, along, least: float) -> np.ndarray:
    """(P,) of pieces that are large enough, whether there is another one of like area and sizes."""
    some, found = np.flatnonzero(share > least), np.zeros(len(share), bool)
    # A flat piece has no thickness to compare.
    sizes = np.concatenate((share[:, None], np.maximum(along, 0.1 * along[:, 2:])), axis=1)[some]
    logs = np.log(np.maximum(sizes, 1e-300))
    alike = (np.abs(logs[:, None] - logs) < np.log([_ALIKE, *[_ALIKE_ALONG] * 3])).all(axis=2)
    np.fill_diagonal(alike, False)
    found[some] = alike.any(axis=1)
    return found


def _spread(vertices, graph, label, apart: float) -> tuple[np.ndarray, np.ndarray]:
    """Places (N, 3) on the surface and their pieces (N,): vertices, and places so far apart on what is between them."""
    between = graph.tocoo()
    long = (between.row < between.col) & (between.data > apart)
    start, end = between.row[long], between.col[long]
    count = np.ceil(between.data[long] / apart).astype(int) - 1
    edge = np.repeat(np.arange(len(count)), count)
    share = (np.arange(len(edge)) - np.repeat(np.cumsum(count) - count, count) + 1.0) / (count[edge] + 1.0)
    more = vertices[start[edge]] + share[:, None] * (vertices[end] - vertices[start])[edge]
    return np.concatenate((vertices, more)), np.concatenate((label, label[start[edge]]))


def _touching(places, label, share, wanted, reach: float) -> np.ndarray:
    """(P,) the largest piece, and of those wanted what lies against it, or against what does."""
    inside, new = np.zeros(len(share), bool), np.zeros(len(share), bool)
    new[share.argmax()] = True
    while new.any():
        inside |= new
        rest = np.flatnonzero((wanted & ~inside)[label])
        away = cKDTree(places[new[label]]).query(places[rest], distance_upper_bound=reach)[0]
        new = np.zeros(len(share), bool)
        new[label[rest[np.isfinite(away)]]] = True
    return inside
