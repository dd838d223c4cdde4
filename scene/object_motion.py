"""World matrices of objects over time, as far as plain curves tell them."""

from __future__ import annotations

import bpy
import numpy as np

from ..solvers.kinematics import Rig, channels_to_basis
from . import actions
from .channels import SIZES, action_times, rotation_now
from .stillness import can_deform, can_move, moved_by_scripts


def worlds_by_curves(scene: bpy.types.Scene, ob: bpy.types.Object, frames: np.ndarray) -> np.ndarray | None:
    """World matrices (F, 4, 4) of an object at scene frames (F,), or (1, 4, 4) of one that stands still.

    None where only stepping through the frames tells: constraints, drivers, NLA strips, physics, parents that deform.
    """
    if not can_move(ob):
        return _still_world(ob)[None]
    times = action_times(scene, frames)
    world = np.repeat(np.eye(4)[None], len(frames), axis=0)
    while ob is not None:
        if not _told_by_curves(ob):
            return None
        curves = actions.playing_curves(*actions.assigned(ob)) if actions.plays_action(ob) else []
        world = _object_basis(ob, curves, times) @ world
        if ob.parent is not None:
            world = np.array(ob.matrix_parent_inverse, float) @ world
        ob = ob.parent
    return world


def _told_by_curves(ob: bpy.types.Object) -> bool:
    """Whether curves of its own action alone move an object against its parent."""
    data = ob.animation_data
    if any(not constraint.mute for constraint in ob.constraints) or ob.rigid_body is not None or moved_by_scripts():
        return False
    if ob.parent is not None and (ob.parent_type != "OBJECT" or can_deform(ob.parent)):
        return False
    if data is None:
        return True
    if len(data.nla_tracks) or data.use_tweak_mode or any(not driver.mute for driver in data.drivers):
        return False
    if data.action is None:
        return True
    return actions.plays_action(ob) and not any(
        curve.data_path in ("rotation_mode", "hide_viewport") or curve.data_path.startswith(("delta_", "matrix_"))
        for curve in actions.playing_curves(*actions.assigned(ob))
    )


def object_world(ob: bpy.types.Object, curves: list, times: np.ndarray) -> np.ndarray:
    """World matrices (F, 4, 4) of an object whose own curves move it and whose parents stand still."""
    own = _object_basis(ob, curves, times)
    return _still_world(ob.parent) @ np.array(ob.matrix_parent_inverse, float) @ own if ob.parent else own


def _still_world(ob: bpy.types.Object) -> np.ndarray:
    """World matrix (4, 4) of an object that stands still, up to date whether it is evaluated or not."""
    own = np.array(ob.matrix_basis, float)
    return _still_world(ob.parent) @ np.array(ob.matrix_parent_inverse, float) @ own if ob.parent else own


def _object_basis(ob: bpy.types.Object, curves: list, times: np.ndarray) -> np.ndarray:
    """The object's own transform (F, 4, 4), delta transforms included."""
    moving = {name: [curve for curve in curves if curve.data_path == name] for name in SIZES}
    if not any(moving.values()):
        return np.repeat(np.array(ob.matrix_basis, float)[None], len(times), axis=0)
    channels = {}
    for name, size in SIZES.items():
        channels[name] = np.tile(np.array(getattr(ob, name)[:size], float), (len(times), 1, 1))
        for curve in moving[name]:
            channels[name][:, 0, curve.array_index] = actions.sample(curve, times)
    delta = {
        "location": ob.delta_location, "scale": ob.delta_scale, "rotation_euler": ob.delta_rotation_euler,
        "rotation_quaternion": ob.delta_rotation_quaternion, "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0),
    }  # fmt: skip
    delta = {name: np.array(value[:], float)[None, None] for name, value in delta.items()}
    single = _single_bone(ob)
    rotation = rotation_now(single, channels)
    turn = channels_to_basis(single, 0.0 * channels["location"], rotation, channels["scale"] * delta["scale"])
    unit = np.ones((1, 1, 3))
    extra = channels_to_basis(single, 0.0 * unit, rotation_now(single, delta), unit)
    out = (extra @ turn)[:, 0]
    out[:, :3, 3] = (channels["location"] + delta["location"])[:, 0]
    return out


def _single_bone(ob: bpy.types.Object) -> Rig:
    """The object as a rig of one bone at the origin, so that its channels are read by the same rules."""
    one = np.ones(1, bool)
    return Rig(
        names=(ob.name,), parents=np.array([-1]), rest=np.eye(4)[None], lengths=np.ones(1),
        use_connect=~one, inherit_rotation=one, inherit_scale=("FULL",), use_local_location=one,
        rotation_modes=(ob.rotation_mode,), name=ob.name,
    )  # fmt: skip
