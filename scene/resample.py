"""An action trimmed, retimed and keyed anew, curve by curve: where no pose is computed, none can be lost."""

from __future__ import annotations

import bpy
import numpy as np

from ..solvers.core.errors import InputError
from . import actions
from .motion import action_times, source_of
from .restored import restored_after_error
from .rigs import require_armature, require_editable
from .sampling import plays_strips, sample_paths, strip_curves


def resample(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    name: str,
    frames: np.ndarray,
    new_frames: np.ndarray,
    assign: bool = False,
) -> bpy.types.Action:
    """A new action that does at new_frames (F,) what the object's animation does at scene frames (F,).

    Every curve that plays gets a key a frame, stepped where all its keys are, else linear; muted curves
    are copied as they are, curves of other slots left out.  Where NLA strips contribute, all properties that
    they animate are read frame by frame.  Constraints are not baked in: they go on working.
    assign: play the action on the object; else it is kept by a fake user.  After an error it is gone.
    Raises SceneError for a rig without motion or that cannot be changed, InputError for no frames.
    """
    require_armature(ob)
    require_editable(ob)
    if not len(frames):
        raise InputError(f"The frame range of '{ob.name}' is empty; choose at least one frame.")
    source, slot = source_of(ob)
    if source is not None:
        actions.require_playing(source, slot)
    with restored_after_error(ob):
        action, slot = actions.create(ob, name) if source is None else actions.copy(source, slot, name)
        actions.keep_only(action, slot)
        if plays_strips(ob):
            _write_played(context, ob, action, slot, frames, new_frames)
        else:
            _rewrite(action, slot, *(action_times(context.scene, moments) for moments in (frames, new_frames)))
        actions.keep(ob, action, slot, assign)
    return action


def only_slot(action: bpy.types.Action):
    """The slot of an action that `resample` made; None before 4.4."""
    return action.slots[0] if actions.HAS_SLOTS else None


def _write_played(context, ob, action, slot, frames: np.ndarray, new_frames: np.ndarray) -> None:
    """Replace the curves of all that the action and NLA strips animate together by the values that result."""
    holder = actions.curve_list(action, slot, create=True)
    own = actions.playing_curves(action, slot)
    groups: dict[str, str] = {}
    for curve in strip_curves(ob) + own:
        groups.setdefault(curve.data_path, curve.group.name if curve.group is not None else "")
    for curve in own:
        holder.fcurves.remove(curve)
    times = action_times(context.scene, new_frames)
    muted = {(curve.data_path, curve.array_index) for curve in holder.fcurves}
    for path, values in sample_paths(context, ob, list(groups), frames).items():
        interpolation = actions.LINEAR if values.dtype.kind == "f" else actions.CONSTANT
        group = actions.group_named(holder, groups[path]) if groups[path] else None
        for index, component in enumerate(values.T):
            if (path, index) not in muted:
                actions.write_curve(holder, path, index, group, times, component, interpolation)


def _rewrite(action, slot, times: np.ndarray, new_times: np.ndarray) -> None:
    """Replace the keys of all curves that play by their values at times (F,), moved to new_times (F,)."""
    holder = actions.curve_list(action, slot)
    for curve in actions.playing_curves(action, slot):
        values = actions.sample(curve, times)
        interpolation = actions.CONSTANT if actions.is_stepped(curve) else actions.LINEAR
        path, index, named = curve.data_path, curve.array_index, curve.group and curve.group.name
        holder.fcurves.remove(curve)  # and with the last one its group: hence the name
        group = actions.group_named(holder, named) if named else None
        actions.write_curve(holder, path, index, group, new_times, values, interpolation)
    if action.use_frame_range:
        action.frame_start, action.frame_end = new_times[0], new_times[-1]
