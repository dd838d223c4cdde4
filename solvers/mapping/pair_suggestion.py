"""Which pose to pair next: the frame of the source that would make a map surest over the whole of it.

The paper (Rhodin et al. 2014, section 5.2) takes the frames whose own prediction is least sure; those are extremes
and glitches. What a pair at frame i takes off the variance summed over all frames is sum_j C_ij^2 / (C_ii + sigma^2),
C being the posterior covariance between frames (Cohn 1996, "Neural network exploration using optimal experiment
design"): that is the "integrated" score. Cohn integrates over the inputs as they are distributed where the map is used;
weights w_j of the frames say so here, where some matter more than others: sum_j w_j C_ij^2 / (C_ii + sigma^2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from ..core.errors import InputError
from ..core.subsampling import evenly_spaced
from ..regression.ridge import NOISE

_SAMPLE = 1000
_LEFT_OUT = 1e-4


@dataclass(frozen=True)
class RowSpace:
    """A source's features in few coordinates that keep its inner products: made once for a source.

    axes: (P, r) orthonormal.  coordinates: (F, r), the features along the axes.  weights: (F,), not negative, of mean
    one over the frames that may be proposed and are summed over, zero at all others.  squares: (r, r), the weighted sum
    of the outer products of the coordinates.  prior: (F,), sum_j w_j (x_i . x_j)^2.
    """

    axes: np.ndarray
    coordinates: np.ndarray
    weights: np.ndarray
    squares: np.ndarray
    prior: np.ndarray

    @property
    def counted(self) -> np.ndarray:
        """(F,) bool, the frames that may be proposed and are summed over."""
        return self.weights > 0.0

    @classmethod
    def of(
        cls, features: np.ndarray, excluded: np.ndarray | None = None, weights: np.ndarray | None = None
    ) -> RowSpace:
        """Of features (F, P). excluded: (F,) bool, frames that shall not count, such as a tracker's glitches.

        weights: (F,) how much each frame matters, only their proportions count; all alike where None, and a frame of
        weight zero is as if excluded.  The axes come from at most 1000 counted frames, evenly spaced, and leave 1e-4 of
        their square out. No matrix is larger than 1000 x 1000, however many frames or features there are.
        Raises InputError where a feature is not finite, all are zero or all frames are excluded, and for a weight that
        is negative or no number.
        """
        features = np.asarray(features, float)
        weights = np.ones(len(features)) if weights is None else np.array(weights, float)
        if not (np.isfinite(weights).all() and (weights >= 0.0).all()):
            raise InputError("The weights of the source's frames must be numbers of zero or more.")
        weights[np.zeros(len(features), bool) if excluded is None else excluded] = 0.0
        bad = np.flatnonzero(~np.isfinite(features).all(axis=1))
        if bad.size:
            raise InputError(f"The source has numbers that are not finite at its frame {bad[0]}.")
        usable = np.flatnonzero(weights)
        if not usable.size:
            raise InputError("All frames of the source are excluded; choose another range.")
        weights *= len(usable) / weights.sum()
        some = evenly_spaced(usable, _SAMPLE)
        axes = _main_axes(np.sqrt(weights[some])[:, None] * features[some])
        coordinates = features @ axes
        squares = (weights[usable, None] * coordinates[usable]).T @ coordinates[usable]
        prior = np.einsum("fr,fr->f", coordinates @ squares, coordinates)
        return cls(axes, coordinates, weights, squares, prior)


def _main_axes(sample):
    """Orthonormal (P, r) that keep all but a small share of the square of sample (m, P), by the smaller Gram matrix."""
    wide = sample.shape[1] > len(sample)
    squares, vectors = eigh(sample @ sample.T if wide else sample.T @ sample)
    if not squares[-1] > 0.0:
        raise InputError("The source's features are all zero; choose a range in which it moves.")
    keep = np.cumsum(squares) > _LEFT_OUT * squares.sum()
    return sample.T @ (vectors[:, keep] / np.sqrt(squares[keep])) if wide else vectors[:, keep]


def scores(space: RowSpace, chosen: np.ndarray) -> np.ndarray:
    """How much a pair at each frame would help, (F,), not negative; zero where the frame is excluded.

    chosen: (n, P) features of the paired poses, n may be zero; they need not be frames of the source.
    It is the variance that such a pair takes off all counted frames, as they are weighted.
    """
    return worth(space, chosen)[0]


def worth(space: RowSpace, chosen: np.ndarray) -> tuple[np.ndarray, float]:
    """``scores`` (F,), and the variance that is left over all counted frames, as they are weighted, of which each takes
    its part: their ratio is what one more pair gains."""
    variance, gain = posterior(space, chosen)
    return np.where(space.counted, gain / (variance + NOISE), 0.0), float(space.weights @ variance)


def posterior(space: RowSpace, chosen: np.ndarray, noise: float = NOISE) -> tuple[np.ndarray, np.ndarray]:
    """Variance (F,) of each frame given the paired poses (n, P), and the weighted sum (F,) over counted frames of its
    squared covariance with them.

    The sum over all frames is written out in what was made once and n vectors: the cost is F r n.
    """
    at = space.coordinates
    chosen = np.asarray(chosen, float).reshape(-1, len(space.axes))
    gain, variance = space.prior, np.einsum("fr,fr->f", at, at)
    if len(chosen):
        factor = cho_factor(chosen @ chosen.T + noise * np.eye(len(chosen)), lower=True)
        inside = chosen @ space.axes
        covariance = at @ inside.T
        solved = cho_solve(factor, covariance.T).T
        variance = np.maximum(variance - np.einsum("fn,fn->f", covariance, solved), 0.0)
        known = inside @ space.squares
        gain = gain - 2.0 * np.einsum("fn,fn->f", at @ known.T, solved)
        gain = np.maximum(gain + np.einsum("fn,fn->f", solved @ (known @ inside.T), solved), 0.0)
    return variance, gain


def suggest(score: np.ndarray, times: np.ndarray, count: int = 5) -> np.ndarray:
    """Frames of the best local maxima of score (F,), at most count, best first, well apart: for five a twentieth of the
    range in which frames score.

    times: (F,).  Frames that score nothing are never proposed. A level stretch counts by its first frame.
    """
    score, times = np.asarray(score, float), np.asarray(times, float)
    scored = times[score > 0.0]
    apart = np.ptp(scored) / (4 * count) if len(scored) else 0.0
    before, after = np.concatenate(([-np.inf], score[:-1])), np.concatenate((score[1:], [-np.inf]))
    peaks = np.flatnonzero((score > before) & (score >= after) & (score > 0.0))
    found: list[int] = []
    for peak in peaks[np.argsort(-score[peaks], kind="stable")]:
        if len(found) < count and (np.abs(times[found] - times[peak]) >= apart).all():
            found.append(int(peak))
    return np.array(found, int)


def confidence(variance: np.ndarray) -> np.ndarray:
    """0 (unknown, red) to 1 (sure, green) from a map's variance (...).

    As features have unit length on average, a variance of 1 is what is known of a usual pose when nothing is paired.
    """
    return np.clip(1.0 - np.asarray(variance, float), 0.0, 1.0)
