"""At which of some frames an action has keys."""

from __future__ import annotations

import bpy
import numpy as np

from ..solvers.skeleton.rig import Rig
from . import actions
from .channels import SIZES, action_times, channels_of, scene_frames

_ON_A_FRAME = 1e-3


def rows_of_keys(scene: bpy.types.Scene, source: tuple, rig: Rig, frames: np.ndarray) -> np.ndarray:
    """(F, B, 3) bool: whether location, rotation and scale of each bone have keys at scene frames (F,).

    A key counts at the frame that it is nearest to.  Channels without keys take those of all others, and the first and
    the last frame always count: what is before and after them would be another pose.
    source: action and slot; all frames for NLA strips alone, None and None, whose keys lie elsewhere.
    """
    out = np.zeros((len(frames), len(rig.names), 3), bool)
    if source[0] is None:
        return ~out
    channel_of = {
        (rig.names[bone], channel): (bone, column)
        for bone in range(len(rig.names))
        for column, channel in enumerate(channels_of(rig, bone))
    }
    times = action_times(scene, frames)
    middles = 0.5 * (times[1:] + times[:-1])
    for curve in actions.playing_curves(*source):
        place = channel_of.get(actions.bone_of_path(curve.data_path))
        if place is not None:
            at = actions.keys_of(curve)[:, 0]
            at = at[(at > times[0] - 0.5) & (at < times[-1] + 0.5)]
            out[np.searchsorted(middles, at), place[0], place[1]] = True
    every = out.any(axis=(1, 2))
    out |= every[:, None, None] & ~out.any(axis=0)
    out[[0, -1]] = True
    return out


def keys_between(scene: bpy.types.Scene, source: tuple, rig: Rig, frames: np.ndarray) -> np.ndarray:
    """Scene frames, rising, of keys of a rig's bones that lie between some scene frames (F,); see `rows_of_keys`."""
    if source[0] is None:
        return np.zeros(0)
    names, times = set(rig.names), action_times(scene, frames)
    curves = [curve for curve in actions.playing_curves(*source) if _is_of(names, curve)]
    at = np.unique(np.concatenate([np.zeros(0), *(actions.keys_of(curve)[:, 0] for curve in curves)]))
    at = at[(at > times[0]) & (at < times[-1])]
    off = np.abs(at[:, None] - times).min(axis=1, initial=np.inf)
    return scene_frames(scene, at[off > _ON_A_FRAME])


def _is_of(names: set[str], curve) -> bool:
    bone = actions.bone_of_path(curve.data_path)
    return bone is not None and bone[0] in names and bone[1] in SIZES
