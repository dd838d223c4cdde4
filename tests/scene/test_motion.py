"""A rig's motion read by curves and by frames, against what Blender plays."""

import random

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.solvers.core.errors import InputError, SceneError

from tests import rig_scenes as scenes
from tests.motion_scenes import FRAMES, add_mover, read, remap_time, strips_alone
from tests.objects import add_object, drive, into_collection, key


def assert_plays(found, ob, frames=FRAMES):
    poses, worlds = scenes.watch(ob, frames)
    np.testing.assert_allclose(found.pose, poses, atol=1e-5)
    np.testing.assert_allclose(found.object_world, worlds, atol=1e-5)


def with_deltas(ob):
    ob.delta_location, ob.delta_scale = (1, 0, 2), (2, 2, 2)
    ob.delta_rotation_euler = (0.2, 0.1, -0.4)


def with_quaternion_deltas(ob):
    ob.rotation_mode, ob.rotation_quaternion = "QUATERNION", (0.5, 0.1, 0.7, -0.3)
    ob.delta_rotation_quaternion, ob.delta_scale = (0.8, 0.1, -0.4, 0.2), (1.2, 0.7, 1.0)


def with_axis_angle(ob):
    ob.rotation_mode, ob.rotation_axis_angle = "AXIS_ANGLE", (2.0, 0.3, 0.5, -0.8)


def with_still_parents(ob):
    grand, parent = add_object("Grand"), add_object("Parent")
    for empty in (grand, parent):
        empty.location, empty.rotation_euler, empty.scale = (1, 2, 3), (0.5, 0.1, 0.2), (2, 2, 2)
    parent.parent, ob.parent = grand, parent
    ob.matrix_parent_inverse = parent.matrix_basis.inverted()


def with_muted_curves(ob):
    for number, curve in enumerate(actions.all_curves(*actions.assigned(ob))):
        curve.mute = number % 3 == 0
    actions.curve_list(*actions.assigned(ob)).groups[1].mute = True
    ob.animation_data.action.update_tag()
    scenes.pose_at_random(ob, random.Random(8))


def with_unkeyed_channels(ob):
    holder = actions.curve_list(*actions.assigned(ob))
    for curve in list(holder.fcurves)[::2]:
        holder.fcurves.remove(curve)
    scenes.pose_at_random(ob, random.Random(9))


def with_cycles(ob):
    for curve in actions.all_curves(*actions.assigned(ob)):
        curve.modifiers.new("CYCLES")
    ob.animation_data.action.update_tag()


def with_strips_switched_off(ob):
    scenes.add_strip(ob, *actions.assigned(ob), 3)
    ob.animation_data.use_nla = False


BY_CURVES = {
    "as it is": lambda ob: None,
    "deltas": with_deltas,
    "quaternion deltas": with_quaternion_deltas,
    "axis and angle": with_axis_angle,
    "still parents": with_still_parents,
    "remapped time": lambda ob: remap_time(),
    "muted curves": with_muted_curves,
    "unkeyed channels": with_unkeyed_channels,
    "cycles": with_cycles,
    "muted strips": lambda ob: scenes.add_strip(ob, *actions.assigned(ob), 3, mute_track=True),
    "strips switched off": with_strips_switched_off,
    "muted constraint": lambda ob: setattr(ob.pose.bones[1].constraints.new("LIMIT_ROTATION"), "mute", True),
}


@pytest.mark.parametrize("change", BY_CURVES)
def test_curves_tell_what_blender_plays(change):
    ob = add_mover()
    BY_CURVES[change](ob)
    frames = np.concatenate((FRAMES, [12.25, 20.5]))
    for some in (frames[:12], frames[12:]):
        found = read(ob, some)
        assert found.sampled_because is None
        assert_plays(found, ob, some)


def drive_hip(ob):
    drive(ob.pose.bones["hip"], "location", "frame / 10", 0)


def add_constraint(ob):
    limit = ob.pose.bones["chest"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.owner_space = True, "LOCAL"


def add_object_constraint(ob):
    limit = ob.constraints.new("LIMIT_LOCATION")
    limit.use_max_x, limit.max_x = True, 0.5


def add_moving_parent(ob):
    ob.parent = add_object("Cart")
    key(ob.parent, "location", {1: (0, 0, 0), 12: (2, 0, 0)})


def add_bone_parent(ob):
    carrier = scenes.add_chain(("seat",), name="Carrier")
    scenes.animate_at_random(carrier)
    ob.parent, ob.parent_type, ob.parent_bone = carrier, "BONE", "seat"


def add_blending(ob):
    scenes.add_strip(ob, *actions.assigned(ob), 4)
    ob.animation_data.action_influence = 0.4


@pytest.mark.parametrize(
    "change, reason",
    [
        (drive_hip, "drivers move it"),
        (add_constraint, "bone 'chest' has constraints"),
        (add_object_constraint, "the object has constraints"),
        (add_moving_parent, "its parent 'Cart' may move"),
        (add_bone_parent, "its parent 'Carrier' may move"),
        (strips_alone, "NLA strips contribute to it"),
        (add_blending, "NLA strips contribute to it"),
        (
            lambda ob: key(ob.pose.bones["arm.L"], "rotation_mode", {1: "XYZ", 6: "ZXY"}),
            "the rotation mode of bone 'arm.L' is animated",
        ),
        (
            lambda ob: key(ob, "delta_location", {1: (1, 0, 0), 12: (12, 0, 0)}),
            "the object's 'delta_location' is animated",
        ),
    ],
)
def test_what_curves_do_not_tell_is_sampled(change, reason):
    ob = add_mover()
    change(ob)
    found = read(ob)
    assert found.sampled_because == reason
    assert_plays(found, ob)


def test_sampling_leaves_the_scene_as_it_was():
    ob = add_mover()
    drive_hip(ob)
    scene = bpy.context.scene
    scene.frame_set(5, subframe=0.25)
    ob.pose.bones["tail"].rotation_euler = (7, 8, 9)
    ob.pose.bones["fin"].location = (4, 5, 6)
    ob.location = (9, 9, 9)
    read(ob)
    assert (scene.frame_current, scene.frame_subframe) == (5, 0.25)
    assert ob.pose.bones["tail"].rotation_euler[:] == (7, 8, 9)
    assert ob.pose.bones["fin"].location[:] == (4, 5, 6)
    assert ob.location[:] == (9, 9, 9)


HIDE = {
    "collection": lambda ob: setattr(into_collection(ob), "exclude", True),
    "object": lambda ob: setattr(ob, "hide_viewport", True),
}


@pytest.mark.parametrize("hide", HIDE)
def test_a_hidden_rig_reads_by_curves_and_is_refused_by_frames(hide):
    ob = add_mover()
    expected = read(ob)
    HIDE[hide](ob)
    found = read(ob)
    np.testing.assert_allclose(found.basis, expected.basis, atol=1e-6)
    np.testing.assert_allclose(found.object_world, expected.object_world, atol=1e-6)
    drive_hip(ob)
    bpy.context.scene.frame_set(5)
    with pytest.raises(SceneError, match="'Rig' is hidden, excluded or not in this view layer at frame 1"):
        read(ob)
    assert bpy.context.scene.frame_current == 5


@pytest.mark.parametrize("frames", [[], [float("nan")], [3, 3], [5, 4]])
def test_bad_frames_are_refused(frames):
    with pytest.raises(InputError):
        read(add_mover(), frames)
