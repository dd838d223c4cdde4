"""What each control does for the trunk: its own part, again what another does, or a correction of a single place.

A control drives a joint where it turns the carrier there more than the one that this hangs on.  It does again what
another does that poses it, and that does not carry the whole trunk, where that one drives all joints that it drives.
One that poses no other control and moves a bone away from what hangs on it corrects its place.
"""

from __future__ import annotations

import numpy as np

from .control_rig import MAIN, NO_TRUNK, SPINE_FK, TWEAK
from .measured_poses import MeasuredPoses

_MORE = 0.02  # radians by which it turns more
_SHARE = 0.2  # of what a control turns a joint by, that another turns it by that does the same


def trunk_controls(poses: MeasuredPoses, carriers: np.ndarray, parents: np.ndarray, limb: np.ndarray) -> np.ndarray:
    """(C,) int of ``TRUNK``.  parents: (K,) indices among carriers, -1 for roots.  limb: (K,) bool, carriers of limbs
    that have a switch."""
    moves = poses.moves.any(axis=0)
    moved = moves[:, carriers] & ~limb
    drives = np.where(limb, 0.0, _drives(poses, carriers, parents))
    poses_others = moves[:, poses.controls] & moved.any(axis=1)
    np.fill_diagonal(poses_others, False)
    is_whole = moved[:, ~limb].all(axis=1)
    out = np.full(len(poses.controls), NO_TRUNK)
    for control in np.flatnonzero(moved.any(axis=1)):
        others = np.flatnonzero(poses_others[:, control] & ~is_whole)
        again = any(_does_again(drives[[control, other]], moved[[control, other]]) for other in others)
        is_last = not poses_others[control].any()
        parts = moved[control, parents] & (parents >= 0) & ~moved[control] & ~limb
        if again or (is_last and others.size and parts.any()):
            out[control] = TWEAK if is_last else SPINE_FK
        else:
            out[control] = MAIN
    return out


def _does_again(drives: np.ndarray, moved: np.ndarray) -> bool:
    """Whether the second of two controls does what the first does; drives, moved: (2, K)."""
    own, other = drives
    if (own > _MORE).any():
        return bool((other[own > _MORE] > _SHARE * own[own > _MORE]).all())
    return not (moved[0] & ~moved[1]).any()


def _drives(poses: MeasuredPoses, carriers: np.ndarray, parents: np.ndarray) -> np.ndarray:
    """(C, K) radians by which each control turns each carrier more than the one that it hangs on, in some state."""
    before = poses.base[:, None, carriers, :3, :3].astype(float)
    after = poses.posed[:, :, carriers, :3, :3].astype(float)
    before, after = (each / np.linalg.norm(each, axis=-2, keepdims=True) for each in (before, after))
    cosine = 0.5 * ((before * after).sum(axis=(-1, -2)) - 1.0)
    turned = np.arccos(np.clip(cosine, -1.0, 1.0))[:, poses.groups[1]]
    turned = np.where(poses.carries[:, 1][..., carriers], turned, 0.0)
    on = np.where(parents >= 0, turned[..., parents], 0.0)
    return (turned - on).max(axis=0)
