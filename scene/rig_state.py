"""What a rig is apart from its pose, in a form to compare: a solved motion holds as long as it stays the same."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from . import actions
from .channels import DELTAS, SIZES
from .sampling import strip_curves
from .stillness import can_move


@dataclass(frozen=True)
class Animated:
    """What is animated of a rig beside the turning of its bones, by its action, strips or drivers.

    moved, scaled: bones.  placed: data paths of the object and their indices.
    """

    moved: frozenset[str]
    scaled: frozenset[str]
    placed: frozenset[tuple[str, int]]

    @classmethod
    def by(cls, ob: bpy.types.Object, action, slot) -> Animated:
        bones, placed = {"location": set(), "scale": set()}, set()
        drivers = ob.animation_data.drivers if ob.animation_data is not None else ()
        for each in (*actions.playing_curves(action, slot), *strip_curves(ob), *drivers):
            bone = actions.bone_of_path(each.data_path)
            if bone is None:
                placed.add((each.data_path, each.array_index))
            elif bone[1] in bones:
                bones[bone[1]].add(bone[0])
        return cls(frozenset(bones["location"]), frozenset(bones["scale"]), frozenset(placed))


def bones_state(ob: bpy.types.Object, animated: Animated) -> tuple:
    """Texts and arrays: names, parents, rotation modes and rest of the bones, and scales that no curve moves."""
    bones, pose = ob.data.bones, ob.pose.bones
    rest = np.empty(16 * len(bones), np.float32)
    bones.foreach_get("matrix_local", rest)
    length = np.empty(len(bones), np.float32)
    bones.foreach_get("length", length)
    scale = np.empty((len(pose), 3), np.float32)
    pose.foreach_get("scale", scale.reshape(-1))
    scale[[bone.name in animated.scaled for bone in pose]] = 1.0
    names = "\n".join(bone.name for bone in bones)
    parents = "\n".join(bone.parent.name if bone.parent else "" for bone in bones)
    modes = "\n".join(bone.rotation_mode for bone in pose)
    return names, parents, modes, rest, length, scale, ob.data.pose_position


def place_state(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph, animated: Animated):
    """Texts and arrays: what places the object but its own curves."""
    yield from placing(ob, animated)
    if ob.parent is not None and not can_move(ob.parent):
        yield _numbers(ob.parent.evaluated_get(depsgraph).matrix_world)


def placing(ob: bpy.types.Object, animated: Animated):
    """What places the object beside its animation and its parent: texts and arrays."""
    if ob.rigid_body is not None:
        return
    for channel in (*SIZES, *DELTAS):
        values = _numbers(getattr(ob, channel))
        moved = [(channel, index) in animated.placed for index in range(len(values))]
        yield np.where(moved, np.float32(0.0), values)
    yield ob.rotation_mode
    if ob.parent is not None:
        yield _numbers(ob.matrix_parent_inverse)


def _numbers(values) -> np.ndarray:
    """A copy row by row, whatever the order in memory of what Blender hands out; -0 is 0."""
    return np.array(values, np.float32, order="C") + np.float32(0.0)
