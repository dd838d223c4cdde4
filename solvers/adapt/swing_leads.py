"""Feet that swing lead the way up and trail the way down.

A leg that swings onto a higher tread is shorter than on the flat, so that its knee comes up as far as the foot does and
in less time. A little ahead of its way the foot takes the hip along less far: the knee bends less, and later.
"""

from __future__ import annotations

import numpy as np

from .standing import Standing

# Metres ahead, half way, for each metre that a swing goes higher than at bind; and at most so many at 1.8 m.
_LEAD, _MOST = 0.2, 0.05


def swing_leads(standing: Standing, now: np.ndarray, rows: slice, gravity: np.ndarray, scale: float) -> np.ndarray:
    """Displacements (f, J, 3) of joints at some frames, metres.

    now: (S, M, 3) where the feet stand now, S = 1 or F.  gravity: (3,) unit vector.  scale: body height / 1.8 m.
    """
    stances, pair = standing.stances, standing.steps(gravity)
    now = now if len(now) == 1 else now[rows]
    height = (now - standing.origins) @ -gravity
    size = np.clip(_LEAD * (height[:, pair + 1] - height[:, pair]), -_MOST * scale, _MOST * scale)
    ahead = standing.origins[pair + 1] - standing.origins[pair]
    ahead = ahead - (ahead @ gravity)[:, None] * gravity
    length = np.linalg.norm(ahead, axis=1, keepdims=True)
    ahead = np.divide(ahead, length, out=np.zeros_like(ahead), where=length > 1e-6 * scale)
    weights = stances.weights[:, rows]
    bump = 4.0 * (weights[pair] * weights[pair + 1]).T * size
    joints = stances.joints[pair].astype(float)
    return np.stack([(bump * ahead[:, k]) @ joints for k in range(3)], axis=-1)
