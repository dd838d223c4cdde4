"""A captured clip as an armature with an action, and an environment as mesh objects, in the open scene.

Needs bpy and the enabled extension.
"""

from __future__ import annotations

import importlib

import numpy as np

from solvers.core.types import JointTrack, MeshTrack
from solvers.rotations.polar import nearest_rotation


def build_armature(package: str, track: JointTrack, name: str = "Rig"):
    """An armature object that plays the track; package: the enabled extension's module name.

    Every joint with children becomes a bone towards its first child; its turns are the best rotations of the vectors to
    its children (Kabsch 1976), and what is not rigid goes into locations.
    """
    import bpy

    actions = importlib.import_module(f"{package}.scene.actions")
    rigs = importlib.import_module(f"{package}.scene.rigs")
    kinematics = importlib.import_module(f"{package}.solvers.skeleton.kinematics")
    bone_channels = importlib.import_module(f"{package}.solvers.skeleton.bone_channels")
    parents, names, positions = track.skeleton.parents, track.skeleton.names, track.positions
    children = [np.flatnonzero(parents == j) for j in range(len(names))]
    bones = [j for j in range(len(names)) if len(children[j])]
    data = bpy.data.armatures.new(name)
    ob = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for j in bones:
        bone = data.edit_bones.new(names[j])
        bone.head, bone.tail = positions[0, j], positions[0, children[j][0]]
        if parents[j] >= 0:
            bone.parent = data.edit_bones[names[parents[j]]]
    bpy.ops.object.mode_set(mode="OBJECT")
    turns = joint_turns(track)
    rig = rigs.read_rig(ob)
    order = [names.index(bone) for bone in rig.names]
    pose = np.tile(np.eye(4), (len(positions), len(order), 1, 1))
    pose[..., :3, :3] = turns[:, order] @ rig.rest[:, :3, :3]
    pose[..., :3, 3] = positions[:, order]
    basis = kinematics.basis_from_pose(rig, pose)
    action, slot = actions.create(ob, f"{name} clip")
    start = np.tile([1.0, 0.0, 0.0, 0.0], (len(order), 1))
    location, rotation, _ = bone_channels.basis_to_channels(rig, basis, start, np.ones((len(order), 3)))
    holder = actions.curve_list(action, slot, create=True)
    for k, bone in enumerate(rig.names):
        group = actions.group_named(holder, bone)
        moves = parents[order[k]] < 0 or np.abs(location[:, k]).max() > 1e-6
        for channel, values in (("rotation_quaternion", rotation[:, k]), ("location", location[:, k])):
            if channel == "location" and not moves:
                continue
            for index in range(values.shape[1]):
                path = actions.bone_path(bone, channel)
                actions.write_curve(holder, path, index, group, track.frames, values[:, index])
    actions.keep(ob, action, slot, True)
    bpy.context.scene.render.fps = round(track.fps)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = int(track.frames[0]), int(track.frames[-1])
    return ob


def joint_turns(track: JointTrack) -> np.ndarray:
    """(F, J, 3, 3) rotations of each joint's children from the first frame; a single child turns without twist."""
    parents, positions = track.skeleton.parents, track.positions
    out = np.tile(np.eye(3), (*positions.shape[:2], 1, 1))
    for j in range(len(parents)):
        below = np.flatnonzero(parents == j)
        if parents[j] >= 0:
            out[:, j] = out[:, parents[j]]
        if not len(below):
            continue
        rest = positions[0, below] - positions[0, j]
        now = positions[:, below] - positions[:, [j]]
        carried = np.einsum("fab,cb->fca", out[:, j], rest)
        out[:, j] = _best_turn(carried, now) @ out[:, j]
    return out


def _best_turn(source, target):
    """(F, 3, 3) rotations that bring vectors (F, C, 3) nearest to others, with the least turn where that is free."""
    # A faint pull towards no turn settles the twist of a single vector.
    return nearest_rotation(np.einsum("fca,fcb->fab", target, source) + 1e-6 * np.eye(3))


def build_mesh(mesh: MeshTrack):
    """A mesh object of the first state."""
    import bpy

    data = bpy.data.meshes.new(mesh.name)
    data.from_pydata(mesh.vertices[0].tolist(), [], mesh.triangles.tolist())
    ob = bpy.data.objects.new(mesh.name, data)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def set_vertices(ob, vertices: np.ndarray) -> None:
    """Give a mesh object other vertices (V, 3), in its own space."""
    ob.data.vertices.foreach_set("co", np.ascontiguousarray(vertices, np.float32).ravel())
    ob.data.update()
