"""What keeps a body upright when the ground under it is tilted.

Carried rigidly, a body that walks on a floor topples with it. Seen from far away a tilted surface has only moved up or
down and turned about the vertical: what is far from surfaces follows its heading, the twist about gravity of the
descriptors' turns (swing-twist decomposition). What is close, a foot on a slope or a body that lies on a ramp, turns
with all of it.
"""

from __future__ import annotations

import numpy as np

from .clearance import smoothstep
from .pushes import smoothed

# Metres at a 1.8 m body: what is nearer than the first turns with its surface, what is farther than the second keeps
# its tilt.
CLOSE, FAR = 0.15, 0.6
# Seconds over which that changes.
SMOOTHING = 0.15
# Cosines of a tilt: beyond the first a heading is less and less defined, beyond the second the turn is not split.
_STEEP, _UPSIDE_DOWN = -0.5, -0.9


def headings(turns: np.ndarray, gravity: np.ndarray) -> np.ndarray:
    """The twist about gravity (..., 3, 3) of rotations (..., 3, 3); near upside down, where there is none, they
    themselves.

    gravity: (3,) unit vector, world.
    """
    axis = -np.asarray(gravity, float)
    cross = np.cross(np.eye(3), axis)
    # With q = (w, v) and c = v . axis, the matrix has trace(K^T R) = 4 w c and trace((I - a a^T) R) = 2 (w^2 - c^2).
    level = np.eye(3) - np.outer(axis, axis)
    sine = np.einsum("ab,...ba->...", cross, turns)
    cosine = np.einsum("ab,...ab->...", level, turns)
    length = np.maximum(np.hypot(sine, cosine), 1e-9)
    sine, cosine = sine / length, cosine / length
    twist = np.outer(axis, axis) + cosine[..., None, None] * level + sine[..., None, None] * cross.T
    upright = np.einsum("a,...ab,b->...", axis, turns, axis)
    kept = smoothstep((upright - _UPSIDE_DOWN) / (_STEEP - _UPSIDE_DOWN))[..., None, None]
    return turns + kept * (twist - turns)


def closeness(distance: np.ndarray, scale: float, dt: float) -> np.ndarray:
    """How much each joint belongs to the surface that it is near, (F, J) in [0, 1], smooth over time.

    distance: (F, J) metres to the nearest object at bind, inf beyond reach.  scale: body height / 1.8 m.  dt: seconds.
    """
    near = smoothstep((FAR * scale - distance) / ((FAR - CLOSE) * scale))
    return smoothed(near.T, dt, SMOOTHING).T
