"""Where a body sits, kneels, lies and leans: contacts of what is neither hand nor foot.

The distance of a pelvis to a thin seat varies by 6 to 15 cm while nobody would say that it moves, so that no one offset
tells whether it rests, as that of a toe does. What tells is that it stays near and slow. Knees and elbows do have an
offset where they rest; without one all shins beside a bar would be contacts. Heads are effectors, as all ends are.
Nothing tells the weight on a seat, but legs tell that there is none: who stands on legs nearly as long as they can be,
and bends over something, is carried by them, however near and slow his pelvis is.
All lengths are for a 1.8 m body and are multiplied by ``scale``.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import binary_closing, binary_opening

from ..core.types import JointTrack
from ..skeleton.hinges import hinges
from ..skeleton.trunk import root_and_trunk
from .clearance import OFFSET_LIMIT
from .contacts import touched
from .leg_reach import Legs

# Number of the rules below, to be raised when they find something else in the same motion.
RULES = 1
# Seconds: what rests for less only passes by, what is faster for less rests on.
LASTS = 0.2
# Times the radius of a trunk: who lies on his side is as far from what he lies on.
THICK = 1.1
# Metres at 1.8 m: a limb bends between bones that are longer.
LIMB_BONE = 0.2
# Share of its length that a leg which stands measures along what a seat pushes with: from there on it carries the body.
# Captured sitters measure 0.67 at most, a man who stands bent over a bar 0.88 and more.
CARRIES = 0.8


def resting_joints(
    track: JointTrack,
    effectors: np.ndarray,
    distance: np.ndarray,
    normal: np.ndarray,
    slow: np.ndarray,
    hidden: np.ndarray,
    legs: Legs,
    radii: np.ndarray,
    scale: float,
) -> np.ndarray:
    """(O, F, J) bool: where the trunk and joints that are no effectors rest on objects.

    effectors: (J,) bool.  distance: (O, F, J) signed, metres.  normal: (O, F, J, 3) of the nearest places.
    slow, hidden: (O, F, J) bool.  legs: all limbs.  radii: (J,) of the capsules around bones, metres.
    scale: body height / 1.8 m.
    The root and the trunk rest on the object that is nearest of those within 16 cm, or within its thickness of a trunk
    that is thicker, that they are slow against, while no leg carries them; knees and elbows where they are as near to
    it as they usually are when they are slow. Hips and shoulders rest where what they hang on does and they are as near
    to anything: a pelvis that is held alone turns.
    """
    trunk, others = body_parts(track, effectors, scale)
    nearest = np.zeros(distance.shape, bool)
    np.put_along_axis(nearest, distance.argmin(axis=0)[None], True, axis=0)
    # The bones of a trunk are those that lead to what hangs on its joints.
    thick = radii[np.isin(track.skeleton.parents, np.flatnonzero(trunk))].max(initial=0.0)
    limit = max(OFFSET_LIMIT * scale, THICK * thick)
    near = trunk & nearest & ~hidden & (distance < limit)
    lasts = np.ones((1, max(round(LASTS * track.fps), 1), 1))
    standing = touched(distance, slow, hidden, effectors, scale).any(axis=0)
    near &= ~binary_closing(carried(track, trunk, effectors, normal, standing, legs), lasts)
    found = (near & slow) | touched(distance, slow, hidden, others, scale)
    found = binary_opening(found, lasts)
    found |= binary_closing(found, lasts) & near
    upper, carrier = hung_joints(track.skeleton.parents, trunk, legs).T
    beside = (nearest & slow & ~hidden & (distance < OFFSET_LIMIT * scale))[:, :, upper]
    beside &= found[:, :, carrier].any(axis=0)
    found[:, :, upper] |= binary_opening(beside, lasts)
    return found


def hung_joints(parents: np.ndarray, trunk: np.ndarray, legs: Legs) -> np.ndarray:
    """(K, 2) the joint that a limb begins at, hip or shoulder, and the joint of the trunk (J,) bool that it hangs on;
    without limbs that hang on none."""
    carrier = legs.upper.copy()
    while (away := (carrier >= 0) & ~np.append(trunk, True)[carrier]).any():
        carrier[away] = parents[carrier[away]]
    return np.column_stack((legs.upper, carrier))[carrier >= 0]


def carried(
    track: JointTrack, trunk: np.ndarray, effectors: np.ndarray, normal: np.ndarray, standing: np.ndarray, legs: Legs
) -> np.ndarray:
    """(O, F, J) bool: where a leg that stands carries the trunk along the normal of an object beside or under it.

    trunk, effectors: (J,) bool.  normal: (O, F, J, 3).  standing: (F, J) bool, effectors that touch anything.
    Across the normal it does not: legs stretched out on the floor, or against the wall at the end of a bed.
    """
    parents, positions = track.skeleton.parents, track.positions
    limb, depth = _limbs(parents, trunk, effectors, legs)
    # Arms hang on the trunk farther from its root than legs do; without that a hand that props a sitter would carry.
    lowest = depth == depth.min(initial=len(parents))
    leg = (positions[:, legs.upper] - positions[:, legs.lower])[:, lowest]
    bones = np.linalg.norm(np.diff(positions[:, [legs.lower, legs.middle, legs.upper]], axis=1), axis=-1)
    leg /= np.median(bones.sum(axis=1), axis=0)[lowest, None]
    stands = (standing[:, None] & limb[lowest]).any(axis=-1)
    out = np.zeros(normal.shape[:-1], bool)
    along = np.einsum("flk,ofjk->ofjl", leg, normal[:, :, trunk])
    out[:, :, trunk] = ((along > CARRIES) & stands[:, None]).any(axis=-1)
    return out


def _limbs(parents, trunk, effectors, legs):
    """(L, J) bool, the effectors that each limb ends in; (L,) how many joints are above what it hangs on."""
    limb, depth = np.zeros((len(legs.upper), len(parents)), bool), np.zeros(len(legs.upper), int)
    for effector in np.flatnonzero(effectors):
        above = [effector]
        while parents[above[-1]] >= 0:
            above.append(parents[above[-1]])
        mine = np.isin(legs.lower, above)
        limb[mine, effector] = True
        held = [k for k, joint in enumerate(above) if trunk[joint]]
        depth[mine] = len(above) - held[0] if held else len(parents)
    return limb, depth


def body_parts(track: JointTrack, effectors: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """(J,) bool each: the root and the trunk; knees and elbows, without effectors (J,).

    What is no body, see ``root_and_trunk``, has neither.
    """
    parents, positions = track.skeleton.parents, track.positions
    lengths = np.median(np.linalg.norm(positions - positions[:, np.maximum(parents, 0)], axis=-1), axis=0)
    root, path = root_and_trunk(parents, lengths, positions[0])
    trunk, bent = np.zeros((2, len(parents)), bool)
    trunk[[*root, *path]] = True
    if root:
        found = hinges(parents, lengths, effectors, path, LIMB_BONE * scale)[:, 0]
        # Of a long clavicle the shoulder is one as well.
        bent[found[~np.isin(found, parents[found])]] = True
    return trunk, bent & ~trunk & ~effectors
