"""Rigs that tests build and animate with Blender's own tools, and readings of them by Blender itself."""

import itertools
import random

import bpy
import numpy as np

from tests.linked import linked

INHERIT_SCALE = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")
ROTATION_MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
CHANNELS = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")
ODD_NAMES = ("hand.L", 'say "hi"', "back\\slash", "Knie_δεξιά", "骨", "a]b", "tab\tname", "x" * 63)


def add_armature(name, bones):
    """An armature object; bones: dicts with name, head, tail, parent and whatever an edit bone takes."""
    ob = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    edit = ob.data.edit_bones
    for bone in bones:
        new = edit.new(bone["name"])
        new.head, new.tail = bone["head"], bone["tail"]
        new.parent = edit[bone["parent"]] if bone.get("parent") else None
        for key in bone.keys() - {"name", "head", "tail", "parent"}:
            setattr(new, key, bone[key])
    bpy.ops.object.mode_set(mode="OBJECT")
    return ob


def add_chain(names, name="Rig", connect=False):
    """A chain of upright bones of 0.2 m, each the parent of the next."""
    parents = (None, *names[:-1])
    return add_armature(
        name,
        [
            {"name": bone, "head": (0, 0, 0.2 * i), "tail": (0, 0.05, 0.2 * (i + 1)), "parent": parents[i]}
            | ({"use_connect": True} if connect and i else {})
            for i, bone in enumerate(names)
        ],
    )


def add_rig_of_all_rules(seed=1):
    """Chains of three bones, one for every combination of the rules of inheritance."""
    rng = random.Random(seed)
    bones = []
    rules = itertools.product(INHERIT_SCALE, (True, False), (True, False), (True, False))
    for number, (scale, rotation, local, connect) in enumerate(rules):
        tail = None
        for depth in range(3):
            head = tail if tail is not None and connect else _vector(rng, 1.0)
            tail = [a + b for a, b in zip(head, _vector(rng, 1.0), strict=True)]
            bones.append(
                {
                    "name": f"{number}.{depth}", "head": head, "tail": tail, "roll": rng.uniform(-3, 3),
                    "parent": f"{number}.{depth - 1}" if depth else None, "inherit_scale": scale,
                    "use_inherit_rotation": rotation, "use_local_location": local,
                    "use_connect": connect and depth > 0,
                }
            )  # fmt: skip
    return add_armature("Rules", bones)


def _vector(rng, size):
    return [rng.uniform(-size, size) for _ in range(3)]


def pose_at_random(ob, rng, modes=ROTATION_MODES, scale=True):
    """Give all channels of all bones new values, each bone the next rotation mode."""
    for number, bone in enumerate(ob.pose.bones):
        bone.rotation_mode = modes[number % len(modes)]
        bone.location = _vector(rng, 0.3)
        bone.rotation_quaternion = [1.0, *_vector(rng, 0.8)]
        bone.rotation_euler = _vector(rng, 1.2)
        bone.rotation_axis_angle = [rng.uniform(-2, 2), *_vector(rng, 1.0)]
        bone.scale = [rng.uniform(0.7, 1.4) for _ in range(3)] if scale else (1.0, 1.0, 1.0)


def key_pose(ob, frame, bones=None, channels=CHANNELS):
    """Key channels with Blender's own operator function."""
    for bone in bones or ob.pose.bones:
        for channel in channels:
            bone.keyframe_insert(channel, frame=frame, group=bone.name)


def animate_at_random(ob, frames=(1, 4, 9, 12), seed=2, modes=ROTATION_MODES, scale=True, **keys):
    """Bezier keys of random poses."""
    rng = random.Random(seed)
    for frame in frames:
        pose_at_random(ob, rng, modes, scale)
        key_pose(ob, frame, **keys)
    bpy.context.scene.frame_set(frames[0])


def watch(ob, frames):
    """Pose (F, B, 4, 4) in the order of the armature's bones and world matrices (F, 4, 4), by Blender."""
    scene = bpy.context.scene
    poses, worlds = [], []
    for frame in frames:
        scene.frame_set(int(np.floor(frame)), subframe=float(frame - np.floor(frame)))
        seen = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        poses.append([np.array(seen.pose.bones[bone.name].matrix) for bone in ob.data.bones])
        worlds.append(np.array(seen.matrix_world))
    return np.array(poses), np.array(worlds)


def fingerprint(action):
    """All that an action holds, to see whether it was touched."""
    bags = (
        [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]
        if bpy.app.version >= (4, 4, 0)
        else [action]
    )
    return [
        (
            c.data_path,
            c.array_index,
            c.mute,
            [(*k.co, *k.handle_left, *k.handle_right, k.interpolation) for k in c.keyframe_points],
        )
        for bag in bags
        for c in bag.fcurves
    ]


def add_strip(ob, action, slot, start, mute_track=False):
    """Push an action onto a new NLA track."""
    track = (ob.animation_data or ob.animation_data_create()).nla_tracks.new()
    strip = track.strips.new(action.name, start, action)
    if slot is not None:
        strip.action_slot = slot
    track.mute = mute_track
    return strip


def link_from_library(ob, folder):
    """The collection Cast, which holds the rig, as it is linked into an empty scene."""
    holder = bpy.data.collections.new("Cast")
    holder.objects.link(ob)
    path = str(folder / "library.blend")
    bpy.data.libraries.write(path, {holder}, fake_user=True)
    bpy.ops.wm.read_homefile(use_empty=True)
    return linked(path, collection="Cast")
