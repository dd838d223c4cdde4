"""How fast the feet of a body that moves on the spot go back while they stand, from all of its own motion.

Where they are planted, as a person's are, that is one speed, and a foot that comes down or leaves is slower.  Where
they slide, as those of most animated animals do, there is no such speed: the body goes as they do on average.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter1d

# Of the body's height: a sole is down so near to its own low height, which it is below in a tenth of the moments.
_DOWN, _LOW = 0.015, 0.1
_STANDS = 0.2  # of a foot's way up
_BACK = 0.1  # of the RMS speed of soles: what stands goes back faster
# Standard deviation over mean of standing soles' speed: of feet that are planted, and of feet that slide.
_PLANTED, _SLIDE = 0.1, 0.25
_SMOOTHING = 0.01  # seconds, a Gaussian


def stance_speed(heights: np.ndarray, lift: np.ndarray, back: np.ndarray, height: float, step: float) -> float:
    """Metres a second, of K feet at N moments, step seconds apart; 0 where nothing stands.

    heights (N, K): of soles, metres.  lift (N, K): of whole feet, 0 where they are low and 1 where they are high.  back
    (N, K): speeds of soles, metres a second.  height: of the body, metres.

    The median over all soles that are down where that is one speed.  Else the mean over all moments of the mean of
    what stands then, in flight straight from the last one to the next; what is low but not down counts for half, and so
    does what is down but not low: where feet slide, it matters which of them are said to stand.
    """
    pushes = back > _BACK * np.sqrt(np.mean(back**2))
    down = pushes & (heights <= np.quantile(heights, _LOW, axis=0) + _DOWN * height)
    weights = np.mean((down, pushes & (lift < _STANDS)), axis=0)
    some = weights.any(axis=1)
    if not down.any():
        return 0.0
    # A foot that comes down or leaves is slower than one that stands: flight goes on from the mean of a stance.
    moments, sums = np.arange(len(back)), np.stack(((weights * back).sum(axis=1), weights.sum(axis=1)))
    means, total = gaussian_filter1d(sums, _SMOOTHING / step, axis=1, mode="nearest")[:, some]
    sliding = float(np.interp(moments, moments[some], means / total).mean())
    spread = float(back[down].std() / back[down].mean())
    share = float(np.clip((_SLIDE - spread) / (_SLIDE - _PLANTED), 0.0, 1.0))
    return share * float(np.median(back[down])) + (1.0 - share) * sliding
