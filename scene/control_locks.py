"""Locks of channels that are keyed or were free: what they keep from being written."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from . import actions
from .channels import SIZES
from .control_candidates import unlocked
from .sampling import strip_curves

_STILL = 1e-6


def partly_locked(ob: bpy.types.Object, action, slot) -> dict[str, tuple[str, ...]]:
    """Bones of which some channels move by keys though they are locked, with "location", "rotation" or both.

    Keys that hold a channel where it is do not count: keying sets key locked channels too.
    """
    found: dict[str, set[str]] = {}
    for curve in [*(actions.playing_curves(action, slot) if action is not None else ()), *strip_curves(ob)]:
        channel = actions.bone_of_path(curve.data_path)
        bone = ob.pose.bones.get(channel[0]) if channel and channel[1] in SIZES and channel[1] != "scale" else None
        if bone is None or not _is_locked(bone, channel[1], curve.array_index):
            continue
        if np.ptp([key.co[1] for key in curve.keyframe_points] or [0.0]) > _STILL:
            found.setdefault(bone.name, set()).add(channel[1].partition("_")[0])
    return {name: tuple(sorted(ways)) for name, ways in found.items()}


def locks_since(ob: bpy.types.Object, names: Sequence[str], free: np.ndarray) -> tuple[str, ...]:
    """Names of those of some bones (C,) that have channels locked which were free (C, 6)."""
    newly = (free & ~unlocked(ob, names)).any(axis=1)
    return tuple(name for name, is_one in zip(names, newly, strict=True) if is_one)


def _is_locked(bone: bpy.types.PoseBone, channel: str, index: int) -> bool:
    if channel == "location":
        return not bone.bone.use_connect and bone.lock_location[index]
    return bone.lock_rotation[index] if channel == "rotation_euler" else all(bone.lock_rotation)
