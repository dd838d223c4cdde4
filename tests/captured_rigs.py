"""Rigs as capture add-ons build them: no keys, but constraints that hold bones to points which move."""

import bpy
from bl_ext.devrepo.motion_loom.scene import actions
from mathutils import Matrix

from tests import adapt_scenes as scenes
from tests.objects import add_object


def follow_points(rig):
    """Take the keys off: constraints hold each bone to captured points, as capture add-ons build it."""
    walk = scenes.walk()
    names, points, child_of = walk.skeleton.names, {}, {}
    for joint, name in enumerate(names):
        child_of.setdefault(names[walk.skeleton.parents[joint]], name)
        points[name] = add_object(f"point {name}")
        action, slot = actions.create(points[name], f"capture {name}")
        holder = actions.curve_list(action, slot, create=True)
        for axis in range(3):
            actions.write_curve(holder, "location", axis, None, scenes.FRAMES, walk.positions[:, joint, axis])
        actions.assign(points[name], action, slot)
    rig.animation_data_clear()
    for bone in rig.pose.bones:
        bone.matrix_basis = Matrix()
        if bone.parent is None:
            bone.constraints.new("COPY_LOCATION").target = points[bone.name]
        if len(bone.children):
            track = bone.constraints.new("DAMPED_TRACK")
            track.target, track.track_axis = points[child_of[bone.name]], "TRACK_Y"
    bpy.context.scene.frame_end = int(scenes.FRAMES[-1])
    bpy.context.scene.frame_set(1)
