"""Principal components of a few long vectors, by the small matrix of their products."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

# Coordinates worked on at a time, in double precision.
_CHUNK = 1 << 14
# Components below this share of all variance are rounding of the single-precision data (repeated frames give such).
_NOISE = 1e-8


@dataclass(frozen=True)
class GramPca:
    """mean (K,) and orthonormal basis (D, K), both float32; coefficients (F, D); share of the variance kept.
    left: (F,) how much of each frame's distance from the mean the components leave out, 0 to 1."""

    mean: np.ndarray
    basis: np.ndarray
    coefficients: np.ndarray
    kept: float
    left: np.ndarray


def gram_pca_steps(features: np.ndarray, components: int, variance: float) -> Generator[float, None, GramPca]:
    """Of features (F, K), as many components as reach a share of the variance, at most ``components``.

    Eigenvectors of the (F, F) matrix of products of centred frames: its cost is linear in K (Turk and Pentland 1991).
    ``features`` float32 is centred in place, so that nothing of its size is allocated twice.  Yields shares of the way.
    """
    mean = features.mean(axis=0, dtype=float).astype(np.float32)
    features -= mean
    gram = yield from _products(features)
    # float32 means leave a trace of the mean; the frames' products can be centred exactly.
    gram -= gram.mean(axis=0)
    gram -= gram.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(gram)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    count = _count(values, components, variance)
    spread = np.sqrt(values[:count])
    basis = (vectors[:, :count] / spread).T.astype(np.float32) @ features
    coefficients, far = vectors[:, :count] * spread, np.maximum(np.diag(gram), _NOISE * values.sum() / len(gram))
    left = np.sqrt(np.maximum(1.0 - (coefficients**2).sum(axis=1) / far, 0.0))
    return GramPca(mean, basis, coefficients, float(values[:count].sum() / values.sum()), left)


def _products(features: np.ndarray) -> Generator[float, None, np.ndarray]:
    """features features^T (F, F) in double precision, a slice of coordinates at a time."""
    gram = np.zeros((len(features), len(features)))
    for start in range(0, features.shape[1], _CHUNK):
        part = features[:, start : start + _CHUNK].astype(float)
        gram += part @ part.T
        yield start / features.shape[1]
    return gram


def _count(values: np.ndarray, components: int, variance: float) -> int:
    share = np.cumsum(values) / values.sum()
    enough = int(np.searchsorted(share, variance - 1e-12)) + 1
    real = int((values > _NOISE * values.sum()).sum())
    return max(1, min(enough, real, components))
