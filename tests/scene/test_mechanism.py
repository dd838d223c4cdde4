"""Whether what moves a rig's bones beside keys is still the same."""

import bpy
import pytest
from bl_ext.devrepo.motion_loom.scene.mechanism import changed_mechanism, mechanism_marks

from tests.control_scenes import add_leg, animate_leg


@pytest.fixture
def leg():
    bpy.ops.wm.read_homefile(use_empty=True)
    return animate_leg(add_leg())


def lengthen(ob):
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    ob.data.edit_bones["b"].tail.z += 0.1
    bpy.ops.object.mode_set(mode="OBJECT")


CHANGES = {
    "constraints": lambda ob: setattr(ob.pose.bones["d"].constraints["IK"], "subtarget", "a"),
    "drivers": lambda ob: ob.pose.bones["d"].constraints["IK"].driver_add("influence"),
    "rotation modes": lambda ob: setattr(ob.pose.bones["g"], "rotation_mode", "ZYX"),
    "bone lengths and rest pose": lengthen,
    "bones": lambda ob: setattr(ob.data.bones["p"], "name", "pole"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_was_changed_is_told(leg, what):
    before = mechanism_marks(leg)
    CHANGES[what](leg)
    after = mechanism_marks(leg)
    assert what in {name for name in after if after[name] != before[name]}
    assert what == "bones" or sum(after[name] != before[name] for name in after) == 1


def test_the_bones_that_have_changed_are_named_and_nothing_else(leg):
    names, before = [bone.name for bone in leg.data.bones], mechanism_marks(leg)
    assert changed_mechanism(leg, before, names) == {}
    for bone in "ag":
        leg.pose.bones[bone].rotation_mode = "ZYX"
    assert changed_mechanism(leg, before, names) == {"rotation modes": "'a' and 1 more"}
    for bone in "ag":
        leg.pose.bones[bone].rotation_mode = "XYZ"
    bpy.context.view_layer.objects.active = leg
    bpy.ops.object.mode_set(mode="EDIT")
    leg.data.edit_bones.remove(leg.data.edit_bones["p"])
    bpy.ops.object.mode_set(mode="OBJECT")
    assert changed_mechanism(leg, before, names) == {"bones": "'p' is gone"}
    assert changed_mechanism(leg, {"constraints": "as it was kept before"}, names) == {"constraints": ""}


def test_poses_names_of_objects_and_influences_do_not_count(leg):
    before = mechanism_marks(leg)
    leg.name = leg.data.name = "Other"
    leg.pose.bones["g"].location.z += 0.3
    leg.pose.bones["d"].constraints["IK"].influence = 0.5
    bpy.context.scene.frame_set(4)
    assert mechanism_marks(leg) == before
