"""A rig's motion as arrays.

Reading goes through the curves where they tell the whole motion, which is several times faster than stepping
through the frames; `BoneMotion.sampled_because` says why where it does not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import bpy
import numpy as np

from ..solvers.core.errors import InputError, SceneError
from ..solvers.core.types import JointTrack
from ..solvers.skeleton.bone_channels import basis_to_channels, channels_to_basis
from ..solvers.skeleton.kinematics import basis_from_pose, pose_matrices, rotate_bones
from ..solvers.skeleton.rig import Rig, separate
from . import actions
from .animated_range import joined_range, why_outside
from .channels import SIZES, action_times, rotation_now
from .frames import MET
from .movers import movers_of
from .object_motion import object_world
from .rigs import joint_track, read_rig, require_positive_scale, require_uniform_scale
from .sampling import plays_strips, reason_to_sample, sample_frames, strip_ranges


@dataclass(frozen=True)
class BoneMotion:
    """The motion of one rig.

    basis: (F, B, 4, 4) what each bone's own channels make.  object_world: (F, 4, 4).
    fps: rows a second.  frames: (F,) scene frames.
    rotation_start: (B, 4) the rotation channels at the first frame: rotations are written nearest to them.
    scale_signs: (B, 3) of the scale channels there.
    sampled_because: why frames had to be stepped through, or None when the curves describe all.
    """

    rig: Rig
    basis: np.ndarray
    object_world: np.ndarray
    fps: float
    frames: np.ndarray
    rotation_start: np.ndarray
    scale_signs: np.ndarray
    sampled_because: str | None

    @property
    def pose(self) -> np.ndarray:
        """(F, B, 4, 4) armature space."""
        return pose_matrices(self.rig, self.basis)

    def channels(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Location (F, B, 3), rotation (F, B, 4) in each bone's mode and scale (F, B, 3), as they are written.

        Worked out once, so that a thread can do it beforehand; not to be changed.
        """
        return self._channels

    @cached_property
    def _channels(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        found = basis_to_channels(self.rig, self.basis, self.rotation_start, self.scale_signs)
        for part in found:
            part.flags.writeable = False
        return found

    def placed(self, object_world: np.ndarray) -> BoneMotion:
        """The same motion of bones with the object elsewhere, (F, 4, 4)."""
        other = replace(self, object_world=object_world)
        if "_channels" in self.__dict__:  # where `cached_property` keeps what was worked out
            other.__dict__["_channels"] = self._channels
        return other

    def joints(self) -> JointTrack:
        """Bone heads and leaf tails in world space; see `scene.rigs.joint_track`."""
        return joint_track(self.rig, self.pose, self.object_world, self.fps, self.frames)


def read_motion(
    context: bpy.types.Context, ob: bpy.types.Object, frames: np.ndarray, apart: bool = False
) -> BoneMotion:
    """The motion of an armature object at scene frames (F,), subframes allowed.

    It is what can be seen, with what constraints and drivers do.  Channels without a curve keep the value that
    they have now.  apart: of bones that have no parents, see `skeleton.rig.separate`, which tells every pose exactly.
    Raises InputError for no frames, SceneError for a rig or an action that cannot be read.
    """
    frames = np.asarray(frames, float).reshape(-1)
    if not frames.size or not np.isfinite(frames).all():
        raise InputError(f"The frame range of '{ob.name}' is empty; choose at least one frame.")
    action, slot = source_of(ob)
    reason = reason_to_sample(ob, action, slot)
    if apart:
        return _from_frames(context, ob, separate(read_rig(ob)), frames, reason or "its bones are read by themselves")
    if reason is None:
        return read_curves(context.scene, ob, action, slot, frames, {})
    return _from_frames(context, ob, read_rig(ob), frames, reason)


def motion_by_curves(
    scene: bpy.types.Scene, ob: bpy.types.Object, action, slot, frames: np.ndarray, values: dict[tuple[str, int], float]
) -> BoneMotion | None:
    """The motion that an action makes of an object that plays another one, or None where curves do not tell it.

    frames: (F,) scene frames.  values: of channels by path and index, in place of those that the other action has left.
    Neither the scene's frame nor what plays is touched.  Raises as `read_motion`.
    """
    if action is None or reason_to_sample(ob, action, slot) is not None:
        return None
    return read_curves(scene, ob, action, slot, frames, values)


def placed_by_curves(scene: bpy.types.Scene, ob: bpy.types.Object, action, slot, motion: BoneMotion) -> BoneMotion:
    """A motion that `motion_by_curves` has read, with the object as it is now."""
    curves = [curve for curve in actions.playing_curves(action, slot) if actions.bone_of_path(curve.data_path) is None]
    return motion.placed(object_world(ob, curves, action_times(scene, motion.frames)))


def source_of(ob: bpy.types.Object):
    """The action and slot that an object plays, or None and None where NLA strips, or what it hangs on, move it alone.

    Raises SceneError when nothing moves it, or a strip is being tweaked.
    """
    if not actions.plays_action(ob):
        data = ob.animation_data
        has_action = data is not None and data.action is not None
        if plays_strips(ob) or (not has_action and movers_of([ob])):
            return None, None
    return actions.assigned(ob)


def motion_range(scene: bpy.types.Scene, ob: bpy.types.Object) -> tuple[float, float]:
    """First and last scene frame of the motion of an object: of its action, by the manual range where there is one, and
    of the NLA strips that contribute.

    Where it goes on beyond those in the scene's range, by curves that repeat or by what it hangs on, or it has no keys
    of its own, the scene's range is in it too.
    Raises SceneError when nothing moves it, or all is muted.
    """
    action, slot = source_of(ob)
    keyed, untold = strip_ranges(ob), SceneError(f"Nothing moves '{ob.name}'; assign an action in the Action Editor.")
    try:
        keyed += [] if action is None else [actions.frame_range(action, slot)]
    except SceneError as error:
        untold = error
    found = joined_range(scene, keyed, [mover for mover in movers_of([ob]) if not mover.is_keyed])
    if found is None:
        raise untold
    return found


def why_unread(
    scene: bpy.types.Scene, ob: bpy.types.Object, source: tuple, frames: np.ndarray, least: float = MET
) -> tuple[str | None, str | None]:
    """What moves an object, in words, before and after the scene frames that were read, (F,), or None.

    source: action and slot that it plays, None and None for neither.  least: frames by which it does so, at least.
    """
    return why_outside(scene, movers_of([ob], source), float(frames[0]), float(frames[-1]), least)


def frames_per_second(scene: bpy.types.Scene) -> float:
    """Scene frames a second."""
    return scene.render.fps / scene.render.fps_base


def _rows_per_second(scene: bpy.types.Scene, frames: np.ndarray) -> float:
    """Rows a second of a track over frames (F,)."""
    step = float(np.median(np.diff(frames))) if len(frames) > 1 else 1.0
    if step <= 0.0:
        raise InputError(f"Frames must rise; frame {frames[1]:g} follows frame {frames[0]:g}.")
    return frames_per_second(scene) / step


def present_channels(ob: bpy.types.Object, rig: Rig) -> dict[str, np.ndarray]:
    """The values that channels have now, each (B, size)."""
    bones = ob.pose.bones
    order = [bones.find(name) for name in rig.names]
    out = {}
    for channel, size in SIZES.items():
        flat = np.empty(size * len(bones), np.float32)
        bones.foreach_get(channel, flat)
        out[channel] = flat.reshape(-1, size)[order].astype(float)
    return out


def read_curves(scene, ob, action, slot, frames, values) -> BoneMotion:
    """By curves; values: see `motion_by_curves`."""
    rig = read_rig(ob)
    channels = curve_channels(scene, ob, rig, action, slot, frames, values)
    placing = [curve for curve in actions.playing_curves(action, slot) if actions.bone_of_path(curve.data_path) is None]
    basis = channels_to_basis(rig, *channels)
    world, fps = object_world(ob, placing, action_times(scene, frames)), _rows_per_second(scene, frames)
    return BoneMotion(rig, basis, world, fps, frames, channels[1][0], _signs(channels[2][0]), None)


def curve_channels(
    scene: bpy.types.Scene, ob: bpy.types.Object, rig: Rig, action, slot, frames: np.ndarray, values: dict
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The channels, see `BoneMotion.channels`, that an action's curves have at scene frames (F,), as they are keyed.

    values: of channels without a curve, by path and index, in place of those that they have now.
    """
    times = action_times(scene, frames)
    index = {name: number for number, name in enumerate(rig.names)}
    present = present_channels(ob, rig)
    for (path, component), value in values.items():
        bone = actions.bone_of_path(path)
        if bone is not None and bone[0] in index and bone[1] in SIZES:
            present[bone[1]][index[bone[0]], component] = value
    channels = {name: np.repeat(now[None], len(frames), axis=0) for name, now in present.items()}
    for curve in actions.playing_curves(action, slot):
        bone = actions.bone_of_path(curve.data_path)
        if bone is not None and bone[0] in index and bone[1] in SIZES and curve.array_index < SIZES[bone[1]]:
            channels[bone[1]][:, index[bone[0]], curve.array_index] = actions.sample(curve, times)
    return channels["location"], rotation_now(rig, channels), channels["scale"]


def motion_of_channels(rig: Rig, channels: tuple[np.ndarray, np.ndarray, np.ndarray], like: BoneMotion) -> BoneMotion:
    """The motion that channels, see `BoneMotion.channels`, make of a rig's bones, all else as of another motion.

    They are written as they are given.
    """
    location, rotation, scale = channels
    basis = channels_to_basis(rig, location, rotation, scale)
    signs = _signs(scale[0])
    found = replace(
        like, rig=rig, basis=basis, rotation_start=rotation[0], scale_signs=signs, sampled_because=None
    )
    found.__dict__["_channels"] = channels  # where `cached_property` keeps what would be worked out
    return found


def _from_frames(context, ob, rig: Rig, frames, reason) -> BoneMotion:
    """By frames, which were stepped through for a reason."""
    fps = _rows_per_second(context.scene, frames)
    pose, world = sample_frames(context, ob, rig.names, frames)
    present = present_channels(ob, rig)
    start, signs = rotation_now(rig, present), _signs(present["scale"])
    return BoneMotion(rig, basis_from_pose(rig, pose), world, fps, frames, start, signs, reason)


def _signs(scale: np.ndarray) -> np.ndarray:
    """-1 where a scale is negative, else 1."""
    return np.where(scale < 0.0, -1.0, 1.0)


def turn_motion(motion: BoneMotion, turns: np.ndarray, heads: dict[int, np.ndarray] | None = None) -> BoneMotion:
    """The motion with every bone turned by a world-space rotation, (F, B, 3, 3), from where it was.

    heads: bone index -> (F, 3) new world-space head, for bones that are not connected.
    Raises SceneError when the object's scale is not positive and uniform: its bones would change length.
    """
    world = motion.object_world
    require_positive_scale(motion.rig.name, world, motion.frames)
    require_uniform_scale(motion.rig.name, world, motion.frames)
    turn = world[:, None, :3, :3] / np.linalg.norm(world[:, None, :3, :3], axis=-2, keepdims=True)
    local = {
        bone: np.linalg.solve(world[:, :3, :3], (head - world[:, :3, 3])[..., None])[..., 0]
        for bone, head in (heads or {}).items()
    }
    basis = rotate_bones(motion.rig, motion.basis, np.swapaxes(turn, -1, -2) @ turns @ turn, local)
    return replace(motion, basis=basis)
