"""What collisions push a body by, spread over time: it gives way in time, and to one side.

A frame that answers its collisions by itself takes the shortest way out of an object, and from one frame to the next
that may be another one. Means of what frames do keep neither a side nor the size: half of the frames that go left
and half that go right leave the body inside.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

# Seconds: what surroundings and collisions add is smoothed over this.
SMOOTHING = 0.067
# Seconds: a push is smoothed over this, and its size kept for so long before and after.
SPREADING, LASTING = 0.08, 0.12
_TRUNCATE = 3.0
# Seconds: from a push on, before and after, this much moves with it.
SPREAD_REACH = LASTING + _TRUNCATE * SPREADING


def smoothed(values: np.ndarray, dt: float, seconds: float = SMOOTHING, truncate: float = _TRUNCATE) -> np.ndarray:
    """Over time, the last axis, by a Gaussian. dt: seconds a frame.  truncate: standard deviations."""
    return gaussian_filter1d(values, seconds / dt, axis=-1, mode="nearest", truncate=truncate)


def lasting(values: np.ndarray, seconds: float, dt: float) -> np.ndarray:
    """The largest within some seconds before and after, the last axis. dt: seconds a frame."""
    return maximum_filter1d(values, 2 * round(seconds / dt) + 1, axis=-1, mode="nearest")


def spread(pushes: np.ndarray, dt: float, least: float) -> np.ndarray:
    """Pushes (J, 3, F) of joints, metres, made smooth over time.

    dt: seconds a frame.  least: metres, of pushes that are not rounding.
    The direction is the mean of those around a frame, weighted by their squares, so that the side of the deepest frames
    wins; the size is the largest around it, which begins before the push does and ends after. Where directions
    contradict each other it is less, as much as their sum is shorter than that of pushes which agree.
    """
    size = np.linalg.norm(pushes, axis=1, keepdims=True)
    # As far as the size reaches there is a direction, else it would begin and end at once.
    far = _TRUNCATE + LASTING / SPREADING
    sums, total = (smoothed(values, dt, SPREADING, far) for values in (size * pushes, size**2))
    # The direction times the agreement |sums| / total.
    return smoothed(lasting(size, LASTING, dt), dt, SPREADING) * sums / (total + least**2)


def limited(pushes: np.ndarray, most: float) -> np.ndarray:
    """Pushes (J, 3, F) of at most so many metres."""
    size = np.linalg.norm(pushes, axis=1, keepdims=True)
    return pushes * (most / np.maximum(size, most))
