"""Feet that stand on what has taken the place of an object: one carry a stance, blended over the swings between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..core.types import MeshTrack, TriangleMesh
from ..surface.point_transfer import WALL, TransferredPoints
from .binding import Binding
from .relationship import Relations
from .stances import Stances


@dataclass(frozen=True)
class Standing:
    """M stances on the objects that are replaced, each a descriptor that only its foot holds to.

    stances: when and which.  origins (M, 3), axes (M, 3, 3): at bind.  placed: by the number of each object, which of
    the stances are on it (K,), and these on the other surface.
    moved: (M,) metres along the foot.  borne: (M,) in [0, 1], how much of the sole.  replaced: (N,) bool, descriptors
    of the objects that are replaced.
    """

    stances: Stances
    origins: np.ndarray
    axes: np.ndarray
    placed: Mapping[int, tuple[np.ndarray, TransferredPoints]]
    moved: np.ndarray
    borne: np.ndarray
    replaced: np.ndarray

    def frames(self, environment: Sequence[TriangleMesh | MeshTrack]) -> tuple[np.ndarray, np.ndarray]:
        """Origins (S, M, 3) and axes (S, M, 3, 3) of the stances now. environment: in the binding's order."""
        parts = {k: points.frames(environment[k]) for k, (_, points) in self.placed.items()}
        states = max((len(origins) for origins, _ in parts.values()), default=1)
        count = len(self.stances)
        origins, axes = np.empty((states, count, 3)), np.empty((states, count, 3, 3))
        for k, (rows, _) in self.placed.items():
            origins[:, rows], axes[:, rows] = parts[k]
        return origins, axes

    @property
    def found(self) -> np.ndarray:
        """(M,) bool, which have ground."""
        out = np.zeros(len(self.stances), bool)
        for rows, points in self.placed.values():
            out[rows] = points.found
        return out

    def steps(self, gravity: np.ndarray) -> np.ndarray:
        """(P,) rows of stances after which the next row is the same foot's next one, both with ground and on what was
        level enough to stand on at bind. gravity: (3,) unit vector."""
        counts = self.found & (self.axes[..., 0] @ -np.asarray(gravity, float) > WALL)
        pairs = self.stances.pairs
        return pairs[counts[pairs] & counts[pairs + 1]]

    def unheld(self, rows: slice) -> np.ndarray:
        """(f, J) in [0, 1], how much joints stand where there is no ground: nothing holds them there."""
        lost = ~self.found
        weights = self.stances.weights[lost][:, rows]
        return np.max(weights[:, :, None] * self.stances.joints[lost][:, None], axis=0, initial=0.0)

    @property
    def share(self) -> np.ndarray:
        """(F, J) in [0, 1], how much joints belong to stances at all."""
        return np.minimum(np.einsum("mf,mj->fj", self.stances.weights, self.stances.joints.astype(float)), 1.0)

    def stands(self, rows: slice) -> np.ndarray:
        """(f, J) bool, which joints stand on ground that is there."""
        number = np.arange(self.stances.weights.shape[1])[rows, None]
        here = (self.stances.first <= number) & (number <= self.stances.last) & self.found
        return here.astype(float) @ self.stances.joints > 0.5

    def swinging(self, rows: slice) -> np.ndarray:
        """(f, J) in [0, 1], how much joints are on their way from stance to stance."""
        return self.share[rows] * ~self.stands(rows)

    def standing(self, relations: Relations, rows: slice) -> Relations:
        """Relations of some frames to N descriptors as those to N + M: what joints of feet hold to replaced objects by
        goes to their stances."""
        share = np.moveaxis(self.stances.weights[:, rows, None] * self.stances.joints[:, None], 0, -1)
        matrix = relations.weights
        share = share.reshape(matrix.shape[0], len(self.stances))
        whole = matrix @ self.replaced.astype(float)
        left = 1.0 - np.minimum(share.sum(axis=1), 1.0)
        data = matrix.data.copy()
        row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        mine = self.replaced[matrix.indices]
        data[mine] *= left[row[mine]]
        rest = sparse.csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)
        stood = sparse.csr_matrix(share * whole[:, None])
        return Relations(sparse.csr_matrix(sparse.hstack((rest, stood))), relations.frames, relations.joints)


def moved_at_bind(binding: Binding, number: int) -> bool:
    """Whether an object moved while it was bound."""
    origins = binding.origins[:, binding.points.of_object(number)]
    return bool(len(origins) > 1 and np.ptp(origins, axis=0).max(initial=0.0) > 1e-6 * binding.scale)
