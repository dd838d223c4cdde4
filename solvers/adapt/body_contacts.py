"""Where a body sits, kneels, lies and leans: contacts of what is neither hand nor foot.

The distance of a pelvis to a thin seat varies by 6 to 15 cm while nobody would say that it moves, so that no one offset
tells whether it rests, as that of a toe does. What tells is that it stays near and slow. Knees and elbows do have an
offset where they rest; without one all shins beside a bar would be contacts. Heads are effectors, as all ends are.
All lengths are for a 1.8 m body and are multiplied by ``scale``.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import binary_closing, binary_opening

from ..core.types import JointTrack
from ..skeleton.hinges import hinges
from ..skeleton.trunk import trunk_ends, trunk_path
from .clearance import OFFSET_LIMIT
from .contacts import touched

# Seconds: what rests for less only passes by, what is faster for less rests on.
LASTS = 0.2
# Metres at 1.8 m: a limb bends between bones that are longer.
LIMB_BONE = 0.2
# Share of all bones, by length, that a body has among what belongs to none.
MOST = 0.8


def resting_joints(
    track: JointTrack, effectors: np.ndarray, distance: np.ndarray, slow: np.ndarray, hidden: np.ndarray, scale: float
) -> np.ndarray:
    """(O, F, J) bool: where joints that are no effectors rest on objects.

    effectors: (J,) bool.  distance: (O, F, J) signed, metres.  slow, hidden: (O, F, J) bool.
    scale: body height / 1.8 m.
    The root and the trunk rest on the object that is nearest of those within 16 cm that they are slow against; knees
    and elbows where they are as near to it as they usually are when they are slow.
    """
    trunk, others = body_parts(track, effectors, scale)
    nearest = np.zeros(distance.shape, bool)
    np.put_along_axis(nearest, distance.argmin(axis=0)[None], True, axis=0)
    near = trunk & nearest & ~hidden & (distance < OFFSET_LIMIT * scale)
    lasts = np.ones((1, max(round(LASTS * track.fps), 1), 1))
    found = (near & slow) | touched(distance, slow, hidden, others, scale)
    found = binary_opening(found, lasts)
    return found | (binary_closing(found, lasts) & near)


def body_parts(track: JointTrack, effectors: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """(J,) bool each: the root and the trunk; knees and elbows. Neither has effectors (J,) among them.

    Of several trees, as two hands are, only one that is most of all by length has any, and a chain no more than its
    root: it may be a limb.
    """
    parents, positions = track.skeleton.parents, track.positions
    lengths = np.median(np.linalg.norm(positions - positions[:, np.maximum(parents, 0)], axis=-1), axis=0)
    trunk, bent = np.zeros((2, len(parents)), bool)
    root = np.arange(len(parents))
    while (above := parents[root] >= 0).any():
        root[above] = parents[root[above]]
    each = np.bincount(root, lengths, len(parents))
    if each.max() > MOST * each.sum():
        branches = np.bincount(parents[parents >= 0], minlength=1).max() > 1
        path = trunk_path(parents, trunk_ends(parents, lengths, positions[0])) if branches else []
        trunk[[each.argmax(), *path]] = True
        found = hinges(parents, lengths, effectors, path, LIMB_BONE * scale)[:, 0]
        # Of a long clavicle the shoulder is one as well.
        bent[found[~np.isin(found, parents[found])]] = True
    return trunk & ~effectors, bent & ~trunk & ~effectors
