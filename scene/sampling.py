"""Animation read frame by frame, for rigs that curves alone do not describe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import bpy
import numpy as np

from .actions import HAS_SLOTS, bone_of_path, playing_curves
from .channels import SIZES
from .evaluation import evaluated_object
from .frames import frame_kept, step_through
from .playback import value_at
from .rigs import matrices
from .stillness import can_deform, can_move


def reason_to_sample(ob: bpy.types.Object, action, slot) -> str | None:
    """Why the curves of an object's action do not tell its whole motion, or None when they do."""
    data = ob.animation_data
    armature = ob.data.animation_data
    if plays_strips(ob):
        return "NLA strips contribute to it"
    if _is_blended(data):
        return "its action is blended"
    if data is not None and any(not driver.mute for driver in data.drivers):
        return "drivers move it"
    if armature is not None and (armature.action is not None or len(armature.drivers)):
        return "its armature data is animated"
    for bone in ob.pose.bones:
        if any(not constraint.mute for constraint in bone.constraints):
            return f"bone '{bone.name}' has constraints"
    if any(not constraint.mute for constraint in ob.constraints):
        return "the object has constraints"
    if ob.parent is not None and (ob.parent_type != "OBJECT" or can_move(ob.parent) or can_deform(ob.parent)):
        return f"its parent '{ob.parent.name}' may move"
    if ob.rigid_body is not None:
        return "the object is a rigid body"
    return None if action is None else _unusual_curve(playing_curves(action, slot))


def _is_blended(data: bpy.types.AnimData | None) -> bool:
    if data is None or not len(data.nla_tracks):
        return False
    return data.action_influence != 1.0 or data.action_blend_type != "REPLACE"


def plays_strips(ob: bpy.types.Object) -> bool:
    """Whether NLA strips contribute to an object's animation."""
    return bool(playing_strips(ob))


def strip_ranges(ob: bpy.types.ID) -> list[tuple[float, float]]:
    """First and last frame of each NLA strip that contributes to an object's animation."""
    return [(strip.frame_start, strip.frame_end) for strip in playing_strips(ob)]


def strip_curves(ob: bpy.types.Object) -> list:
    """The curves of all NLA strips that contribute to an object's animation."""
    strips, curves = playing_strips(ob), []
    while strips:
        strip = strips.pop(0)
        strips += [] if strip.type != "META" else [part for part in strip.strips if not part.mute]
        if strip.type == "CLIP" and strip.action is not None:
            curves += playing_curves(strip.action, strip.action_slot if HAS_SLOTS else None)
    return curves


def playing_strips(ob: bpy.types.ID) -> list:
    """The NLA strips that contribute to an animation."""
    data = ob.animation_data
    if data is None or not data.use_nla:
        return []
    tracks = [track for track in data.nla_tracks if not track.mute]
    solo = [track for track in tracks if track.is_solo]
    return [strip for track in solo or tracks for strip in track.strips if not strip.mute]


def _unusual_curve(curves) -> str | None:
    """Which curve changes a rule of the rig during the motion."""
    for curve in curves:
        bone = bone_of_path(curve.data_path)
        if bone is not None and bone[1] == "rotation_mode":
            return f"the rotation mode of bone '{bone[0]}' is animated"
        if curve.data_path in {"rotation_mode", "matrix_world"} or curve.data_path.startswith("delta_"):
            return f"the object's '{curve.data_path}' is animated"
        if "constraints[" in curve.data_path:
            return "whether constraints act is animated"
    return None


def sample_frames(
    context: bpy.types.Context, ob: bpy.types.Object, names: tuple[str, ...], frames: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Pose matrices (F, B, 4, 4) in armature space, in the order of names, and the object's world (F, 4, 4).

    The scene goes back to the frame where it was, and the rig to its pose.
    Raises SceneError when the object is hidden, so that the program does not evaluate it.
    """
    order = [ob.pose.bones.find(name) for name in names]
    flat = np.empty(16 * len(ob.pose.bones), np.float32)
    poses = np.empty((len(frames), len(names), 4, 4))
    world = np.empty((len(frames), 4, 4))
    with _kept(context.scene, ob):
        for number, evaluated in enumerate(_evaluated(context, ob, frames)):
            evaluated.pose.bones.foreach_get("matrix", flat)
            poses[number] = matrices(flat)[order]
            world[number] = evaluated.matrix_world
    return poses, world


def sample_paths(
    context: bpy.types.Context, ob: bpy.types.Object, paths: list[str], frames: np.ndarray
) -> dict[str, np.ndarray]:
    """Values (F, n) of properties by data path as they are animated; paths that lead to no numbers are left out.

    The rest as in `sample_frames`.
    """
    paths = [path for path in paths if _numbers(ob, path) is not None]
    rows: dict[str, list] = {path: [] for path in paths}
    with _kept(context.scene, ob):
        for evaluated in _evaluated(context, ob, frames):
            for path in paths:
                rows[path].append(_numbers(evaluated, path))
    return {path: np.array(values) for path, values in rows.items()}


def _numbers(ob: bpy.types.Object, path: str) -> list | None:
    """What a data path leads to, as a list of numbers, or None."""
    try:
        value = ob.path_resolve(path)
    except ValueError:
        return None
    if isinstance(value, str):
        chosen = value_at(ob, path)
        return None if chosen is None else [chosen]
    values = list(value) if hasattr(value, "__len__") else [value]
    return values if all(isinstance(number, (bool, int, float)) for number in values) else None


def _evaluated(context: bpy.types.Context, ob: bpy.types.Object, frames: np.ndarray) -> Iterator[bpy.types.Object]:
    """The evaluated object at each frame; raises SceneError where the program does not evaluate it."""
    for frame, depsgraph in zip(frames, step_through(context, frames), strict=True):
        yield evaluated_object(ob, depsgraph, f" at frame {frame:g}")


@contextmanager
def _kept(scene: bpy.types.Scene, ob: bpy.types.Object) -> Iterator[None]:
    """Puts back the scene's frame, and channel values that a user may have changed without a key."""
    kept = Channels.now(ob)
    try:
        with frame_kept(scene):
            yield
    finally:
        kept.put_back(ob)


@dataclass(frozen=True)
class Channels:
    """Values of all transform channels.  pose: of the bones, flat, by channel.  placed: of the object itself."""

    pose: dict[str, np.ndarray]
    placed: dict[str, tuple[float, ...]]

    @classmethod
    def now(cls, ob: bpy.types.Object) -> Channels:
        """Of an object, and of its bones where it has some."""
        placed = {channel: tuple(getattr(ob, channel)) for channel in SIZES}
        return cls(_read_pose(ob) if ob.pose else {}, placed)

    def put_back(self, ob: bpy.types.Object) -> None:
        """Give them to the object again, where it has others by now."""
        for channel, values in (_read_pose(ob) if self.pose else {}).items():
            if not np.array_equal(values, self.pose[channel]):
                ob.pose.bones.foreach_set(channel, self.pose[channel])
                ob.update_tag(refresh={"DATA"})
        for channel, values in self.placed.items():
            if tuple(getattr(ob, channel)) != values:
                setattr(ob, channel, values)


def _read_pose(ob: bpy.types.Object) -> dict[str, np.ndarray]:
    """All pose channels as they are now, flat."""
    pose = {channel: np.empty(size * len(ob.pose.bones), np.float32) for channel, size in SIZES.items()}
    for channel, values in pose.items():
        ob.pose.bones.foreach_get(channel, values)
    return pose
