"""What is done to each face of one mesh, done to the faces of another that answer to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.linalg import SuperLU, splu
from scipy.spatial import cKDTree

# Of the faces' own term: sections 3 and 4 fix one vertex, which leaves pieces of a mesh where they like.
_PULL = 1e-4


@dataclass(frozen=True)
class DeformationTransfer:
    """Sumner and Popovic 2004, section 3 (eqs. 2 to 6): least squares of 3 x 3 changes of the faces, each with a fourth
    point above it, over all vertices. Every vertex is pulled a little to where its counterpart went.

    source: (S, 3) faces of the source.  inverse: (S, 3, 3) of the source's faces at rest.  answer: (T,) the source's
    face of each of the target's.  rest: (V, 3) of the target.  near: (V,) the source's vertex that each is pulled by,
    size: the target's over the source's.
    """

    source: np.ndarray
    source_rest: np.ndarray
    inverse: np.ndarray
    answer: np.ndarray
    rest: np.ndarray
    near: np.ndarray
    size: float
    system: csr_matrix
    pull: np.ndarray
    factor: SuperLU

    @classmethod
    def build(
        cls, source: tuple[np.ndarray, np.ndarray], target: tuple[np.ndarray, np.ndarray], answer: np.ndarray,
        near: np.ndarray, size: float,
    ) -> DeformationTransfer:  # fmt: skip
        """source, target: vertices (S, 3) and (V, 3) in poses that answer to each other, and triangles.

        answer: (T,) faces of the source.  near: (V,) vertices of the source.  size: of the target over the source's.
        """
        (places, faces), (rest, triangles) = source, target
        count, total = len(rest), len(rest) + len(triangles)
        inverse = np.linalg.inv(_edges(rest, triangles))
        # Column c of V~ is (v_c+1 - v_1), so that T = V~ V^-1 is linear in the corners and the fourth point.
        shares = np.concatenate((-inverse.sum(axis=1, keepdims=True), inverse), axis=1)
        corners = np.concatenate((triangles, count + np.arange(len(triangles))[:, None]), axis=1)
        rows = 3 * np.arange(len(triangles))[:, None, None] + np.arange(3)
        rows, columns = np.broadcast_arrays(rows, corners[:, :, None])
        system = coo_matrix((shares.ravel(), (rows.ravel(), columns.ravel())), (3 * len(triangles), total)).tocsr()
        normal = (system.T @ system).tocsc()
        pull = np.zeros(total)
        pull[:count] = _PULL * normal.diagonal()[:count]
        factor = splu(normal + coo_matrix((pull, (np.arange(total),) * 2)).tocsc(), permc_spec="MMD_AT_PLUS_A")
        of_source = np.linalg.inv(_edges(places, faces))
        return cls(faces, places, of_source, answer, rest, near, size, system, pull, factor)

    def vertices(self, places: np.ndarray) -> np.ndarray:
        """(V, 3) of the target where the source's are at places (S, 3)."""
        changes = _edges(places, self.source) @ self.inverse
        wanted = np.swapaxes(changes[self.answer], 1, 2).reshape(-1, 3)
        count = len(self.rest)
        right = self.system.T @ wanted
        right[:count] += self.pull[:count, None] * (self.rest + self.size * (places - self.source_rest)[self.near])
        return self.factor.solve(right)[:count]


def _edges(places: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """(T, 3, 3) columns: two edges of each face and its normal, which is as long as the root of its area (eq. 1)."""
    first, second, third = (places[faces[:, corner]] for corner in range(3))
    normal = np.cross(second - first, third - first)
    normal /= np.maximum(np.sqrt(np.linalg.norm(normal, axis=1, keepdims=True)), 1e-12)
    return np.stack((second - first, third - first, normal), axis=2)


def nearest_faces(
    source: tuple[np.ndarray, np.ndarray], target: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """A guess where no correspondence is known: for each face (T,) and vertex (V,) of the target the nearest one of the
    source, once the source's box is stretched to the target's.

    source, target: vertices and triangles, facing alike.
    """
    (places, faces), (rest, triangles) = source, target
    fitted = fitted_to(places, rest)
    answer = cKDTree(fitted[faces].mean(axis=1)).query(rest[triangles].mean(axis=1))[1]
    return answer, cKDTree(fitted).query(rest)[1]


def fitted_to(places: np.ndarray, rest: np.ndarray, of: np.ndarray | None = None) -> np.ndarray:
    """Places (..., S, 3), stretched and moved so that the box of some of them (S, 3) becomes that of a rest (V, 3).

    of: those, places themselves where None.
    """
    of = places if of is None else of
    low, high = of.min(axis=0), of.max(axis=0)
    return (places - low) / np.maximum(high - low, 1e-12) * np.ptp(rest, axis=0) + rest.min(axis=0)
