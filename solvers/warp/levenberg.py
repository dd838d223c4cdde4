"""When a step of the warp is kept, how it is damped and when it is the last (Levenberg 1944, Marquardt 1963).

Numbers of a single frame, or (F,) of a batch, whose frames each go their own way.
"""

from __future__ import annotations

import numpy as np

# Metres at a 1.8 m body: below this step all second-order terms are used; before, they may overshoot.
CLOSE = 0.03
# A step this small is followed by an error far smaller still, since convergence is quadratic.
TOLERANCE = 1e-4
STUCK = 1e-7
MAX_ITERATIONS = 40
FIRST_DAMPING, LEAST_DAMPING = 1e-3, 1e-7


def is_lower(trial: np.ndarray, energy: np.ndarray, scale: float) -> np.ndarray:
    """Whether a step is kept: rounding of the sum must not reject the last, tiny one."""
    return trial <= energy * (1 + 1e-12) + 1e-18 * scale**2


def is_done(moved: np.ndarray, better: np.ndarray, scale: float) -> np.ndarray:
    """Whether a step was the last. moved: the largest of a joint, metres.

    A step that was taken back tells nothing, unless damping has left nothing of it.
    """
    return moved < np.where(better, TOLERANCE, STUCK) * scale


def next_damping(damping: np.ndarray, better: np.ndarray) -> np.ndarray:
    """Less after a step that was kept, more after one that was not."""
    damping = np.where(better, 0.1 * damping, np.maximum(10 * damping, FIRST_DAMPING))
    return np.where(damping < LEAST_DAMPING, 0.0, damping)


def is_close(close: np.ndarray, moved: np.ndarray, better: np.ndarray, scale: float) -> np.ndarray:
    """Whether the next step takes all second-order terms."""
    return better & (close | (moved < CLOSE * scale))
