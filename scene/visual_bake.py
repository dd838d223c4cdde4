"""A new action of what constraints and drivers make of a rig that has no keys of its own."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np

from ..solvers.core.errors import SceneError
from . import actions
from .channels import action_times
from .interference import acting_constraints, switch_off
from .motion import read_motion
from .motion_writing import write_motion, written_channels
from .movers import movers_of
from .resample import only_slot
from .restored import restored_after_error
from .sampling import plays_strips


def has_own_motion(ob: bpy.types.Object) -> bool:
    """Whether an action or strips of its own move an object, as far as curves that play tell."""
    if plays_strips(ob):
        return True
    return actions.plays_action(ob) and bool(actions.playing_curves(*actions.assigned(ob)))


def bake_seen(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    name: str,
    frames: np.ndarray,
    new_frames: np.ndarray,
    assign: bool = False,
) -> tuple[bpy.types.Action, list[str]]:
    """A new action whose keys at new_frames (F,) pose the bones as they are seen at scene frames (F,).

    Constraints, which would act on top of the keys, have their influence keyed to zero in it: "bone: constraint" of
    each is returned as well.  What moves the object as a whole is not written.
    assign: play the action on the object; else it is kept by a fake user.  After an error it is gone.
    Raises SceneError where the bones do not move, and as ``motion.read_motion`` and ``motion_writing.write_motion``.
    """
    motion = read_motion(context, ob, frames)
    if not written_channels(context, ob, motion, (None, None), None).any():
        what = dict.fromkeys(mover.what for mover in movers_of([ob]))
        raise SceneError(
            f"The bones of '{ob.name}' do not move by themselves, so that there is nothing to bake "
            f"({', '.join(what)}); bake what carries it."
        )
    with restored_after_error(ob):
        action = write_motion(context, ob, name, replace(motion, frames=new_frames), source=(None, None))
        slot = only_slot(action)
        silenced = acting_constraints(ob, limits_heeded=False)
        switch_off(action, slot, silenced, float(action_times(context.scene, new_frames[:1])[0]))
        if assign:
            actions.assign(ob, action, slot)
        action.use_fake_user = not assign
    return action, [f"{bone.name}: {constraint.name}" for bone, constraint in silenced]
