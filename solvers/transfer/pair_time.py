"""What the time of a pair costs by its neighbours: as even as the others show that time runs, and in order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .association_cost import TYPICAL_PAIRS, TYPICAL_UNEVENNESS, bridge_residuals
from .clip_pair import ClipRows


def time_cost(clips: list[ClipRows], clip: int, pair: int) -> np.ndarray:
    """(m,) of pairing a pair's source with each row of the target's clip, see ``pair_time_cost``."""
    others = [one.pairs for number, one in enumerate(clips) if number != clip]
    return pair_time_cost(clips[clip].pairs, pair, len(clips[clip].target[0]), others)


def pair_time_cost(pairs: np.ndarray, pair: int, count: int, others: Sequence[np.ndarray] = ()) -> np.ndarray:
    """(count,) of pairing a pair's source with each row of the target, in natural logarithms of likelihood.

    pairs: (L, 2) source and target rows in order of the source's; without the pair, of the target's too.  others: the
    same of other clips.  Time between pairs is a Brownian bridge, see ``bridge_cost``; how uneven it is, is told by all
    pairs but this one, and three that are typical, so what they leave open makes it Student's t (Gelman et al. 2013,
    section 3.2).  A pair at an end is told by how far off its neighbour is from the line to the next.  Endless where
    time would not go on.
    """
    told = [np.delete(pairs, pair, axis=0), *others]
    known = np.concatenate([bridge_residuals(each[:-2], each[1:-1], each[2:]) for each in told])
    number = TYPICAL_PAIRS + len(known)
    uneven = (TYPICAL_PAIRS * TYPICAL_UNEVENNESS + known.sum()) / number
    rows = np.arange(count, dtype=float)
    here = np.stack((np.full(count, pairs[pair, 0]), rows), axis=1)
    out, goes_on = np.full(count, np.inf), np.ones(count, bool)
    if pair > 0:
        goes_on &= rows > pairs[pair - 1, 1]
    if pair < len(pairs) - 1:
        goes_on &= rows < pairs[pair + 1, 1]
    first = min(max(pair - 1, 0), max(len(pairs) - 3, 0))
    three = [here[goes_on] if at == pair else pairs[at] for at in range(first, min(first + 3, len(pairs)))]
    away = bridge_residuals(*np.broadcast_arrays(*three)) if len(three) == 3 else 0.0
    out[goes_on] = 0.5 * (number + 1) * np.log1p(away / (number * uneven))
    return out
