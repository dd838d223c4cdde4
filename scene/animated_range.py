"""The scene frames over which something is animated."""

from __future__ import annotations

from collections.abc import Iterable

import bpy
import numpy as np

from . import actions
from .channels import scene_frames
from .sampling import plays_strips, strip_ranges


def animated_range(scene: bpy.types.Scene, objects: Iterable[bpy.types.Object]) -> tuple[float, float] | None:
    """First and last scene frame of all that animates objects, their shapes and what carries or deforms them.

    None where curves and strips tell nothing.
    """
    ends = [pair for owner in _owners(objects) for pair in _ranges(owner)]
    if not ends:
        return None
    frames = scene_frames(scene, np.array(ends, float))
    return float(frames[:, 0].min()), float(frames[:, 1].max())


def _owners(objects: Iterable[bpy.types.Object]) -> list[bpy.types.ID]:
    """The objects, their data and shape keys, and the same of their parents and of what their modifiers name."""
    found, waiting = {}, list(objects)
    while waiting:
        ob = waiting.pop()
        if ob is None or ob in found:
            continue
        found[ob] = None
        found |= dict.fromkeys(filter(None, (ob.data, getattr(ob.data, "shape_keys", None))))
        waiting.append(ob.parent)
        waiting += [getattr(modifier, "object", None) for modifier in ob.modifiers]
    return list(found)


def _ranges(owner: bpy.types.ID) -> list[tuple[float, float]]:
    data = owner.animation_data
    if data is None:
        return []
    ranges = []
    if actions.plays_action(owner):
        action, slot = actions.assigned(owner)
        if actions.playing_curves(action, slot):
            ranges.append(actions.frame_range(action, slot))
    return ranges + (strip_ranges(owner) if plays_strips(owner) else [])
