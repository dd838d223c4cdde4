"""Rest skeletons, limits and joints, and forward kinematics against Blender's own poses."""

import math
import random

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import rigs
from bl_ext.devrepo.motion_loom.scene.motion import read_motion
from bl_ext.devrepo.motion_loom.solvers.core.errors import SceneError
from bl_ext.devrepo.motion_loom.solvers.skeleton import kinematics
from bl_ext.devrepo.motion_loom.solvers.skeleton.bone_channels import channels_to_basis

from tests import rig_scenes as scenes
from tests.objects import add_object, edit

pytestmark = pytest.mark.filterwarnings("error")


def channels_now(ob, rig):
    bones = [ob.pose.bones[name] for name in rig.names]
    rotation = []
    for bone in bones:
        if bone.rotation_mode == "QUATERNION":
            rotation.append(bone.rotation_quaternion[:])
        elif bone.rotation_mode == "AXIS_ANGLE":
            rotation.append(bone.rotation_axis_angle[:])
        else:
            rotation.append((*bone.rotation_euler, 0.0))
    return (np.array([values], float) for values in ([b.location for b in bones], rotation, [b.scale for b in bones]))


@pytest.mark.parametrize("seed", range(3))
def test_every_rule_gives_blenders_pose(seed):
    ob = scenes.add_rig_of_all_rules(seed)
    scenes.pose_at_random(ob, random.Random(seed + 10))
    bpy.context.view_layer.update()
    rig = rigs.read_rig(ob)
    basis = channels_to_basis(rig, *channels_now(ob, rig))
    expected_basis = np.array([[ob.pose.bones[name].matrix_basis for name in rig.names]])
    expected_pose = np.array([[ob.pose.bones[name].matrix for name in rig.names]])
    np.testing.assert_allclose(basis, expected_basis, atol=2e-6)
    pose = kinematics.pose_matrices(rig, basis)
    np.testing.assert_allclose(pose, expected_pose, atol=1e-5)
    np.testing.assert_allclose(kinematics.basis_from_pose(rig, expected_pose), expected_basis, atol=1e-4)


def test_degenerate_channels_give_blenders_pose():
    """A zero quaternion, a zero axis and a zero scale all mean something to Blender."""
    ob = scenes.add_chain(("quat", "axis", "flat"))
    ob.pose.bones["quat"].rotation_quaternion = (0, 0, 0, 0)
    ob.pose.bones["axis"].rotation_mode = "AXIS_ANGLE"
    ob.pose.bones["axis"].rotation_axis_angle = (1, 0, 0, 0)
    ob.pose.bones["flat"].scale = (1, 0, 1)
    bpy.context.view_layer.update()
    rig = rigs.read_rig(ob)
    pose = kinematics.pose_matrices(rig, channels_to_basis(rig, *channels_now(ob, rig)))
    np.testing.assert_allclose(pose[0], [ob.pose.bones[name].matrix for name in rig.names], atol=1e-6)


def test_rig_reads_what_blender_says():
    ob = scenes.add_chain(scenes.ODD_NAMES, connect=True)
    rig = rigs.read_rig(ob)
    assert rig.names == tuple(bone.name for bone in ob.data.bones)
    assert set(rig.names) == set(scenes.ODD_NAMES)
    assert [rig.names[p] if p >= 0 else None for p in rig.parents] == [
        bone.parent and bone.parent.name for bone in ob.data.bones
    ]
    np.testing.assert_array_equal(rig.rest, [bone.matrix_local for bone in ob.data.bones])
    np.testing.assert_array_equal(rig.use_connect, [bone.use_connect for bone in ob.data.bones])
    assert rig.name == "Rig"


def test_bones_added_later_keep_parents_first():
    ob = scenes.add_chain(("a", "b"))
    bpy.ops.object.mode_set(mode="EDIT")
    first = ob.data.edit_bones.new("new root")
    first.head, first.tail = (0, 0, -1), (0, 0, 0)
    ob.data.edit_bones["a"].parent = first
    bpy.ops.object.mode_set(mode="OBJECT")
    rig = rigs.read_rig(ob)
    assert (rig.parents < np.arange(3)).all()
    assert rig.names[rig.parents[rig.names.index("a")]] == "new root"


def test_limits():
    ob = scenes.add_chain(("free", "knee", "both", "world"))
    bones = ob.pose.bones
    for name in ("knee", "both", "world"):
        limit = bones[name].constraints.new("LIMIT_ROTATION")
        limit.owner_space = "WORLD" if name == "world" else "LOCAL"
        limit.use_limit_x, limit.min_x, limit.max_x = True, -0.5, 2.0
        limit.euler_order = "ZYX" if name == "knee" else "AUTO"
    bones["both"].rotation_mode = "YXZ"
    bones["both"].use_ik_limit_x, bones["both"].ik_min_x, bones["both"].ik_max_x = True, -0.1, math.pi
    bones["both"].use_ik_limit_z, bones["both"].ik_min_z, bones["both"].ik_max_z = True, -0.2, 0.3
    limits = rigs.joint_limits(ob)
    index = {bone.name: i for i, bone in enumerate(ob.data.bones)}
    assert not limits.limited[index["free"]].any() and not limits.limited[index["world"]].any()
    assert limits.ignored == ("world",)
    assert limits.orders[index["knee"]] == "ZYX" and limits.orders[index["both"]] == "YXZ"
    np.testing.assert_array_equal(limits.limited[index["knee"]], [True, False, False])
    np.testing.assert_allclose(limits.lower[index["both"]], [-0.1, 0, -0.2], atol=1e-6)
    np.testing.assert_allclose(limits.upper[index["both"]], [2.0, 0, 0.3], atol=1e-6)


def test_joints_are_heads_and_leaf_tails_in_world_space():
    ob = scenes.add_armature(
        "Rig",
        [
            {"name": "hip", "head": (0, 0, 1), "tail": (0, 0, 1.3)},
            {"name": "left", "head": (0.1, 0, 1), "tail": (0.1, 0.1, 0.5), "parent": "hip"},
            {"name": "right", "head": (-0.1, 0, 1), "tail": (-0.1, 0, 0.5), "parent": "hip"},
        ],
    )
    ob.location, ob.rotation_euler, ob.scale = (1, 2, 3), (0.4, -1.0, 2.0), (0.3, 0.3, 0.3)
    scenes.animate_at_random(ob)
    frames = np.array([2.0, 4.5, 7.0])
    track = read_motion(bpy.context, ob, frames).joints()
    assert track.skeleton.names == ("hip", "left", "right", "left/tail", "right/tail")
    np.testing.assert_array_equal(track.skeleton.parents, [-1, 0, 0, 1, 2])
    assert track.fps == pytest.approx(24 / 2.5)
    for row, frame in enumerate(frames):
        scenes.watch(ob, [frame])
        bones = [ob.pose.bones[name] for name in ("hip", "left", "right")]
        expected = [ob.matrix_world @ b.head for b in bones] + [ob.matrix_world @ b.tail for b in bones[1:]]
        np.testing.assert_allclose(track.positions[row], expected, atol=1e-5)


@pytest.mark.parametrize("scale, what", [((1, 1, 0), "zero"), ((0, 0, 0), "zero"), ((-1, 1, 1), "negative")])
def test_bad_object_scale_is_named_and_two_negative_axes_are_a_turn(scale, what):
    ob = scenes.add_chain(("a", "b"), name="Läufer")
    scenes.animate_at_random(ob)
    ob.scale = scale
    with pytest.raises(SceneError, match=f"'Läufer' has a {what} scale at frame 1"):
        read_motion(bpy.context, ob, [1, 2]).joints()
    ob.scale = (-1, -1, 1)
    assert np.isfinite(read_motion(bpy.context, ob, [1]).joints().positions).all()


def test_find_rig_offers_near_names():
    scenes.add_chain(("a",), name="Knight")
    add_object("Empty")
    bpy.data.objects.new("Elsewhere", bpy.data.armatures.new("Elsewhere"))
    assert rigs.find_rig(bpy.context, "Knight").name == "Knight"
    for name, message in (
        ("knigt", "did you mean 'Knight'"),
        ("something else", "did you mean 'Knight'"),
        ("Empty", "'Empty' is of type EMPTY; choose an armature"),
        ("Elsewhere", "not in the scene"),
    ):
        with pytest.raises(SceneError, match=message):
            rigs.find_rig(bpy.context, name)


def test_rest_position_edit_mode_and_no_bones_are_refused():
    rest, edited, bare = scenes.add_chain(("a",)), scenes.add_chain(("a",)), scenes.add_armature("Bare", [])
    rest.data.pose_position = "REST"
    edit(edited)
    for ob, message in ((rest, "rest position"), (edited, "leave Edit Mode"), (bare, "no bones")):
        with pytest.raises(SceneError, match=message):
            rigs.read_rig(ob)


def test_deform_bones():
    ob = scenes.add_chain(("a", "b", "c"))
    ob.data.bones["b"].use_deform = False
    np.testing.assert_array_equal(rigs.deform_bones(ob), [True, False, True])
    for bone in ob.data.bones:
        bone.use_deform = False
    assert rigs.deform_bones(ob).all()
