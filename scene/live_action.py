"""An action whose solved curves are written again and again, in place: no keys are made or removed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np

from . import actions
from .channels import SIZES, action_times, channels_of
from .motion import BoneMotion


def rewrite(scene: bpy.types.Scene, action, slot, motion: BoneMotion, keyed: np.ndarray) -> None:
    """Write a motion into an action that plays already; channels that have other keys get new curves.

    keyed: (B, 3) bool, which of location, rotation and scale of each bone are written.

    Whoever plays the action is evaluated again without any other tag.  Measured on 4.2, 4.5, 5.0 and 5.3: what handlers
    of frame_change_pre, frame_change_post and depsgraph_update_post write is evaluated before the frame change or the
    update returns, and that evaluation calls no handler; what a timer writes is evaluated by the next update.
    """
    holder = actions.curve_list(action, slot, create=True)
    times = action_times(scene, motion.frames).astype(np.float32)
    values = [rows.astype(np.float32) for rows in motion.channels()]
    with _keys_put_back_after_error() as changed:
        for bone in np.flatnonzero(keyed.any(axis=1)):
            name = motion.rig.names[bone]
            for channel, rows, chosen in zip(channels_of(motion.rig, bone), values, keyed[bone], strict=True):
                if chosen:
                    path = actions.bone_path(name, channel)
                    for index in range(SIZES[channel]):
                        _write(holder, path, index, name, times, rows[:, bone, index], changed)
        if changed:
            # One tags the action; the handles of all, which linear keys do not heed, would take most of the time.
            changed[-1][0].update()


@contextmanager
def _keys_put_back_after_error() -> Iterator[list[tuple]]:
    """A list of curves whose keys were changed in place, with the times and values (K, 2) that they had before."""
    changed: list[tuple] = []
    try:
        yield changed
    except BaseException:
        for curve, points in changed:
            curve.keyframe_points.foreach_set("co", points.ravel())
        raise


def restore(action, slot, source, source_slot, rig, channels: np.ndarray) -> None:
    """Give channels (B, 3) bool of an action the curves that the source has for them, or none."""
    restore_curves(action, slot, source, source_slot, curve_keys(rig, channels))


def restore_curves(action, slot, source, source_slot, keys: list[tuple[str, int]]) -> None:
    """Give what is animated by path and index the curves that the source has for it, or none."""
    holder = actions.curve_list(action, slot, create=True)
    known = actions.curve_list(source, source_slot) if source is not None else None
    for path, index in keys:
        curve = known.fcurves.find(path, index=index) if known else None
        there = holder.fcurves.find(path, index=index)
        if curve is not None:
            actions.copy_curve(holder, curve)
        elif there is not None:
            holder.fcurves.remove(there)


def curve_keys(rig, channels: np.ndarray) -> list[tuple[str, int]]:
    """Path and index of the curves of channels (B, 3) bool."""
    return [
        (actions.bone_path(rig.names[bone], channel), index)
        for bone in np.flatnonzero(channels.any(axis=1))
        for channel, chosen in zip(channels_of(rig, bone), channels[bone], strict=True)
        for index in (range(SIZES[channel]) if chosen else ())
    ]


def _write(holder, path: str, index: int, bone: str, times: np.ndarray, values: np.ndarray, changed: list) -> None:
    """changed: gets the curve, and its keys before, where they are changed in place and are not updated yet."""
    curve = holder.fcurves.find(path, index=index)
    if curve is not None:
        points = _points(curve)
        if np.array_equal(points[:, 0], times) and _plays_as_written(curve):
            if not np.array_equal(points[:, 1], values):
                changed.append((curve, points))
                curve.keyframe_points.foreach_set("co", np.stack((times, values), axis=1).ravel())
            return
        holder.fcurves.remove(curve)
    actions.write_curve(holder, path, index, actions.group_named(holder, bone), times, values)


def _plays_as_written(curve) -> bool:
    """Whether a curve is linear between its keys and still after them, and nothing is done to it."""
    changed = actions.is_silenced(curve) or len(curve.modifiers) or curve.extrapolation != "CONSTANT"
    return not changed and bool((actions.interpolations(curve) == actions.LINEAR).all())


def keys_digest(action, slot) -> str:
    """Digest of all that moves something in one slot: curves, keys, interpolation, modifiers, and what silences them.

    Reading keys takes all of the time, 50 us for 1,000 linear keys: handles are read where they count.
    """
    digest = hashlib.blake2b(digest_size=8)
    for curve in actions.all_curves(action, slot) if action is not None else ():
        about = curve.data_path, curve.array_index, actions.is_silenced(curve), curve.extrapolation
        digest.update(repr((about, [_content(modifier) for modifier in curve.modifiers])).encode())
        codes = actions.interpolations(curve)
        digest.update(codes.tobytes())
        for name in _counting(codes):
            digest.update(_read(curve, name).tobytes())
    return digest.hexdigest()


def same_keys(curve, other) -> bool:
    """Whether two curves have the same keys and interpolation."""
    if len(curve.keyframe_points) != len(other.keyframe_points):
        return False
    codes = actions.interpolations(curve)
    return np.array_equal(codes, actions.interpolations(other)) and all(
        np.array_equal(_read(curve, name), _read(other, name)) for name in _counting(codes)
    )


def _counting(codes: np.ndarray) -> list[str]:
    """What tells the course of a curve with keys of these interpolations."""
    names = ["co"]
    if (codes == actions.BEZIER).any():
        names += ["handle_left", "handle_right"]
    if (codes > actions.BEZIER).any():
        names += ["easing", "amplitude", "back", "period"]
    return names


def _content(item) -> list[tuple]:
    """The values of a modifier of a curve, but for how it is listed."""
    found = []
    for prop in item.bl_rna.properties:
        if prop.type != "POINTER" and prop.identifier not in ("show_expanded", "active", "name"):
            value = getattr(item, prop.identifier)
            if prop.type == "COLLECTION":
                value = [_content(part) for part in value]
            found.append((prop.identifier, list(value) if getattr(prop, "is_array", False) else value))
    return found


def _points(curve) -> np.ndarray:
    """(K, 2) time and value of each key."""
    return _read(curve, "co").reshape(-1, 2)


def _read(curve, name: str) -> np.ndarray:
    """A property of all keys, flat."""
    kind, size = actions.KEY_PROPERTIES[name]
    out = np.empty(len(curve.keyframe_points) * size, kind)
    curve.keyframe_points.foreach_get(name, out)
    return out
