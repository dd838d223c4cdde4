"""Which pair of poses the others contradict: each is predicted by all of them, and the one that is far off is named."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..regression.leave_one_out import leave_one_out
from ..regression.pairs import finite_pairs
from ..transfer.pair_time import pair_time_cost

_NOISE = 0.05  # of features of unit length: what a linear map of one motion to another misses, whatever the pairs ask
_FEWEST = 5  # with fewer, four of a cycle for one, each is beyond what the others tell
_ODD = 8.0  # times what the others' misses let expect, squared
_FAR = 0.5  # of how far poses of the target are from their mean, RMS
_NEARER = 0.6  # times as far as the paired one, at most, a pose is that the others agree with
# Where pairs go on in time, that tells too: natural logarithm of how much likelier an answer is, at least; how many
# independent numbers a pose is in that; times as far, at least, squared, the paired pose is from what others predict;
# rows around a pair within which it is as marked, and twice as far off an answer lies; of the size of poses, squared,
# what is as good as the same.
_LIKELIER, _NUMBERS, _FARTHER, _AROUND, _SAME = 5.0, 4.0, 1.2, 3, 0.02
_GOES_BACK = 50.0  # what time that goes back costs: more than any other, and poses still tell which of two it is
_KNOWN = 0.6  # of the squared length of features, that they and the noise leave unknown at the pair, at most


@dataclass(frozen=True)
class OddPair:
    """pair: its place in the list.  answer: the frame of the target that the others say answers to its source.
    ratio: how many times farther off the paired pose is than the others' misses let expect (RMS)."""

    pair: int
    answer: int
    ratio: float


def odd_pair(
    rows: np.ndarray, coefficients: np.ndarray, poses: np.ndarray, times: np.ndarray | None = None
) -> OddPair | None:
    """The pair that the others contradict most; None where they agree, or are too few or too unlike it to tell.

    rows: (n, P) features, coefficients: (n, D) of the target, of the pairs.  poses: (F, D) of all its frames.
    times: (n, 2) frames of the source and rows of ``poses``, may be fractions, NaN for what has no time.
    The ridge regression of ``solvers.regression.ridge`` without a pair misses it and expects a squared miss in
    proportion to what is uncertain, as ``leave_one_out`` tells; what the others miss each other by gives the proportion
    (an externally studentized residual).  Where all pairs but one go on in time on both sides, as those of two clips of
    a like movement, the pair's time tells as well, as for Transfer (``transfer.odd_pairs``): what it is found by is how
    much likelier, by pose and time together, another frame between its neighbours is.
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
    if times is not None and _goes_on(times).any():
        found = _by_time(np.log(apart + _SAME * size), times)
        return found and OddPair(*found, float(np.sqrt(ratio[found[0]])))
    is_odd = (ratio > _ODD) & (off > _FAR**2 * size) & (apart.min(axis=1) < _NEARER**2 * off) & (unknown < _KNOWN)
    if not is_odd.any():
        return None
    worst = int(np.argmax(np.where(is_odd, ratio, 0.0)))
    return OddPair(worst, int(apart[worst].argmin()), float(np.sqrt(ratio[worst])))


def _goes_on(times: np.ndarray) -> np.ndarray:
    """(n,) whether time goes on in all other pairs, and no two have the same source frame."""
    order = np.argsort(times[:, 0], kind="stable")
    source, target = times[order].T
    found = np.zeros(len(times), bool)
    if np.isfinite(times).all() and (np.diff(source) > 0.0).all():
        found[order] = [(np.diff(np.delete(target, row)) > 0.0).all() for row in range(len(times))]
    return found


def _by_time(pose: np.ndarray, times: np.ndarray) -> tuple[int, int] | None:
    """Number and answer of the oddest pair; pose: (n, F) logarithms of squared distances from what others predict."""
    order, may_be, best = np.argsort(times[:, 0], kind="stable"), _goes_on(times), (_LIKELIER, None)
    for row, pair in enumerate(order):
        if not may_be[pair]:
            continue
        total = 0.5 * _NUMBERS * pose[pair] + pair_time_cost(times[order], row, pose.shape[1])
        at = int(round(float(times[pair, 1])))
        near = max(at - _AROUND, 0)
        near += int(total[near : at + _AROUND + 1].argmin())
        answer = int(total.argmin())
        farther = pose[pair, near] - pose[pair, answer] > np.log(_FARTHER)
        if not np.isfinite(total[answer]):
            continue  # no frame lies between the neighbours
        marked = total[near] if np.isfinite(total[near]) else 0.5 * _NUMBERS * pose[pair, near] + _GOES_BACK
        odds = float(marked - total[answer])
        if odds > best[0] and farther and abs(answer - at) > 2 * _AROUND:
            best = odds, (int(pair), answer)
    return best[1]
