"""A trunk on four stumps that step on the spot: feet whose strokes are known."""

import numpy as np

STROKE, DUTY, CYCLE = 0.5, 0.4, 0.5
SPEED = STROKE / (DUTY * CYCLE)
_BOX = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6],
                 [0, 6, 4], [1, 5, 7], [1, 7, 3]])  # fmt: skip
TRIANGLES = np.concatenate([_BOX + 8 * number for number in range(5)])
_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (0, 1)], float)


def stepper(phase, duty=DUTY, offset=0.25):
    """Vertices (F, 40, 3), towards -Y, of phases (F,) in cycles.

    duty: share of the cycle that a stump stands.  offset: in cycles, of each stump after the one before.
    """
    phase = np.asarray(phase, float)
    parts = [np.broadcast_to(_CORNERS * [0.4, 0.8, 0.5] + [0, 0, 1], (len(phase), 8, 3))]
    for number in range(4):
        turn = (phase + number * offset) % 1.0
        stands, back = turn < duty, np.clip((turn - duty) / (1.0 - duty), 0.0, 1.0)
        y = np.where(stands, turn / duty - 0.5, 0.5 - back) * STROKE
        z = np.where(stands, 0.0, 0.3 * np.sin(np.pi * back))
        stump = np.repeat((_CORNERS * [0.1, 0.1, 1.0])[None], len(phase), axis=0)
        stump[..., 2] = np.where(stump[..., 2] > 0.5, 1.0, z[:, None])
        stump[..., 0] += (-0.3, 0.3)[number % 2]
        stump[..., 1] += (-0.6, 0.6)[number // 2] + y[:, None]
        parts.append(stump)
    return np.concatenate(parts, axis=1)
