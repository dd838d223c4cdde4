"""What a rig is apart from its pose, in a form to compare: a solved motion holds as long as it stays the same."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from . import actions
from .channels import SIZES
from .stillness import can_move


@dataclass(frozen=True)
class Animated:
    """What an action moves of a rig beside its pose. scaled: (B,) bool, bones of the pose with keyed scale.
    placed: object channels with keys."""

    scaled: np.ndarray
    placed: frozenset[str]

    @classmethod
    def by(cls, ob: bpy.types.Object, action, slot) -> Animated:
        scaled, placed = set(), set()
        for curve in actions.playing_curves(action, slot):
            bone = actions.bone_of_path(curve.data_path)
            if bone is None:
                placed.add(curve.data_path)
            elif bone[1] == "scale":
                scaled.add(bone[0])
        return cls(np.array([bone.name in scaled for bone in ob.pose.bones], bool), frozenset(placed))


def rig_state(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph, animated: Animated) -> tuple:
    """Texts, numbers and arrays: names, parents, rotation modes and rest of the bones, scales that no curve moves, and
    what places the object but its own curves."""
    bones, pose = ob.data.bones, ob.pose.bones
    rest = np.empty(16 * len(bones), np.float32)
    bones.foreach_get("matrix_local", rest)
    length = np.empty(len(bones), np.float32)
    bones.foreach_get("length", length)
    scale = np.empty((len(pose), 3), np.float32)
    pose.foreach_get("scale", scale.reshape(-1))
    scale[animated.scaled] = 1.0
    names = "\n".join(bone.name for bone in bones)
    parents = "\n".join(bone.parent.name if bone.parent else "" for bone in bones)
    modes = "\n".join(bone.rotation_mode for bone in pose)
    return names, parents, modes, rest, length, scale, ob.data.pose_position, *_place(ob, depsgraph, animated)


def _place(ob, depsgraph, animated):
    if len(ob.constraints) or ob.rigid_body is not None:
        return
    for channel in SIZES:
        if channel not in animated.placed:
            yield np.array(getattr(ob, channel), np.float32) + np.float32(0.0)
    for channel in ("delta_location", "delta_rotation_euler", "delta_rotation_quaternion", "delta_scale"):
        yield np.array(getattr(ob, channel), np.float32) + np.float32(0.0)
    yield ob.rotation_mode
    if ob.parent is not None:
        yield np.array(ob.matrix_parent_inverse, np.float32) + np.float32(0.0)
        if not can_move(ob.parent):
            yield np.array(ob.parent.evaluated_get(depsgraph).matrix_world, np.float32) + np.float32(0.0)
