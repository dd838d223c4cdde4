"""A rig of the deform bones alone, which moves as another rig does and hangs on nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix

from ..solvers.skeleton.bone_channels import basis_to_channels, channels_to_basis
from ..solvers.skeleton.rig import Rig
from . import actions
from .channels import SIZES, action_times
from .deform_tree import note_parents
from .reached import collections_of
from .references import point_to
from .restored import restored_after_error
from .rigs import deform_bones, read_rig
from .sampling import sample_frames

# A channel that differs less from its first value stays as it is (single precision).
_STILL = 1e-7
_CHANNELS = ("location", "rotation_quaternion", "scale")


@dataclass(frozen=True)
class DeformMotion:
    """What the deform bones of a rig do. rig: all its bones.  chosen: (B,) those that deform.
    pose: (F, B, 4, 4) of these, armature space.  object_world: (F, 4, 4).  frames: (F,) scene frames."""

    rig: Rig
    chosen: np.ndarray
    pose: np.ndarray
    object_world: np.ndarray
    frames: np.ndarray

    @property
    def names(self) -> tuple[str, ...]:
        """Of the deform bones."""
        return tuple(self.rig.names[bone] for bone in self.chosen)


@dataclass(frozen=True)
class DeformCopy:
    """ob: the new armature object.  action: that it plays.  error: largest distance of a bone's ends from where the
    original has them, metres.  bendy: names of bones that are curved in the original and straight in the copy."""

    ob: bpy.types.Object
    action: bpy.types.Action
    error: float
    bendy: tuple[str, ...]


def read_deform_bones(context: bpy.types.Context, rig: bpy.types.Object, frames: np.ndarray) -> DeformMotion:
    """The deform bones of a rig, all bones where none is marked so, as they are seen at frames (F,).

    Raises SceneError for a rig that cannot be read.
    """
    whole = read_rig(rig)
    chosen = np.flatnonzero(deform_bones(rig))
    pose, world = sample_frames(context, rig, tuple(whole.names[bone] for bone in chosen), frames)
    return DeformMotion(whole, chosen, pose, world, frames)


def copy_deform_bones(
    context: bpy.types.Context, rig: bpy.types.Object, motion: DeformMotion, parents: np.ndarray, name: str
) -> DeformCopy:
    """A new armature object whose bones, without parents and constraints, move as the deform bones of a rig.

    It lies in the collections of the rig, or in the scene's own where these are hidden, stands where the rig stands at
    the first frame, and has plain keys for all that moves the bones, the object's own way included. parents: (B,) the
    bone that each moves with, -1 for none; that is noted on its bones. The rig is not touched. The copy is active
    then, in Object Mode. To be called in ``undone_after_error``.
    """
    names = motion.names
    bendy = tuple(bone for bone in names if rig.data.bones[bone].bbone_segments > 1)
    copy = _add_armature(context, rig, names, name)
    copy.matrix_world = Matrix(motion.object_world[0].tolist())
    note_parents(copy.data, names, parents)
    stands, flat = np.array(copy.matrix_basis), read_rig(copy)
    order = [names.index(bone) for bone in flat.names]
    pose = (np.linalg.inv(stands) @ motion.object_world)[:, None] @ motion.pose[:, order]
    action, error = _write(context.scene, copy, flat, pose, motion.frames)
    return DeformCopy(copy, action, error * float(np.cbrt(abs(np.linalg.det(stands[:3, :3])))), bendy)


@contextmanager
def undone_after_error(context: bpy.types.Context, rig: bpy.types.Object) -> Iterator[None]:
    """A block that copies a rig and lets its skin follow the copy: where it fails, also by Ctrl-C, the copy is removed,
    what followed the rig follows it again, and what is active, selected and its mode are as before."""
    layer, mode = context.view_layer, context.mode
    active, selected = layer.objects.active, _selected(layer)
    followers = [_Follower.of(ob) for ob in _followers(context.scene, rig)]
    try:
        with restored_after_error():
            try:
                yield
            except BaseException:
                for follower in followers:
                    follower.put_back()
                if context.mode != "OBJECT":  # what is being edited cannot be removed
                    bpy.ops.object.mode_set(mode="OBJECT")
                raise
    except BaseException:
        layer.objects.active = active
        for ob in selected:
            ob.select_set(True)
        if mode == "POSE":
            bpy.ops.object.mode_set(mode="POSE")
        raise


@dataclass(frozen=True)
class _Follower:
    """An object that follows a rig. modifiers: of it that do, and the rig."""

    ob: bpy.types.Object
    parent: bpy.types.Object | None
    parent_inverse: Matrix
    modifiers: list[tuple[bpy.types.Modifier, bpy.types.Object]]

    @classmethod
    def of(cls, ob: bpy.types.Object) -> _Follower:
        modifiers = [(each, each.object) for each in ob.modifiers if each.type == "ARMATURE"]
        return cls(ob, ob.parent, ob.matrix_parent_inverse.copy(), modifiers)

    def put_back(self) -> None:
        for modifier, armature in self.modifiers:
            if modifier.object != armature:
                modifier.object = armature
        if self.ob.parent != self.parent:
            self.ob.parent = self.parent
        if self.ob.matrix_parent_inverse != self.parent_inverse:
            self.ob.matrix_parent_inverse = self.parent_inverse


def _followers(scene: bpy.types.Scene, rig: bpy.types.Object) -> list[bpy.types.Object]:
    """The objects that a rig deforms or carries."""
    return [ob for ob in scene.objects if ob.parent == rig or _modifiers_by(ob, rig)]


def _modifiers_by(ob: bpy.types.Object, rig: bpy.types.Object) -> list[bpy.types.Modifier]:
    return [each for each in ob.modifiers if each.type == "ARMATURE" and each.object == rig]


def _selected(layer: bpy.types.ViewLayer) -> list[bpy.types.Object]:
    """The context of timers and handlers has no such list."""
    return [ob for ob in layer.objects if ob.select_get(view_layer=layer)]


def _add_armature(context, rig, names, name):
    """The armature object, its bones at rest as they are in the rig; it becomes the active one."""
    if context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    data = rig.data.copy()
    data.name = name
    data.animation_data_clear()
    for key in list(data.keys()):  # such as what panels of rig generators go by
        del data[key]
    copy = bpy.data.objects.new(name, data)
    layer, collections = context.view_layer, _collections_of(context, rig)
    for collection in collections:
        collection.objects.link(copy)
    if not copy.visible_get(view_layer=layer):  # what is hidden cannot be edited, nor found
        for collection in collections:
            collection.objects.unlink(copy)
        context.scene.collection.objects.link(copy)
    for ob in _selected(layer):
        ob.select_set(False)
    copy.select_set(True)
    layer.objects.active = copy
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in list(data.edit_bones):
        bone.parent = None
    for bone in list(data.edit_bones):
        if bone.name not in names:
            data.edit_bones.remove(bone)
            continue
        bone.bbone_segments, bone.hide = 1, False
        bone.bbone_handle_type_start = bone.bbone_handle_type_end = "AUTO"
    bpy.ops.object.mode_set(mode="OBJECT")
    while len(data.collections):  # generators hide those of deform bones
        data.collections.remove(data.collections[0])
    for bone in copy.pose.bones:
        bone.rotation_mode = "QUATERNION"
    return copy


def _collections_of(context, rig) -> list[bpy.types.Collection]:
    """Those of the scene that hold the rig and can be changed, the scene's own where there is none."""
    inside = set(collections_of(context.scene))
    found = [each for each in rig.users_collection if each in inside and each.library is None]
    return found or [context.scene.collection]


def _write(scene, copy, flat: Rig, pose: np.ndarray, frames: np.ndarray):
    """Give the copy an action that holds a pose (F, B, 4, 4); returns it, and how far bones' ends are off at most."""
    basis = np.linalg.inv(flat.rest) @ pose
    start = np.tile([1.0, 0.0, 0.0, 0.0], (len(flat.names), 1))
    channels = basis_to_channels(flat, basis, start, np.ones((len(flat.names), 3)))
    found = flat.rest @ channels_to_basis(flat, *channels)
    ends = [each[..., :3, 3] + each[..., :3, 1] * flat.lengths[:, None] for each in (found, pose)]
    action, slot = actions.create(copy, f"{copy.name} motion")
    holder = actions.curve_list(action, slot, create=True)
    times = action_times(scene, frames)
    for bone, name in enumerate(flat.names):
        group = actions.group_named(holder, name)
        for channel, values in zip(_CHANNELS, channels, strict=True):
            for index in range(SIZES[channel]):
                curve = values[:, bone, index]
                count = 1 if np.ptp(curve) <= _STILL else len(times)
                path = actions.bone_path(name, channel)
                actions.write_curve(holder, path, index, group, times[:count], curve[:count])
    actions.assign(copy, action, slot)
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    return action, float(np.linalg.norm(ends[0] - ends[1], axis=-1).max())


def move_skin(scene: bpy.types.Scene, rig: bpy.types.Object, copy: bpy.types.Object) -> tuple[list[str], list[str]]:
    """Let the objects of a scene that follow a rig follow its copy: what its modifiers deform and its bones carry.

    Returns the names of those that do, and of those that cannot: they are linked, or hang on a bone that is not copied.
    To be called in ``undone_after_error``.
    """
    moved, left = [], []
    for ob in _followers(scene, rig):
        if ob == copy:
            continue
        stays = ob.parent == rig and ob.parent_type == "BONE" and ob.parent_bone not in copy.data.bones
        if ob.library is not None or ob.override_library is not None or stays:
            left.append(ob.name)
            continue
        for modifier in _modifiers_by(ob, rig):
            modifier.object = copy
        if ob.parent == rig:
            point_to(ob, "parent", copy)
        moved.append(ob.name)
    return moved, left
