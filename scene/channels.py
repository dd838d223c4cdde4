"""Transform channels of objects and pose bones, and the times at which their curves are read."""

from __future__ import annotations

import bpy
import numpy as np

from ..solvers.skeleton.rig import Rig

SIZES = {"location": 3, "rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4, "scale": 3}
# Delta channels of objects, and what each adds to.
DELTAS = {
    "delta_location": "location", "delta_rotation_euler": "rotation_euler",
    "delta_rotation_quaternion": "rotation_quaternion", "delta_scale": "scale",
}  # fmt: skip
_ROTATION_CHANNELS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


def action_times(scene: bpy.types.Scene, frames: np.ndarray) -> np.ndarray:
    """Times at which curves are evaluated at scene frames (F,): they differ where the scene remaps time."""
    stretch = np.float32(scene.render.frame_map_old) / np.float32(scene.render.frame_map_new)
    return (np.asarray(frames, np.float32) * stretch).astype(float)  # in single precision, as the program does it


def scene_frames(scene: bpy.types.Scene, times: np.ndarray) -> np.ndarray:
    """Scene frames at which curves are evaluated at given times (F,)."""
    return times * (scene.render.frame_map_new / scene.render.frame_map_old)


def rotation_channel(mode: str) -> str:
    """The channel that a rotation mode uses."""
    return _ROTATION_CHANNELS.get(mode, "rotation_euler")


def rotation_now(rig: Rig, channels: dict[str, np.ndarray]) -> np.ndarray:
    """Of channels (..., B, size) the one (..., B, 4) that each bone's rotation mode uses."""
    out = np.zeros((*channels["location"].shape[:-1], 4))
    for bone, mode in enumerate(rig.rotation_modes):
        channel = rotation_channel(mode)
        out[..., bone, : SIZES[channel]] = channels[channel][..., bone, :]
    return out


def channels_of(rig: Rig, bone: int) -> tuple[str, str, str]:
    """The names of a bone's channels that count in its rotation mode."""
    return "location", rotation_channel(rig.rotation_modes[bone]), "scale"
