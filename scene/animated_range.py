"""The scene frames over which something moves, and whether it goes on outside of some."""

from __future__ import annotations

from collections.abc import Iterable

import bpy
import numpy as np

from . import actions
from .cache_range import cache_ranges
from .channels import scene_frames
from .frames import MET
from .movers import Mover, movers_of, owners_of
from .sampling import strip_ranges


def animated_range(scene: bpy.types.Scene, objects: Iterable[bpy.types.Object]) -> tuple[float, float] | None:
    """First and last scene frame of all that animates objects, their shapes and what carries or deforms them.

    Where something goes on beyond all keys, see ``joined_range``.  None where nothing moves them.
    """
    objects = list(objects)
    return joined_range(scene, _own_ranges(objects), _endless(objects))


def range_to_read(scene: bpy.types.Scene, objects: Iterable[bpy.types.Object]) -> tuple[float, float, str | None]:
    """``animated_range``, else the scene's range, and in words why the scene's range is in it; None where it is not."""
    objects = list(objects)
    found, movers = animated_range(scene, objects), _endless(objects)
    if found is None:
        return float(scene.frame_start), float(scene.frame_end), "those of the scene, as nothing is known to move it"
    own = joined_range(scene, _own_ranges(objects), [])
    if found == own:
        return *found, None
    goes_on = movers if own is None else [mover for mover in movers if _goes_on(scene, mover, *own)]
    return *found, f"with those of the scene, as {goes_on[0].what}"


def _own_ranges(objects: list[bpy.types.Object]) -> list[tuple[float, float]]:
    """First and last action time of keys, strips and cache files of all that animates objects."""
    return [pair for owner in owners_of(objects) for pair in (*_keyed_ranges(owner), *cache_ranges(owner))]


def _endless(objects: list[bpy.types.Object]) -> list[Mover]:
    return [mover for mover in movers_of(objects) if mover.is_endless]


def joined_range(
    scene: bpy.types.Scene, keyed: list[tuple[float, float]], movers: list[Mover]
) -> tuple[float, float] | None:
    """First and last scene frame of ranges of action times.

    Where movers go on in the scene's range outside of those, or there are none, the scene's range is in it too.
    None where there is neither.
    """
    whole = float(scene.frame_start), float(scene.frame_end)
    if not keyed:
        return whole if movers else None
    frames = scene_frames(scene, np.array(keyed, float))
    first, last = float(frames[:, 0].min()), float(frames[:, 1].max())
    if any(_goes_on(scene, mover, first, last) for mover in movers):
        first, last = min(first, whole[0]), max(last, whole[1])
    return first, last


def _goes_on(scene: bpy.types.Scene, mover: Mover, first: float, last: float) -> bool:
    """Whether something moves at the scene's frames before or after some of them."""
    start, end = scene_frames(scene, np.array([mover.start, mover.end]))
    is_before = max(start, scene.frame_start) < min(end, first) - MET
    return is_before or min(end, scene.frame_end) > max(start, last) + MET


def why_outside(
    scene: bpy.types.Scene, movers: list[Mover], first: float, last: float, least: float = MET
) -> tuple[str | None, str | None]:
    """What moves, in words, before and after some scene frames, in the scene's range or not; None where nothing does.

    least: frames by which it does so, at least.
    """
    before = after = None
    for mover in movers:
        start, end = scene_frames(scene, np.array([mover.start, mover.end]))
        before = before or (mover.what if start < first - least else None)
        after = after or (mover.what if end > last + least else None)
    return before, after


def _keyed_ranges(owner: bpy.types.ID) -> list[tuple[float, float]]:
    """First and last action time of an ID's keys and strips."""
    if getattr(owner, "animation_data", None) is None:
        return []
    ranges = strip_ranges(owner)
    if actions.plays_action(owner) and not owner.animation_data.use_tweak_mode:
        action, slot = actions.assigned(owner)
        if actions.keyed_curves(action, slot):
            ranges.append(actions.frame_range(action, slot))
    return ranges
