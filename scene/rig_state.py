"""What a rig is apart from its pose, in a form to compare: a solved motion holds as long as it stays the same."""

from __future__ import annotations

import bpy
import numpy as np

from . import actions
from .stillness import can_move


def rig_state(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph, scaled: np.ndarray) -> tuple:
    """Texts and arrays: names, parents, rotation modes and rest of the bones, scales that no curve moves, and the place
    of the object unless it moves.

    scaled: (B,) bool, bones of the pose whose scale is animated.
    """
    bones, pose = ob.data.bones, ob.pose.bones
    rest = np.empty(16 * len(bones), np.float32)
    bones.foreach_get("matrix_local", rest)
    length = np.empty(len(bones), np.float32)
    bones.foreach_get("length", length)
    scale = np.empty((len(pose), 3), np.float32)
    pose.foreach_get("scale", scale.reshape(-1))
    scale[scaled] = 1.0
    names = "\n".join(bone.name for bone in bones)
    parents = "\n".join(bone.parent.name if bone.parent else "" for bone in bones)
    modes = "\n".join(bone.rotation_mode for bone in pose)
    place = None if can_move(ob) else np.array(ob.evaluated_get(depsgraph).matrix_world, np.float32) + 0.0
    return names, parents, modes, rest, length, scale, place, ob.data.pose_position


def scaled_bones(ob: bpy.types.Object, action, slot) -> np.ndarray:
    """(B,) bool: bones of the pose whose scale an action moves."""
    names = set()
    for curve in actions.playing_curves(action, slot):
        bone = actions.bone_of_path(curve.data_path)
        if bone is not None and bone[1] == "scale":
            names.add(bone[0])
    return np.array([bone.name in names for bone in ob.pose.bones], bool)
