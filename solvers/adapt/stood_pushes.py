"""What collisions push feet by that stand on a new ground: as a whole, and by the same all the time that they stand.

A swing that gives way to the edge of a stair gives way in time, which spreads into the stances around it: there a foot
would slide off its place and onto it.
"""

from __future__ import annotations

import numpy as np

from ..skeleton.joint_tree import JointTree
from .clearance import smoothstep
from .standing import Standing

# Seconds after a stance, and before it, over which the joints of a foot come to give way each by itself.
_LEAVING = 0.15


def stood_pushes(
    standing: Standing, tree: JointTree, pushes: np.ndarray, spread: np.ndarray, dt: float
) -> np.ndarray:
    """Pushes as they are followed, (J, 3, F), tree order.

    pushes: (J, 3, F) metres, of each frame by itself, tree order.  spread: the same, spread over time.  dt: seconds a
    frame.  Of joints that stand the mean over their stance and foot, the larger counting the more, which goes from
    stance to stance like the way of the foot itself; of all others what is spread.
    """
    stances = standing.stances.take(np.flatnonzero(standing.found))
    if not len(stances):
        return spread
    rows = np.arange(pushes.shape[-1])
    beyond = np.maximum(stances.first[:, None] - rows, rows - stances.last[:, None])
    near = 1.0 - smoothstep(beyond * dt / _LEAVING)
    stands = (beyond <= 0).astype(float)
    out = spread.copy()
    feet, number = np.unique(stances.joints[:, tree.order], axis=0, return_inverse=True)
    for foot, joints in enumerate(feet):
        mine = number.reshape(-1) == foot
        size = np.linalg.norm(pushes[joints], axis=1, keepdims=True)
        sums, total = ((part @ stands[mine].T).sum(axis=0) for part in (size * pushes[joints], size))
        means = sums / np.maximum(total, 1e-12)
        out[joints] += near[mine].max(axis=0) * (means @ stances.weights[mine] - spread[joints])
    return out
