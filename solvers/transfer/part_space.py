"""The poses of one body part: a few principal components of where its vertices are in the torso's frame."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from ..core.errors import InputError
from ..regression.gram_pca import gram_pca_steps

# Of a part's radius: what moves less over all clips, on average, does not move.
_STILL = 1e-3


@dataclass(frozen=True)
class PartSpace:
    """vertices (n,): numbers of the part's.  weights (n,): shares of its area.  mean (3n,), basis (D, 3n): float32.

    Rows (..., D) are in metres: their distance is the area-weighted RMS distance of the poses' vertices.  A part that
    is stiff has no components, D = 0.
    """

    vertices: np.ndarray
    weights: np.ndarray
    mean: np.ndarray
    basis: np.ndarray

    @property
    def components(self) -> int:
        """D."""
        return len(self.basis)

    def coefficients_of(self, vertices: np.ndarray) -> np.ndarray:
        """Rows (..., D) of the part's vertices (..., n, 3), local."""
        away = vertices.reshape(*vertices.shape[:-2], -1) - self.mean
        return (away * np.repeat(self.weights, 3)) @ self.basis.T.astype(float)

    def vertices_of(self, rows: np.ndarray) -> np.ndarray:
        """The part's vertices (..., n, 3), local, float32, of rows (..., D)."""
        flat = self.mean + np.asarray(rows, np.float32) @ self.basis
        return flat.reshape(*flat.shape[:-1], -1, 3)


def learn_part_steps(
    poses: np.ndarray,
    vertices: np.ndarray,
    mass: np.ndarray,
    name: str,
    components: int = 20,
    may_be_stiff: bool = False,
) -> Generator[float, None, PartSpace]:
    """Of poses (F, n, 3), local; numbers (n,) and areas (n,) of the part's vertices; yields shares of the way.

    Principal components weighted by area, so that resolution does not matter (Boukhayma et al. 2017, section 4: twenty
    a part).  At most ``components``; fewer where the poses have no more.
    Raises InputError naming a part that does not move against the torso, unless it may be stiff as a torso may: then it
    has no components.
    """
    weights = mass / mass.sum()
    if not _moves(poses, weights):
        if may_be_stiff:
            yield 1.0
            mean = poses.mean(axis=0, dtype=float).astype(np.float32).reshape(-1)
            return PartSpace(vertices, weights, mean, np.zeros((0, len(mean)), np.float32))
        raise InputError(
            f"'{name}' never moves in the clips: there is nothing to learn of it; add a clip in which it does, or make "
            "it one part with its neighbour."
        )
    roots = np.sqrt(np.repeat(weights, 3))
    features = poses.reshape(len(poses), -1) * roots.astype(np.float32)
    pca = yield from gram_pca_steps(features.astype(np.float32, copy=False), components, 1.0)
    scaled = (pca.basis / roots).astype(np.float32)
    return PartSpace(vertices, weights, (pca.mean / roots).astype(np.float32), scaled)


def _moves(poses: np.ndarray, weights: np.ndarray) -> bool:
    centre = weights @ poses.mean(axis=0)
    mean = poses.mean(axis=0)
    radius = np.sqrt(weights @ ((mean - centre) ** 2).sum(axis=1))
    moved = np.sqrt(weights @ ((poses - mean) ** 2).sum(axis=2).mean(axis=0))
    return bool(moved > _STILL * radius)
