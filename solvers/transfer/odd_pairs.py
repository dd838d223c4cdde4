"""Which pairs of poses the others contradict: each is predicted by all of them, and what is far off is named."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from ..core.errors import InputError
from ..regression.leave_one_out import leave_one_out
from .association_cost import half_squares
from .clip_pair import ClipRows, checked_clips
from .correspondence import pose_regressions, telling_clips
from .pair_time import time_cost
from .pose_regression import PoseRegression

_FEWEST = 5  # pairs of all clips together; with fewer, each is beyond what the others tell
_NEAR = 0.1  # seconds, and no less than three frames: so near a pair is as it is marked
_AWAY = 2.0  # times that, at least, lies what the others say
_ODD = 5.0  # natural logarithm of how much likelier, at least, is what the others say
# How many independent numbers a pose is in that.  It has up to a hundred, which go wrong together.
_NUMBERS = 4.0
_FARTHER = 1.2  # times as far as what the others say, at least, the paired pose is from what they predict, squared
_MOST = 3  # are named


@dataclass(frozen=True)
class OddPair:
    """clip, pair: their places in the lists.  answer: the row of the target's clip that the others say answers to the
    pair's source.  odds: natural logarithm of how much likelier that is."""

    clip: int
    pair: int
    answer: int
    odds: float


def odd_pairs(clips: list[ClipRows], fps: float) -> list[OddPair]:
    """Pairs that the others contradict, the oddest first; none where they agree, or are too few to tell.

    Each part is learnt from the pairs of all clips as for ``densify``; what it predicts of a pair without having seen
    it, and how surely, follows from the inverse of its covariances (Rasmussen and Williams 2006, section 5.4.2); what
    time says, from ``time_cost``.  A pair is odd where both together are far likelier of another pose of the target's
    clip, a while away and between its neighbours, than of all around the paired one, and the pose alone is no less
    so: time that runs unevenly is no fault where poses agree.  The oddest is left out, and the others are looked at
    again, so that it does not speak against them.

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
        found.append(replace(odd, pair=int(numbers[odd.clip][odd.pair])))
        numbers[odd.clip] = np.delete(numbers[odd.clip], odd.pair)
        left = np.delete(clips[odd.clip].pairs, odd.pair, axis=0)
        clips[odd.clip] = replace(clips[odd.clip], pairs=left)
    return found


def _worst(clips: list[ClipRows], fps: float) -> OddPair | None:
    """The oddest pair, None where there is none."""
    if not clips[0].source:
        return None
    paired = [clip.paired() for clip in clips]
    sides = [[np.concatenate(rows) for rows in zip(*side, strict=True)] for side in zip(*paired, strict=True)]
    learnt = pose_regressions(*sides)
    told = [_without_it(*part) for part in zip(learnt, *sides, strict=True)]
    around, best, start = max(3, round(_NEAR * fps)), None, 0
    for number, clip in enumerate(clips):
        rows = slice(start, start + len(clip.pairs))
        start = rows.stop
        means, variances = ([part[side][rows] for part in told] for side in (0, 1))
        costs = half_squares(means, variances, clip.target)
        for pair, at in enumerate(np.round(clip.pairs[:, 1]).astype(int)):
            pose = np.log(np.maximum(costs[pair], np.finfo(float).tiny))
            total = 0.5 * _NUMBERS * pose + time_cost(clips, number, pair)
            near = max(at - around, 0)
            near += int(total[near : at + around + 1].argmin())
            answer = int(total.argmin())
            odds = float(total[near] - total[answer])
            is_odd = odds > _ODD and pose[near] - pose[answer] > np.log(_FARTHER) and abs(answer - at) > _AWAY * around
            if is_odd and (best is None or odds > best.odds):
                best = OddPair(number, pair, answer, odds)
    return best


def _without_it(learnt: PoseRegression, inputs: np.ndarray, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means (L, M) and variances (L,) of each pair's output by all other pairs."""
    process = learnt.process
    rows, given = (inputs - learnt.input_mean) / learnt.input_scale, (outputs - learnt.output_mean)
    matrix = process.kernel.prepared(rows)(rows) + process.noise * np.eye(len(rows))
    missed, unknown = leave_one_out(matrix, given)
    return outputs - missed, unknown * learnt.output_scale**2
