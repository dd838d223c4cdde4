"""What constraints of a rig do over time counts as it is at each frame, whichever frame the user sees."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene.control_probe import probe_rig
from bl_ext.devrepo.motion_loom.scene.interference import acting_constraints
from bl_ext.devrepo.motion_loom.scene.motion import read_motion
from bl_ext.devrepo.motion_loom.scene.switching import switching

from tests.control_scenes import FRAMES, add_driver, add_leg, animate_leg
from tests.objects import add_object, drive, key, key_custom

INFLUENCE = 'pose.bones["d"].constraints["IK"].influence'


def reach_of(ob):
    return ob.pose.bones["d"].constraints["IK"]


def keyed(ob):
    key(reach_of(ob), "influence", {1: 1.0, 3: 1.0, 5: 0.0, 8: 0.0})
    return INFLUENCE


def muted(ob):
    key(reach_of(ob), "mute", {1: False, 4: True, 8: True})
    return INFLUENCE.replace("influence", "mute")


def in_strips(ob):
    keyed(ob)
    data = ob.animation_data
    action, data.action = data.action, None
    data.nla_tracks.new().strips.new("Step", 1, action)
    return INFLUENCE


def by_chain(ob):
    """By a property that another one drives, which is keyed."""
    key_custom(ob, "way", {1: 1.0, 3: 1.0, 5: 0.0, 8: 0.0})
    ob["told"] = 0.0
    add_driver(ob, '["told"]', ob, '["way"]', "told")
    add_driver(reach_of(ob), "influence", ob, '["told"]', "told")
    return '["way"]'


def by_armature(ob):
    key_custom(ob.data, "way", {1: 1.0, 3: 1.0, 5: 0.0, 8: 0.0})
    add_driver(reach_of(ob), "influence", ob.data, '["way"]', "told", "ARMATURE")
    return INFLUENCE


def by_object(ob):
    post = add_object("Post")
    key(post, "location", {1: (1, 0, 0), 3: (1, 0, 0), 5: (0, 0, 0), 8: (0, 0, 0)})
    add_driver(reach_of(ob), "influence", post, "location.x", "told")
    return INFLUENCE


def by_bone(ob):
    """By a slider, as home-made rigs have."""
    key(ob.pose.bones["a"], "location", {1: (1, 0, 0), 3: (1, 0, 0), 5: (0, 0, 0), 8: (0, 0, 0)})
    add_driver(reach_of(ob), "influence", ob, 'pose.bones["a"].location[0]', "told")
    return INFLUENCE


WAYS = [keyed, muted, in_strips, by_chain, by_armature, by_object, by_bone]


def shown_at(ob, frame):
    bpy.context.scene.frame_set(int(frame))
    found = probe_rig(bpy.context, ob, FRAMES)
    return found, [found.rig.names[bone] for bone in found.controls]


@pytest.mark.parametrize("way", WAYS)
def test_what_is_found_is_the_same_whichever_frame_is_seen(way):
    """A goal whose IK was keyed off where the user looked "moved no bone", and nothing was written to it."""
    ob = animate_leg(add_leg())
    key(reach_of(ob), "pole_angle", {1: -1.6, 8: -1.2})
    path = way(ob)
    first, controls = shown_at(ob, FRAMES[0])
    assert path in first.switches and {"b", "g", "p"} <= set(controls) and not first.remarks
    ends = first.states[:, first.switches.index(path)]
    assert {0.0, 1.0} <= set(ends.tolist()) and len(first.states) <= 4
    for frame in FRAMES[[4, -1]]:
        again, others = shown_at(ob, frame)
        assert others == controls and again.switches == first.switches
        for name in ("states", "base", "posed"):
            np.testing.assert_array_equal(getattr(again, name), getattr(first, name))


def test_a_property_that_says_whether_a_bone_turns_with_its_parent_is_a_switch():
    """As the hinges of older rigs."""
    ob = animate_leg(add_leg())
    key_custom(ob, "hinge", {1: 1.0, 5: 0.0, 8: 0.0})
    drive(ob.data.bones["d"], "bbone_curveinx", "0.1")  # no switch
    add_driver(ob.data.bones["c"], "use_inherit_rotation", ob, '["hinge"]', "told")
    found, _controls = shown_at(ob, 1)
    assert found.switches == ('["hinge"]', INFLUENCE) and {0.0, 1.0} <= set(found.states[:, 0].tolist())
    np.testing.assert_array_equal(shown_at(ob, 8)[0].posed, found.posed)
    assert np.abs(found.base[0] - found.base[-1]).max() > 1e-3


def test_ik_that_nothing_switches_is_a_switch_where_its_bones_could_be_keyed():
    ob = animate_leg(add_leg())
    assert plain_switches(ob) == {(INFLUENCE, "c"), (INFLUENCE, "d")}
    ob.pose.bones["c"].lock_rotation = (True, True, True)
    assert not plain_switches(ob)
    ob.pose.bones["c"].lock_rotation = (True, False, True)
    ob.pose.bones["g"].custom_shape = shape = add_object("Shape")  # now shapes tell controls from the rest
    assert not plain_switches(ob)
    for name in "cd":
        ob.pose.bones[name].custom_shape = shape
    assert plain_switches(ob)
    hold = ob.pose.bones["c"].constraints.new("COPY_ROTATION")
    assert not plain_switches(ob)
    ob.pose.bones["c"].constraints.remove(hold)
    other = ob.pose.bones["e"].constraints.new("IK")
    other.target, other.subtarget = ob, "b"
    assert not plain_switches(ob), "of two that pull at one limb"


def plain_switches(ob):
    return {(path, bone) for path, bone in switching(ob, (None, None)) if path.endswith("influence")}


def test_what_drives_and_stays_is_no_switch():
    ob = animate_leg(add_leg())
    add_driver(reach_of(ob), "influence", add_object("Post"), "scale.x", "told")
    assert not shown_at(ob, 1)[0].switches


def test_a_muted_constraint_that_keys_let_act_counts():
    ob = animate_leg(add_leg())
    for bone in ob.pose.bones:
        for each in bone.constraints:
            key(each, "mute", {1: False, 4: True})
    bpy.context.scene.frame_set(8)
    assert len(acting_constraints(ob, limits_heeded=False)) == 2
    assert "constraints" in read_motion(bpy.context, ob, FRAMES).sampled_because


def test_switches_are_those_of_the_source_that_is_given():
    ob = animate_leg(add_leg())
    keyed(ob)
    reach_of(ob).influence = 0.0
    assert not list(switching(ob, (None, None)))
