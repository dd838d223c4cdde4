"""The feet of a mesh that deforms: which vertices come down to the ground together, and which of them are the sole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from ..core.errors import InputError
from ..core.subsampling import evenly_spaced
from ..surface.edges import unique_edges
from ..surface.weld import staying_together

# Of the body's height: what ever comes so near to the ground belongs to a foot, what is longer is a belly or a flank,
# and pieces whose centroids stay so close are of one foot, as the claws of a paw are.
_NEAR, _LONGEST, _CLOSE = 0.06, 0.6, 0.12
# Of the largest foot's vertices: a piece of fewer is a tuft or the tip of a tail.  Of the body's surface: feet of less
# are tips of fins.
_SMALLEST, _LEAST = 0.15, 0.0035
# Of the body's height: what stays lower than this swims in the ground.
_SUNK = 0.12
# Of the body's largest height: what goes up and down by more beats, as the tip of a wing does; feet in a gallop or a
# jump lift by less than half of it, and over the head in a handstand by less than all of it.
_BEATS = 1.15
_SOLE = 0.25  # of a foot's vertices, the lowest in as large a share of its frames
_LOW, _HIGH = 0.1, 0.9
_FRAMES = 64  # at most, in which it is looked at what stays together


@dataclass(frozen=True)
class Foot:
    """vertices (N,) and, of those, sole (S,): indices, rising.  low, high: 10 and 90 % quantiles of the height of the
    vertices' centroid over all frames, in the mesh's unit."""

    vertices: np.ndarray
    sole: np.ndarray
    low: float
    high: float


@dataclass(frozen=True)
class MeshFeet:
    """feet: none of a fish.  height: of the body, the median over frames, and ground: both in the mesh's unit."""

    feet: tuple[Foot, ...]
    height: float
    ground: float

    def __len__(self) -> int:
        return len(self.feet)

    def centroids(self, vertices: np.ndarray) -> np.ndarray:
        """(..., K, 3) of the K feet of vertices (..., V, 3)."""
        return _means(vertices, [foot.vertices for foot in self.feet])

    def soles(self, vertices: np.ndarray) -> np.ndarray:
        """(..., K, 3) centroids of the soles of vertices (..., V, 3)."""
        return _means(vertices, [foot.sole for foot in self.feet])

    def to_arrays(self) -> dict[str, np.ndarray]:
        """All that is needed to build the same again."""
        return {
            "vertices": np.concatenate([foot.vertices for foot in self.feet] or [np.empty(0, int)]),
            "vertices counts": np.array([len(foot.vertices) for foot in self.feet], int),
            "sole": np.concatenate([foot.sole for foot in self.feet] or [np.empty(0, int)]),
            "sole counts": np.array([len(foot.sole) for foot in self.feet], int),
            "quantiles": np.array([(foot.low, foot.high) for foot in self.feet], float).reshape(-1, 2),
            "body": np.array([self.height, self.ground]),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> MeshFeet:
        """Of what ``to_arrays`` gave; InputError where the counts are of other feet."""
        whole, soles = (_split(arrays[name], arrays[f"{name} counts"]) for name in ("vertices", "sole"))
        rows = zip(whole, soles, arrays["quantiles"].tolist(), strict=True)
        return cls(tuple(Foot(of, sole, *quantiles) for of, sole, quantiles in rows), *arrays["body"].tolist())


def lowest_ground(vertices: np.ndarray) -> float:
    """Height of the ground under vertices (F, V, 3), Z up: below the lowest vertex in seven tenths of the frames."""
    return float(np.quantile(np.asarray(vertices)[..., 2].min(axis=1), 0.3))


def find_feet(
    vertices: np.ndarray,
    triangles: np.ndarray,
    ground: float,
    may_stand: np.ndarray | None = None,
    same: np.ndarray | None = None,
) -> MeshFeet:
    """The feet of vertices (F, V, 3), Z up, in any unit, with triangles (T, 3), from all that the body does.

    ground: its height, see ``lowest_ground``.  may_stand: (V,) bool, False for vertices that are no foot whatever they
    do; all may where None.  same: (V,) what ``weld.staying_together`` finds in these frames, where it is known already.

    What comes within 6 % of the body's height of the ground in any frame, or below it, is joined over faces and over
    vertices that stay together, as along seams of an imported mesh.  The order of the feet is that of their first
    vertices.  A body that never comes down to the ground, lies on it, or is sunk in it has none.  The tip
    of a wing that beats is no foot.

    Raises InputError for vertices of another shape, none of them, or ones that are no numbers, for faces that name
    vertices which are not there, and for a ground that is no number.
    """
    vertices, triangles = _checked(vertices, triangles, ground)
    heights = vertices[..., 2]
    tall = np.ptp(heights, axis=1)
    height = float(np.median(tall))
    near = heights.min(axis=0) <= ground + _NEAR * height
    if may_stand is not None:
        near = near & np.asarray(may_stand, bool)
    same = staying_together(evenly_spaced(vertices, _FRAMES)) if same is None else same
    pieces = _pieces(triangles, same, near)
    pieces = [piece for piece in _joined(vertices, pieces, height) if _length(vertices, piece) <= _LONGEST * height]
    largest = max(pieces, key=len, default=np.empty(0, int))
    is_body = lowest_ground(vertices) < ground - _SUNK * height or _share(vertices[0], triangles, largest) < _LEAST
    feet = [] if is_body else [_foot(heights, piece) for piece in pieces if len(piece) >= _SMALLEST * len(largest)]
    kept = tuple(foot for foot in feet if foot.high - foot.low <= _BEATS * tall.max())
    return MeshFeet(kept, height, float(ground))


def _split(indices: np.ndarray, counts: np.ndarray) -> list[np.ndarray]:
    if counts.sum() != len(indices) or (counts < 1).any():
        raise InputError("The feet of the mesh are not as they were stored.")
    return np.split(indices, np.cumsum(counts)[:-1]) if len(counts) else []


def _checked(vertices, triangles, ground):
    vertices, triangles = np.asarray(vertices), np.asarray(triangles, int).reshape(-1, 3)
    if vertices.ndim != 3 or vertices.shape[2] != 3 or not vertices.size:
        raise InputError(f"Vertices have shape {vertices.shape}; feet are looked for in (frames, vertices, 3).")
    if not np.isfinite(vertices).all() or not np.isfinite(ground):
        raise InputError("A vertex or the ground is not a number; repair the mesh, or choose another ground.")
    if triangles.size and not 0 <= triangles.min() <= triangles.max() < vertices.shape[1]:
        raise InputError(f"A face names vertex {triangles.max()}, but there are {vertices.shape[1]}; repair the mesh.")
    return vertices, triangles


def _pieces(triangles: np.ndarray, same: np.ndarray, near: np.ndarray) -> list[np.ndarray]:
    """Indices (N,) of each connected piece of what is near (V,)."""
    edges, _ = unique_edges(triangles[near[triangles].all(axis=1)])
    seams = np.flatnonzero(near & near[same] & (same != np.arange(len(same))))
    one, other = np.concatenate((edges, np.stack((same[seams], seams), axis=1))).T
    links = csr_matrix((np.ones(len(one), np.int8), (one, other)), (len(near), len(near)))
    of = np.flatnonzero(near)
    return _grouped(of, connected_components(links, directed=False)[1][of])


def _joined(vertices: np.ndarray, pieces: list[np.ndarray], height: float) -> list[np.ndarray]:
    """Pieces whose centroids stay close together, as one."""
    if not pieces:
        return []
    places = _means(evenly_spaced(vertices, _FRAMES), pieces)
    away = np.max([cdist(frame, frame) for frame in places], axis=0)
    _, number = connected_components(csr_matrix(away <= _CLOSE * height), directed=False)
    return _grouped(np.concatenate(pieces), np.repeat(number, [len(piece) for piece in pieces]))


def _grouped(indices: np.ndarray, number: np.ndarray) -> list[np.ndarray]:
    """Indices (N,) split by a number (N,) of the group that each is in, rising; groups by their first index."""
    order = np.lexsort((indices, number))
    groups = np.split(indices[order], np.flatnonzero(np.diff(number[order])) + 1) if len(indices) else []
    return sorted(groups, key=lambda group: group[0])


def _length(vertices: np.ndarray, piece: np.ndarray) -> float:
    """Of the longest side of a piece's bounding box, the median over frames."""
    return float(np.median(np.ptp(evenly_spaced(vertices, _FRAMES)[:, piece], axis=1).max(axis=1)))


def _share(rest: np.ndarray, triangles: np.ndarray, piece: np.ndarray) -> float:
    """Of the surface of rest (V, 3), a third of each face for each of its corners, what is a piece's."""
    first, second, third = rest[triangles].astype(float).transpose(1, 0, 2)
    area = np.linalg.norm(np.cross(second - first, third - first), axis=1)
    mass = np.bincount(triangles.ravel(), np.repeat(area, 3), len(rest))
    return float(mass[piece].sum() / mass.sum()) if area.any() else 1.0


def _foot(heights: np.ndarray, piece: np.ndarray) -> Foot:
    centroid = heights[:, piece].mean(axis=1)
    down = centroid <= np.quantile(centroid, _SOLE)
    lowest = heights[down][:, piece].mean(axis=0)
    sole = piece[np.sort(np.argsort(lowest, kind="stable")[: max(int(np.ceil(_SOLE * len(piece))), 1)])]
    return Foot(piece, sole, *(float(value) for value in np.quantile(centroid, (_LOW, _HIGH))))


def _means(vertices: np.ndarray, groups: list[np.ndarray]) -> np.ndarray:
    """(..., K, 3) means of K groups of the vertices (..., V, 3)."""
    if not groups:
        return np.empty((*vertices.shape[:-2], 0, 3))
    counts = np.array([len(group) for group in groups])
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    picked = vertices[..., np.concatenate(groups), :].astype(float)
    return np.add.reduceat(picked, starts, axis=-2) / counts[:, None]
