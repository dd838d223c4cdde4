"""Dense pairs as published: what it costs to pair two poses by a linear map of each clip's own pairs."""

from __future__ import annotations

import numpy as np

from solvers.transfer.association_cost import half_squares
from solvers.transfer.correspondence import ClipRows, DenseClip, dense_by_cost, telling_clips

# sigma^2 of Boukhayma et al. 2017, eq. 1.
NOISE = 0.01
_TINY = 1e-12


def densify_by_linear_maps(clips: list[ClipRows], run: int = 2) -> list[DenseClip]:
    """As ``correspondence.densify``, by the costs of Boukhayma et al. 2017, section 5.1."""
    clips = telling_clips(clips)
    return [dense_by_cost(clip, linear_map_cost(clip.source, clip.target, *clip.paired()), run) for clip in clips]


def linear_map_cost(source: tuple, target: tuple, paired_source: tuple, paired_target: tuple) -> np.ndarray:
    """(n, m) as published: a Bayesian linear map a part and clip from its own pairs, Boukhayma et al. 2017, eqs. 1-6.

    source: of each part (n, P_k).  target: (m, Q_k).  paired_source: (L, P_k).  paired_target: (L, Q_k).
    Poses are in units of their RMS over the clip, without which the numbers of the method would have a unit.
    """
    means, variances, poses = [], [], []
    for rows, others, known, answers in zip(source, target, paired_source, paired_target, strict=True):
        unit, other_unit = _rms(rows), _rms(others)
        if not unit or not other_unit:
            continue  # a part that is still in this clip tells nothing
        rows, known = rows / unit, known / unit
        precision = known.T @ known / NOISE + np.eye(rows.shape[1])
        spread = np.linalg.solve(precision, rows.T)
        means.append(spread.T @ (known.T @ answers / other_unit) / NOISE)
        variances.append(np.maximum(np.einsum("np,pn->n", rows, spread), _TINY))
        poses.append(others / other_unit)
    return half_squares(means, variances, poses)


def _rms(rows):
    return float(np.sqrt(np.mean(rows**2)))
