"""A rig's motion as a new action: which channels need keys, and writing them."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ..solvers.core.errors import OutputError
from ..solvers.skeleton.rig import Rig
from ..solvers.skeleton.smooth_curves import Tangents
from . import actions
from .channels import SIZES, action_times, channels_of, rotation_now
from .curve_extent import extent, varies
from .frames import MET
from .motion import BoneMotion, present_channels, read_curves, source_of
from .motion_changes import SAME, changed_channels, differs, rotations_of, size_of
from .restored import restored_after_error
from .rigs import require_editable
from .sampling import plays_strips

_SAMPLED = 2e-5  # the same for poses that were read, whose rounding adds up along chains


def written_channels(
    context: bpy.types.Context, ob: bpy.types.Object, motion: BoneMotion, source: tuple, original: BoneMotion | None
) -> np.ndarray:
    """(B, 3) bool: which of location, rotation and scale of each bone need keys in a copy of the source action.

    source: action and slot, None and None for NLA strips alone.  original: the motion that the object plays with it:
    what it and the new motion share, and the action's curves tell, is left to those curves.  None: all that the source
    keys or that moved away from the present pose.
    """
    rig = motion.rig
    holder = None if source[0] is None else actions.curve_list(*source)
    has = np.zeros((len(rig.names), 3), bool)
    old = _bone_curves(holder) if holder is not None else {}
    for number, bone in enumerate(rig.names):
        has[number] = [(bone, channel) in old for channel in channels_of(rig, number)]
    present = present_channels(ob, rig)
    place, turn, size = motion.channels()
    turned = differs(rotations_of(rig, turn), rotations_of(rig, rotation_now(rig, present)[None]), SAME)
    moved = differs(place, present["location"], SAME * size_of(rig))
    needed = has | np.stack((moved, turned, differs(size, present["scale"], SAME)), axis=1)
    needed[rig.use_connect, 0] = False  # it has no effect
    if original is not None:
        needed &= changed_channels(original, motion) | ~_told(context.scene, ob, source, original)
    return needed


def moves_outside(
    scene: bpy.types.Scene, source: tuple, rig: Rig, frames: np.ndarray, endless: bool = True, least: float = MET
) -> np.ndarray:
    """(2, B, 3) bool: the channels of each bone whose curves in an action go on before the first and after the last
    frame.

    Keys that differ by rounding alone hold still.

    source: action and slot, None and None for none.  frames: (F,) scene frames.
    endless: whether curves that go on beyond all keys count outside of the scene's range as well.  least: scene frames
    by which curves go on, at least.
    """
    out = np.zeros((2, len(rig.names), 3), bool)
    if source[0] is None:
        return out
    first, last = action_times(scene, frames[[0, -1]])
    least = float(action_times(scene, np.array([least]))[0])
    seen = action_times(scene, np.array([scene.frame_start, scene.frame_end], float))
    channel_of = {
        (rig.names[bone], channel): (bone, column)
        for bone in range(len(rig.names))
        for column, channel in enumerate(channels_of(rig, bone))
    }
    for curve in actions.playing_curves(*source):
        place, ends = channel_of.get(actions.bone_of_path(curve.data_path)), extent(curve)
        if place is None or ends is None:
            continue
        if not endless:
            ends = tuple(end if np.isfinite(end) else bound for end, bound in zip(ends, seen, strict=True))
        sides = ends[0] < first - least, ends[1] > last + least
        if any(sides) and varies(curve, _SAMPLED * (size_of(rig) if place[1] == 0 else 1.0)):
            out[(slice(None), *place)] |= sides
    out[:, rig.use_connect, 0] = False  # it has no effect
    return out


def _told(scene, ob, source, original: BoneMotion) -> np.ndarray:
    """(B, 3) bool: the channels whose motion the action's own curves tell, without constraints and strips."""
    if original.sampled_because is None:
        return np.ones((len(original.rig.names), 3), bool)
    if source[0] is None or plays_strips(ob):
        return np.zeros((len(original.rig.names), 3), bool)
    return ~changed_channels(original, read_curves(scene, ob, *source, original.frames, {}), _SAMPLED)


def write_motion(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    name: str,
    motion: BoneMotion,
    source: tuple | None = None,
    keys: np.ndarray | None = None,
    tangents: Sequence[Tangents] | None = None,
) -> bpy.types.Action:
    """A new action, kept by a fake user, in which bones move as the motion says and all else as in the source action.

    Other curves (of the object, of custom properties, of other slots) are copied as they are.
    source: action and slot; by default what the object plays.
    keys: (F, B, 3) bool, the frames at which location, rotation and scale get keys; a channel without any keeps the
    curves of the source.  By default all frames, and the channels that `written_channels` names.
    tangents: of location, rotation and scale at the keys, a frame; curves between them are cubic. None: straight.
    The source is not touched, and when something fails the new action is removed.
    Raises SceneError for an object that cannot be written, OutputError for a motion that is not a number.
    """
    require_editable(ob)
    source, slot = source or source_of(ob)
    if not np.isfinite(motion.basis).all():
        frame, bone = np.argwhere(~np.isfinite(motion.basis).all(axis=(2, 3)))[0]
        raise OutputError(
            f"Bone '{motion.rig.names[bone]}' has no valid pose at frame {motion.frames[frame]:g}; nothing is written."
        )
    if keys is None:
        needed = written_channels(context, ob, motion, (source, slot), None)
        keys = np.repeat(needed[None], len(motion.frames), axis=0)
    with restored_after_error(ob):
        action, slot = actions.create(ob, name) if source is None else actions.copy(source, slot, name)
        _write_bones(action, slot, motion, keys, action_times(context.scene, motion.frames), tangents)
        action.use_fake_user = True
    return action


def _write_bones(action, slot, motion: BoneMotion, keys: np.ndarray, times: np.ndarray, tangents) -> None:
    """Replace the curves of bones in an action by keys (F, B, 3) at times (F,); tangents: see ``write_motion``."""
    rig = motion.rig
    holder = actions.curve_list(action, slot, create=True)
    old = _bone_curves(holder)
    values = motion.channels()
    for number in np.flatnonzero(keys.any(axis=(0, 2))):
        bone, written = rig.names[number], {}
        curves = []
        for column, channel in enumerate(channels_of(rig, number)):
            chosen = keys[:, number, column]
            if chosen.any():
                rises = None
                if tangents is not None:
                    rises = _handle_rises(motion.frames[chosen], *(side[chosen, number] for side in tangents[column]))
                written[channel] = times[chosen], values[column][chosen, number], rises
                curves += old.get((bone, channel), [])
        _replace(holder, curves, bone, written)


def _handle_rises(frames: np.ndarray, coming: np.ndarray, leaving: np.ndarray) -> np.ndarray:
    """(2, K, n) how far the left and the right handle of keys at frames (K,), a third of the way to the next, lie above
    their key.  coming, leaving: (K, n) a frame."""
    thirds = np.diff(frames)[:, None] / 3.0
    out = np.zeros((2, *coming.shape))
    out[0, 1:], out[1, :-1] = -thirds * coming[1:], thirds * leaving[:-1]
    return out


def channel_sizes(rig: Rig) -> np.ndarray:
    """(B, 3) curves of location, rotation and scale of each bone in its rotation mode."""
    return np.array([[SIZES[channel] for channel in channels_of(rig, bone)] for bone in range(len(rig.names))])


def _bone_curves(holder) -> dict[tuple[str, str], list]:
    """The curves of each bone's transform channels, by bone and channel."""
    found: dict[tuple[str, str], list] = {}
    for curve in holder.fcurves:
        bone = actions.bone_of_path(curve.data_path)
        if bone is not None and bone[1] in SIZES:
            found.setdefault(bone, []).append(curve)
    return found


def _replace(holder, curves: list, bone: str, channels: dict[str, tuple]) -> None:
    """Write a bone's channels in place of the curves they had.

    channels: of each times (K,), rows (K, n) or wider, and the rises of handles, or None for straight curves.
    """
    for curve in curves:
        holder.fcurves.remove(curve)
    group = actions.group_named(holder, bone)
    for channel, (times, rows, rises) in channels.items():
        path = actions.bone_path(bone, channel)
        for index in range(SIZES[channel]):
            curve = actions.write_curve(holder, path, index, group, times, rows[:, index])
            if rises is not None:
                actions.bend(curve, times, rows[:, index], rises[..., index])
