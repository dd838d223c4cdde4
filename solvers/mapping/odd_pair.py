"""Which pair of poses the others contradict: each is predicted by all of them, and the one that is far off is named."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..regression.leave_one_out import leave_one_out
from ..regression.pairs import finite_pairs

_NOISE = 0.05  # of features of unit length: what a linear map of one motion to another misses, whatever the pairs ask
_FEWEST = 5  # with fewer, four of a cycle for one, each is beyond what the others tell
_ODD = 8.0  # times what the others' misses let expect, squared
_FAR = 0.5  # of how far poses of the target are from their mean, RMS
_NEARER = 0.6  # times as far as the paired one, at most, a pose is that the others agree with
_KNOWN = 0.6  # of the squared length of features, that they and the noise leave unknown at the pair, at most


@dataclass(frozen=True)
class OddPair:
    """pair: its place in the list.  answer: the frame of the target that the others say answers to its source.
    ratio: how many times farther off the paired pose is than the others' misses let expect (RMS)."""

    pair: int
    answer: int
    ratio: float


def odd_pair(rows: np.ndarray, coefficients: np.ndarray, poses: np.ndarray) -> OddPair | None:
    """The pair that the others contradict most; None where they agree, or are too few or too unlike it to tell.

    rows: (n, P) features, coefficients: (n, D) of the target, of the pairs.  poses: (F, D) of all its frames.
    The ridge regression of ``solvers.regression.ridge`` without a pair misses it and expects a squared miss in
    proportion to what is uncertain, as ``leave_one_out`` tells; what the others miss each other by gives the proportion
    (an externally studentized residual).
    Raises InputError for fewer than two pairs and numbers that are not finite.
    """
    rows, coefficients = finite_pairs(np.atleast_2d(rows), np.atleast_2d(coefficients), "A map")
    if len(rows) < _FEWEST:
        return None
    mean = poses.mean(axis=0)
    given, poses = coefficients - mean, poses - mean
    missed, unknown = leave_one_out(rows @ rows.T + _NOISE * np.eye(len(rows)), given)
    off = (missed**2).sum(axis=1)
    surprise = off / unknown
    usual = (np.einsum("nd,nd,n->", given, missed, 1.0 / unknown) - surprise) / (len(rows) - 1)
    ratio = surprise / np.maximum(usual, np.finfo(float).tiny)
    apart = ((poses[None] - (given - missed)[:, None]) ** 2).sum(axis=2)
    size = (poses**2).sum(axis=1).mean()
    is_odd = (ratio > _ODD) & (off > _FAR**2 * size) & (apart.min(axis=1) < _NEARER**2 * off) & (unknown < _KNOWN)
    if not is_odd.any():
        return None
    worst = int(np.argmax(np.where(is_odd, ratio, 0.0)))
    return OddPair(worst, int(apart[worst].argmin()), float(np.sqrt(ratio[worst])))
