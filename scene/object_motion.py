"""World matrices of objects over time, as far as plain curves tell them."""

from __future__ import annotations

from functools import reduce

import bpy
import numpy as np

from ..solvers.skeleton.bone_channels import channels_to_basis
from ..solvers.skeleton.rig import Rig
from . import actions
from .channels import DELTAS, SIZES, action_times, rotation_now
from .sampling import strip_curves
from .stillness import moved_by_scripts

# Beginnings of data paths that move an object, or switch it off, without being its channels.
_BEYOND_CHANNELS = ("rotation_mode", "hide_viewport", "matrix_", "constraints[")


def worlds_by_curves(scene: bpy.types.Scene, ob: bpy.types.Object, frames: np.ndarray) -> np.ndarray | None:
    """World matrices (F, 4, 4) of an object at scene frames (F,), from its curves and those of its parents.

    None where only stepping through the frames tells: constraints, drivers or NLA strips that place it, physics,
    parents of another kind than objects, scripts that act on frame changes.
    """
    links = _links(scene, ob, frames)
    return None if links is None else reduce(np.matmul, links)


def sizes_by_curves(scene: bpy.types.Scene, ob: bpy.types.Object, frames: np.ndarray) -> np.ndarray:
    """(F, 4, 4) sizes of what each element of ``worlds_by_curves`` adds up from, which is what it is rounded by.

    They are larger than the elements where a parent inverse takes back what a parent far away does.
    """
    return reduce(np.matmul, map(np.abs, _links(scene, ob, frames)))


def _links(scene, ob, frames: np.ndarray) -> list[np.ndarray] | None:
    """The matrices (F, 4, 4) or (4, 4) whose product is the object's world matrix, or None: `worlds_by_curves`."""
    times = action_times(scene, frames)
    links: list[np.ndarray] = []
    while ob is not None:
        if not _told_by_curves(ob):
            return None
        curves = actions.playing_curves(*actions.assigned(ob)) if actions.plays_action(ob) else []
        links.insert(0, _object_basis(ob, curves, times))
        if ob.parent is not None:
            links.insert(0, np.array(ob.matrix_parent_inverse, float))
        ob = ob.parent
    return links


def _told_by_curves(ob: bpy.types.Object) -> bool:
    """Whether curves of its own action alone move an object against its parent."""
    if any(not constraint.mute for constraint in ob.constraints) or ob.rigid_body is not None or moved_by_scripts():
        return False
    if ob.parent is not None and (ob.parent_type != "OBJECT" or carries_along_path(ob.parent)):
        return False
    data = ob.animation_data
    if data is None:
        return True
    if data.use_tweak_mode or (len(data.nla_tracks) and not _plays_as_it_is(data)):
        return False
    others = [*strip_curves(ob), *(driver for driver in data.drivers if not driver.mute)]
    if any(_places(other.data_path) for other in others):
        return False
    curves = actions.playing_curves(*actions.assigned(ob)) if actions.plays_action(ob) else []
    return not any(curve.data_path.startswith(_BEYOND_CHANNELS) for curve in curves)


def _places(path: str) -> bool:
    """Whether an object's property at a data path has to do with where it is."""
    return path in SIZES or path in DELTAS or path.startswith(_BEYOND_CHANNELS)


def _plays_as_it_is(data: bpy.types.AnimData) -> bool:
    """Whether an action beside NLA tracks is played without blending, and at all times."""
    replaces = data.action_influence == 1.0 and data.action_blend_type == "REPLACE"
    return replaces and data.action_extrapolation != "NOTHING"


def carries_along_path(parent: bpy.types.Object) -> bool:
    """Whether children of an object ride along its curve, which has no matrix of its own."""
    return parent.type == "CURVE" and parent.data.use_path


def object_world(ob: bpy.types.Object, curves: list, times: np.ndarray) -> np.ndarray:
    """World matrices (F, 4, 4) of an object whose own curves move it and whose parents stand still."""
    own = _object_basis(ob, curves, times)
    return _still_world(ob.parent) @ np.array(ob.matrix_parent_inverse, float) @ own if ob.parent else own


def _still_world(ob: bpy.types.Object) -> np.ndarray:
    """World matrix (4, 4) of an object that stands still, up to date whether it is evaluated or not."""
    out = np.array(ob.matrix_basis, float)
    while ob.parent is not None:
        out = np.array(ob.parent.matrix_basis, float) @ np.array(ob.matrix_parent_inverse, float) @ out
        ob = ob.parent
    return out


def _object_basis(ob: bpy.types.Object, curves: list, times: np.ndarray) -> np.ndarray:
    """The object's own transform (F, 4, 4), delta transforms included."""
    values = {name: np.array(getattr(ob, name)[:], float) for name in (*SIZES, *DELTAS)}
    moving = [curve for curve in curves if curve.data_path in values]
    if not moving:
        return np.repeat(np.array(ob.matrix_basis, float)[None], len(times), axis=0)
    values = {name: np.tile(value, (len(times), 1, 1)) for name, value in values.items()}
    for curve in moving:
        channel = values[curve.data_path]
        if curve.array_index < channel.shape[-1]:
            channel[:, 0, curve.array_index] = actions.sample(curve, times)
    delta = {DELTAS[name]: values[name] for name in DELTAS}
    delta["rotation_axis_angle"] = np.zeros((len(times), 1, 4))  # there is no such channel
    single = single_bone(ob)
    nowhere = np.zeros((len(times), 1, 3))
    turn = channels_to_basis(single, nowhere, rotation_now(single, values), values["scale"] * delta["scale"])
    extra = channels_to_basis(single, nowhere, rotation_now(single, delta), nowhere + 1.0)
    out = (extra @ turn)[:, 0]
    out[:, :3, 3] = (values["location"] + delta["location"])[:, 0]
    return out


def single_bone(ob: bpy.types.Object) -> Rig:
    """The object as a rig of one bone at the origin, so that its channels are read by the same rules."""
    one = np.ones(1, bool)
    return Rig(
        names=(ob.name,), parents=np.array([-1]), rest=np.eye(4)[None], lengths=np.ones(1),
        use_connect=~one, inherit_rotation=one, inherit_scale=("FULL",), use_local_location=one,
        rotation_modes=(ob.rotation_mode,), name=ob.name,
    )  # fmt: skip
