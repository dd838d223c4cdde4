"""What the time of a pair costs by its neighbours: as even as the others show that time runs, and in order."""

from __future__ import annotations

import numpy as np

from .association_cost import TYPICAL_PAIRS, TYPICAL_UNEVENNESS, bridge_residuals
from .clip_pair import ClipRows


def time_cost(clips: list[ClipRows], clip: int, pair: int) -> np.ndarray:
    """(m,) of pairing a pair's source with each row of the target's clip, in natural logarithms of likelihood.

    Time between pairs is a Brownian bridge, see ``bridge_cost``; how uneven it is, is told by all pairs but this one,
    and three that are typical, so what they leave open makes it Student's t (Gelman et al. 2013, section 3.2).  A pair
    at an end is told by how far off its neighbour is from the line to the next.  Endless where time would not go on.
    """
    others = [np.delete(one.pairs, pair, axis=0) if k == clip else one.pairs for k, one in enumerate(clips)]
    known = np.concatenate([bridge_residuals(pairs[:-2], pairs[1:-1], pairs[2:]) for pairs in others])
    count = TYPICAL_PAIRS + len(known)
    uneven = (TYPICAL_PAIRS * TYPICAL_UNEVENNESS + known.sum()) / count
    pairs = clips[clip].pairs
    rows = np.arange(len(clips[clip].target[0]), dtype=float)
    here = np.stack((np.full(len(rows), pairs[pair, 0]), rows), axis=1)
    out, goes_on = np.full(len(rows), np.inf), np.ones(len(rows), bool)
    if pair > 0:
        goes_on &= rows > pairs[pair - 1, 1]
    if pair < len(pairs) - 1:
        goes_on &= rows < pairs[pair + 1, 1]
    first = min(max(pair - 1, 0), max(len(pairs) - 3, 0))
    three = [here[goes_on] if number == pair else pairs[number] for number in range(first, min(first + 3, len(pairs)))]
    away = bridge_residuals(*np.broadcast_arrays(*three)) if len(three) == 3 else 0.0
    out[goes_on] = 0.5 * (count + 1) * np.log1p(away / (count * uneven))
    return out
