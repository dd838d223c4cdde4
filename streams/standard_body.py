"""A standard body, on which bones are laid that are sent with rotations only.

Many senders fill the positions with 0 0 0, because most receivers have a skeleton of their own and use the rotations
alone. All joints would fall on one point.

Heights and lengths of limbs as fractions of the stature: R. Drillis and R. Contini, Body Segment Parameters (1966), as
given by D. A. Winter, Biomechanics and Motor Control of Human Movement (4th ed., 2009), figure 4.1. What that figure
does not give (clavicle, joints of the trunk and of the fingers) is placed by eye. The rest pose is the T-pose of a VRM
humanoid, whose rotations are all the identity.
"""

from __future__ import annotations

import functools

import numpy as np

from . import vmc

HEIGHT = 1.7  # metres
NOTHING = 1e-5  # metres; a position nearer to the parent than this was not sent

_MIDDLE = {  # name: (side, up, front), fractions of the stature
    "hips": (0.0, 0.545, 0.0),
    "spine": (0.0, 0.59, 0.0),
    "chest": (0.0, 0.655, 0.0),
    "upperchest": (0.0, 0.735, 0.0),
    "neck": (0.0, 0.835, 0.0),
    "head": (0.0, 0.895, 0.0),
    "jaw": (0.0, 0.885, 0.02),
}
_SIDE = {
    "eye": (0.018, 0.936, 0.045),
    "shoulder": (0.012, 0.81, 0.0),
    "upperarm": (0.1, 0.818, 0.0),
    "lowerarm": (0.286, 0.818, 0.0),
    "hand": (0.432, 0.818, 0.0),
    "upperleg": (0.05, 0.53, 0.0),
    "lowerleg": (0.05, 0.285, 0.0),
    "foot": (0.05, 0.039, 0.0),
    "toes": (0.05, 0.01, 0.08),
    "thumbmetacarpal": (0.442, 0.813, 0.012),
    "thumbproximal": (0.454, 0.81, 0.022),
    "thumbintermediate": (0.47, 0.808, 0.031),
    "thumbdistal": (0.484, 0.807, 0.038),
}
_FINGERS = {"index": 0.014, "middle": 0.002, "ring": -0.009, "little": -0.019}  # front
_FINGER = {"proximal": 0.483, "intermediate": 0.508, "distal": 0.524}  # side


def _rest() -> dict[str, np.ndarray]:
    """Name in lower case to position (3,) in Unity's axes, metres: Y up, right at +X, front at +Z."""
    fingers = {
        f"{finger}{part}": (side, 0.818, front) for finger, front in _FINGERS.items() for part, side in _FINGER.items()
    }
    placed = dict(_MIDDLE)
    for name, (side, up, front) in (_SIDE | fingers).items():
        placed[f"left{name}"] = (-side, up, front)
        placed[f"right{name}"] = (side, up, front)
    return {name: HEIGHT * np.array(position) for name, position in placed.items()}


REST = _rest()
HIPS_HEIGHT = float(REST["hips"][1])


def lay(names: tuple[str, ...], bones: np.ndarray, is_raised: bool) -> np.ndarray:
    """Give the humanoid bones that have no position the one of the standard body; returns which those are, (J,) bool.

    bones: (J, 7) position and rotation relative to the parents, in Unity's axes, changed in place.  is_raised: whether
    the root stands at the height of the hips, so that hips without a position are on it and not above it.
    Where other bones have positions the standard body is brought to their size.
    """
    missing = np.abs(bones[:, :3]).max(axis=1, initial=0.0) < NOTHING
    if not missing.any():
        return missing
    offsets, lengths, is_hips = _offsets(names)
    missing &= np.isfinite(lengths)
    if is_raised:
        missing &= ~is_hips
    measured = ~missing & (lengths > 0.0) & ~is_hips
    size = np.median(np.linalg.norm(bones[measured, :3], axis=1) / lengths[measured]) if measured.any() else 1.0
    bones[missing, :3] = size * offsets[missing]
    return missing


@functools.lru_cache(maxsize=16)
def _offsets(names: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position (J, 3) of each bone from its nearest ancestor among them, in the rest pose, NaN of bones that are not of
    the humanoid; its length (J,); and whether the bone is the hips, (J,)."""
    unknown = np.full(3, np.nan)
    rest = np.array([REST.get(name.lower(), unknown) for name in names] + [np.zeros(3)])
    offsets = rest[:-1] - rest[vmc.hierarchy(names).parents]
    return offsets, np.linalg.norm(offsets, axis=1), np.array([name.lower() == "hips" for name in names], bool)
