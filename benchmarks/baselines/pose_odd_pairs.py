"""Which pairs of poses the others contradict, by poses alone: Transfer's earlier rule, which knew nothing of time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from solvers.core.errors import InputError
from solvers.regression.leave_one_out import leave_one_out
from solvers.transfer.association_cost import half_squares
from solvers.transfer.clip_pair import ClipRows, checked_clips
from solvers.transfer.correspondence import pose_regressions, telling_clips
from solvers.transfer.pose_regression import PoseRegression

_FEWEST = 5  # pairs of all clips together; with fewer, each is beyond what the others tell
_NEAR = 0.1  # seconds, and no less than three frames: so near a pair is as it is marked
_AWAY = 2.0  # times that, at least, lies what the others say
_ODD = 4.0  # times as unlikely as what the others say is the pair
_SURE = 2.0  # times as far as is expected of what fits, at least, the pair is; clips without noise are told closer
_SLACK = 0.15  # of what is expected of what fits: a part that speaks against it by more makes a pair doubtful
_MOST = 3  # are named


@dataclass(frozen=True)
class OddPair:
    """clip, pair: their places in the lists.  answer: the row of the target's clip that the others say answers to the
    pair's source.  ratio: how many times less likely the paired one is, as squared distances over what is expected."""

    clip: int
    pair: int
    answer: int
    ratio: float


def odd_pairs(clips: list[ClipRows], fps: float) -> list[OddPair]:
    """Pairs that the others contradict, the oddest first; none where they agree, or are too few to tell.

    Each part is learnt from the pairs of all clips as for ``densify``; what it predicts of a pair without having seen
    it, and how surely, follows from the inverse of its covariances (Rasmussen and Williams 2006, section 5.4.2).  A
    pair is odd where another pose of the target's clip, a while away, is far nearer to that than all around the paired
    one, by every part: one limb alone may well do something that no other pair shows.  The oddest is left out, and
    the others are looked at again, so that it does not speak against them.

    fps: frames a second of the target's clips.  Raises InputError as ``densify``.
    """
    clips = checked_clips(clips)
    numbers = [np.arange(len(clip.pairs)) for clip in clips]
    clips, found = telling_clips(clips), []
    while sum(len(clip.pairs) for clip in clips) >= _FEWEST and len(found) < _MOST:
        try:
            odd = _worst(clips, fps)
        except (InputError, LinAlgError):
            break  # what cannot be learnt tells nothing
        if odd is None:
            break
        worst, is_clear = odd
        at = worst.clip
        if is_clear:
            found.append(replace(worst, pair=int(numbers[at][worst.pair])))
        numbers[at] = np.delete(numbers[at], worst.pair)
        clips[at] = replace(clips[at], pairs=np.delete(clips[at].pairs, worst.pair, axis=0))
    return found


def _worst(clips: list[ClipRows], fps: float) -> tuple[OddPair, bool] | None:
    """The oddest pair, and whether no part speaks against that it is; None where there is none."""
    if not clips[0].source:
        return None
    paired = [clip.paired() for clip in clips]
    sides = [[np.concatenate(rows) for rows in zip(*side, strict=True)] for side in zip(*paired, strict=True)]
    learnt = pose_regressions(*sides)
    told = [_without_it(*part) for part in zip(learnt, *sides, strict=True)]
    around, best, start = max(3, round(_NEAR * fps)), None, 0
    usual = 0.5 * np.array([rows.shape[1] for rows in sides[1]])
    for number, clip in enumerate(clips):
        rows = slice(start, start + len(clip.pairs))
        start = rows.stop
        costs = np.stack([
            half_squares([means[rows]], [variances[rows]], [poses])
            for (means, variances), poses in zip(told, clip.target, strict=True)
        ])  # fmt: skip
        for pair, at in enumerate(np.round(clip.pairs[:, 1]).astype(int)):
            of_pair = costs[:, pair]
            total = of_pair.sum(axis=0)
            near = max(at - around, 0)
            near += int(total[near : at + around + 1].argmin())
            answer = int(total.argmin())
            ratio = float(total[near] / max(total[answer], np.finfo(float).tiny))
            is_odd = ratio > _ODD and total[near] > _SURE * usual.sum() and abs(answer - at) > _AWAY * around
            if is_odd and (best is None or ratio > best[0].ratio):
                speaks_against = of_pair[:, answer] > of_pair[:, near] + _SLACK * usual
                best = OddPair(number, pair, answer, ratio), not speaks_against.any()
    return best


def _without_it(learnt: PoseRegression, inputs: np.ndarray, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means (L, M) and variances (L,) of each pair's output by all other pairs."""
    process = learnt.process
    rows, given = (inputs - learnt.input_mean) / learnt.input_scale, (outputs - learnt.output_mean)
    matrix = process.kernel.prepared(rows)(rows) + process.noise * np.eye(len(rows))
    missed, unknown = leave_one_out(matrix, given)
    return outputs - missed, unknown * learnt.output_scale**2
