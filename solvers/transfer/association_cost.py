"""What it costs to pair a pose of the source with one of the target, by what given pairs of poses tell."""

from __future__ import annotations

import numpy as np

from .pose_regression import PoseRegression

# What is believed of time between pairs before any pair is looked at, and as of how many pairs: see ``unevenness``.
TYPICAL_UNEVENNESS, TYPICAL_PAIRS = 1.0 / 300.0, 3


def regression_cost(regressions: list[PoseRegression], source: tuple, target: tuple) -> np.ndarray:
    """(n, m) from what all clips' pairs have taught, a regression a part: 1/2 |y_j - mu(x_i)|^2 / v(x_i), summed.

    source: of each part (n, P_k).  target: (m, Q_k).  v is the predictive variance with its noise. Its logarithm is
    left out as in Boukhayma et al. 2017, eq. 5: with it a path dwells on source poses that are like those of the pairs.
    """
    told = list(zip(regressions, source, strict=True))
    means = [regression.predict(rows) for regression, rows in told]
    variances = [regression.variance(rows) * regression.output_scale**2 for regression, rows in told]
    return half_squares(means, variances, target)


def bridge_cost(pairs: np.ndarray, shape: tuple[int, int], uneven: float) -> np.ndarray:
    """(n, m), what a pairing costs for its distance from the straight line between neighbouring pairs: that of a
    Brownian bridge over the target's rows, 1/2 (j - line(i))^2 / (uneven span^2 s (1 - s)) at the share s of the way.

    At a pair it is as half a source row from it. Nothing outside of the first and last pair.
    pairs: (L, 2), may be fractions, increasing in both columns.  uneven: see ``unevenness``.
    """
    rows, columns = np.arange(shape[0], dtype=float), np.arange(shape[1], dtype=float)
    block = np.clip(np.searchsorted(pairs[:, 0], rows, side="right") - 1, 0, len(pairs) - 2)
    length, span = np.diff(pairs, axis=0)[block].T
    nearest = np.minimum(0.5 / length, 0.5)
    share = np.clip((rows - pairs[block, 0]) / length, nearest, 1.0 - nearest)
    weight = 0.5 / (uneven * span**2 * share * (1.0 - share))
    weight[(rows < pairs[0, 0]) | (rows > pairs[-1, 0])] = 0.0
    away = columns - np.interp(rows, *pairs.T)[:, None]
    away *= away
    away *= weight[:, None]
    return away


def unevenness(clips_pairs: list[np.ndarray]) -> float:
    """How unevenly time runs: the mean square of how far pairs are from the line between their neighbours, in units of
    ``bridge_cost``, of all clips' pairs (L, 2) together and three that are typical."""
    total, count = TYPICAL_PAIRS * TYPICAL_UNEVENNESS, TYPICAL_PAIRS
    for pairs in clips_pairs:
        residuals = bridge_residuals(pairs[:-2], pairs[1:-1], pairs[2:])
        total += residuals.sum()
        count += len(residuals)
    return float(total / count)


def bridge_residuals(before: np.ndarray, here: np.ndarray, after: np.ndarray) -> np.ndarray:
    """(n,) squared distances of pairs (n, 2) from the line between their neighbours (n, 2), in units of
    ``bridge_cost``."""
    length, span = (after - before).T
    share = (here - before)[:, 0] / length
    away = (here - before)[:, 1] - share * span
    return away**2 / (span**2 * share * (1.0 - share))


def half_squares(means, variances, poses) -> np.ndarray:
    """(n, m): 1/2 |poses_j - means_i|^2 / variances_i, summed over parts: all of it but a term a row by one product.

    means: of each part (n, Q_k).  variances: (n,).  poses: (m, Q_k).
    """
    weights = [1.0 / variance[:, None] for variance in variances]
    left = [mean * -weight for mean, weight in zip(means, weights, strict=True)] + [0.5 * weight for weight in weights]
    right = [*poses, *(np.einsum("mp,mp->m", pose, pose)[:, None] for pose in poses)]
    table = np.concatenate(left, axis=1) @ np.concatenate(right, axis=1).T
    halves = [0.5 * weight * mean**2 for mean, weight in zip(means, weights, strict=True)]
    table += np.concatenate(halves, axis=1).sum(axis=1)[:, None]
    return np.maximum(table, 0.0, out=table)
