"""An action whose solved curves are written again and again, in place: no keys are made or removed."""

from __future__ import annotations

import hashlib

import bpy
import numpy as np

from . import actions
from .channels import SIZES, action_times, channels_of
from .motion import BoneMotion


def rewrite(scene: bpy.types.Scene, action, slot, motion: BoneMotion, keyed: np.ndarray) -> None:
    """Write a motion into an action that plays already; channels that have other keys get new curves.

    keyed: (B, 3) bool, which of location, rotation and scale of each bone are written.  Whoever plays the action is
    evaluated again, also when a handler calls this: Blender tags it where a curve is updated.
    """
    holder = actions.curve_list(action, slot, create=True)
    times = action_times(scene, motion.frames).astype(np.float32)
    values = [rows.astype(np.float32) for rows in motion.channels()]
    for bone in np.flatnonzero(keyed.any(axis=1)):
        name = motion.rig.names[bone]
        for channel, rows, chosen in zip(channels_of(motion.rig, bone), values, keyed[bone], strict=True):
            if chosen:
                path = actions.bone_path(name, channel)
                for index in range(SIZES[channel]):
                    _write(holder, path, index, name, times, rows[:, bone, index])


def restore(action, slot, source, source_slot, rig, channels: np.ndarray) -> None:
    """Give channels (B, 3) bool of an action the curves that the source has for them, or none."""
    holder = actions.curve_list(action, slot, create=True)
    known = actions.curve_list(source, source_slot) if source is not None else None
    for bone in np.flatnonzero(channels.any(axis=1)):
        for channel, chosen in zip(channels_of(rig, bone), channels[bone], strict=True):
            for index in range(SIZES[channel]) if chosen else ():
                path = actions.bone_path(rig.names[bone], channel)
                curve = known.fcurves.find(path, index=index) if known else None
                there = holder.fcurves.find(path, index=index)
                if curve is not None:
                    actions.copy_curve(holder, curve)
                elif there is not None:
                    holder.fcurves.remove(there)


def _write(holder, path: str, index: int, bone: str, times: np.ndarray, values: np.ndarray) -> None:
    curve = holder.fcurves.find(path, index=index)
    if curve is not None:
        points = _points(curve)
        if len(points) == len(times) and np.array_equal(points[:, 0], times) and not curve.mute:
            if not np.array_equal(points[:, 1], values):
                points[:, 1] = values
                curve.keyframe_points.foreach_set("co", points.ravel())
                curve.update()
            return
        holder.fcurves.remove(curve)
    actions.write_curve(holder, path, index, actions.group_named(holder, bone), times, values)


def keys_digest(action, slot) -> str:
    """Digest of all that moves something in one slot: curves, keys, interpolation, and what silences them."""
    digest = hashlib.blake2b(digest_size=8)
    for curve in actions.all_curves(action, slot) if action is not None else ():
        about = f"{curve.data_path}[{curve.array_index}] {curve.mute} {len(curve.modifiers)} {curve.extrapolation}"
        digest.update(about.encode())
        digest.update(_points(curve).tobytes())
        codes = actions.interpolations(curve)
        digest.update(codes.tobytes())
        if (codes == actions.BEZIER).any():
            digest.update(actions.keys_of(curve).tobytes())
    return digest.hexdigest()


def _points(curve) -> np.ndarray:
    """(K, 2) time and value of each key."""
    points = np.empty((len(curve.keyframe_points), 2), np.float32)
    curve.keyframe_points.foreach_get("co", points.ravel())
    return points
