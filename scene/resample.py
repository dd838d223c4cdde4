"""An action trimmed, retimed and keyed anew, curve by curve: where no pose is computed, none can be lost."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np

from ..solvers.errors import InputError, MotionLoomError
from . import actions
from .motion import action_times, read_motion, source_of, write_motion
from .rigs import require_armature, require_editable
from .sampling import plays_strips


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
    are copied as they are, curves of other slots left out.  Where NLA strips contribute, the channels of the
    bones are read frame by frame instead, before constraints, so that those go on working.
    assign: play the action on the object; else it is kept by a fake user.  After an error it is gone.
    Raises SceneError for a rig without motion or that cannot be changed, InputError for no frames.
    """
    require_armature(ob)
    require_editable(ob)
    if not len(frames):
        raise InputError(f"The frame range of '{ob.name}' is empty; choose at least one frame.")
    if plays_strips(ob):
        motion = read_motion(context, ob, frames, visual=False)
        return write_motion(context, ob, name, replace(motion, frames=new_frames), assign=assign)
    source, slot = source_of(ob)
    actions.frame_range(source, slot)  # refuses an action that moves nothing
    action, slot = actions.copy(source, slot, name)
    try:
        actions.keep_only(action, slot)
        _rewrite(action, slot, *(action_times(context.scene, moments) for moments in (frames, new_frames)))
        actions.keep(ob, action, slot, assign)
    except (MotionLoomError, RuntimeError):
        bpy.data.actions.remove(action)
        raise
    return action


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
