"""What is measured of rigs by posing their controls."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene.control_candidates import locked_keys
from bl_ext.devrepo.motion_loom.scene.control_probe import probe_rig
from bl_ext.devrepo.motion_loom.scene.metarig import metarig_parents
from bl_ext.devrepo.motion_loom.scene.motion import source_of
from bl_ext.devrepo.motion_loom.solvers.controls.measured_rig import measured_rig
from bl_ext.devrepo.motion_loom.solvers.core.errors import SceneError

from tests.control_scenes import CONTROLS, FRAMES, add_driver, add_leg, animate_leg, hang_by_choice, id_counts
from tests.objects import drive, key, key_custom
from tests.rig_scenes import add_chain, animate_at_random
from tests.rigify_scenes import save_human


def measured(ob):
    return measured_rig(probe_rig(bpy.context, ob, FRAMES))


def names_of(rig, bones):
    return [rig.rig.names[bone] for bone in bones]


def tree_of(rig):
    """Each carrier with the one that it hangs on."""
    names = [*names_of(rig, rig.carriers), None]
    return {name: names[parent] for name, parent in zip(names, rig.carrier_parents, strict=False)}


def rider(rig, control, state=0):
    """The carrier on which a control rides."""
    number = names_of(rig, rig.controls).index(control)
    return (names_of(rig, rig.carriers) + [None])[rig.riders[state, number]]


def test_a_leg_by_constraints_is_measured_without_names():
    ob = animate_leg(add_leg())
    before = id_counts()
    rig = measured(ob)
    assert id_counts() == before
    # What constraints look at, what is keyed, and the bones that a key of the IK's influence would free.
    assert set(names_of(rig, rig.controls)) == {*CONTROLS, "c", "d"} - {"a"}
    assert tree_of(rig) == {"b": None, "c": "b", "d": "c", "e": "d"}
    assert (rider(rig, "b"), rider(rig, "g"), rider(rig, "p")) == ("b", "e", None)
    assert set(names_of(rig, rig.verified)) == set("bcde")


def test_the_carriers_of_a_rigify_human_are_those_of_its_metarig(tmp_path):
    bpy.ops.wm.open_mainfile(filepath=str(save_human(tmp_path)))
    ob = bpy.data.objects["rig"]
    before = id_counts()
    rig = measured(ob)
    assert id_counts() == before
    tree = tree_of(rig)
    assert all(name.startswith("ORG-") for name in tree) and len(tree) == 27
    assert [name for name, parent in tree.items() if parent is None] == ["ORG-spine"]
    chains = (
        ("spine", "spine.001", "spine.002", "spine.003", "spine.004", "spine.005", "spine.006"),
        ("spine", "thigh.L", "shin.L", "foot.L", "toe.L"),
        ("spine.003", "shoulder.R", "upper_arm.R", "forearm.R", "hand.R"),
    )
    for chain in chains:
        for parent, name in zip(chain, chain[1:], strict=False):
            assert tree[f"ORG-{name}"] == f"ORG-{parent}"
    assert rider(rig, "torso") == "ORG-spine" and rider(rig, "foot_ik.L") == "ORG-foot.L"
    assert rider(rig, "upper_arm_fk.R") == "ORG-upper_arm.R" and rider(rig, "thigh_fk.L") is None


def test_all_is_said_where_no_bone_could_be_keyed():
    ob = add_chain(("hip", "chest"))
    animate_at_random(ob)
    for bone in ob.pose.bones:
        bone.lock_location = bone.lock_rotation = (True, True, True)
    with pytest.raises(SceneError, match="All channels .* are locked .'hip', 'chest'"):
        probe_rig(bpy.context, ob, FRAMES)
    for bone in ob.pose.bones:
        bone.lock_location = bone.lock_rotation = (False, False, False)
        hold = bone.constraints.new("COPY_TRANSFORMS")
        hold.target = bpy.data.objects.new("Post", None)
    with pytest.raises(SceneError, match="no bone that could be keyed.*Copy Deform Bones"):
        probe_rig(bpy.context, ob, FRAMES)


def probe_with(change):
    """Remarks about the leg after a change to it, and its controls by name."""
    ob = animate_leg(add_leg())
    change(ob)
    probe = probe_rig(bpy.context, ob, FRAMES)
    return probe.remarks, [probe.rig.names[bone] for bone in probe.controls]


def test_what_is_keyed_and_moves_nothing_is_named():
    def drop_pole(ob):
        ob.pose.bones["d"].constraints[0].pole_target = None

    remarks, controls = probe_with(drop_pole)
    assert any("'p' is keyed, but moves no bone" in remark for remark in remarks) and "p" not in controls


def test_what_is_keyed_and_locked_is_named():
    def lock(ob):
        ob.pose.bones["p"].lock_location = ob.pose.bones["p"].lock_rotation = (True, True, True)

    remarks, controls = probe_with(lock)
    assert any("'p' is keyed, but its channels are locked" in remark for remark in remarks) and "p" not in controls


def test_drivers_that_do_not_work_are_named():
    def break_driver(ob):
        driver = ob.pose.bones["e"].constraints[0].driver_add("influence").driver
        driver.type, driver.expression = "SCRIPTED", "no_such_name + 1"

    remarks, _controls = probe_with(break_driver)
    assert any("driver" in remark for remark in remarks)


def test_driven_channels_are_not_free():
    ob = animate_leg(add_leg())
    drive(ob.pose.bones["b"], "location", "0.0", index=1)
    drive(ob.pose.bones["p"], "rotation_euler", "0.0", index=0)
    probe = probe_rig(bpy.context, ob, FRAMES)
    free = dict(zip([probe.rig.names[bone] for bone in probe.controls], probe.free.tolist(), strict=True))
    assert free["b"] == [True, False, True, True, True, True] and not free["p"][3]


def test_shapes_tell_controls_and_what_is_keyed_beside_them():
    ob = animate_leg(add_leg())
    shape = bpy.data.objects.new("Shape", None)
    for name in "agc":
        ob.pose.bones[name].custom_shape = shape
    probe = probe_rig(bpy.context, ob, FRAMES)
    assert {probe.rig.names[bone] for bone in probe.controls} == set("abgpc")


def test_all_bones_of_an_imported_rig_deform_but_goals_and_poles_carry_nothing():
    ob = animate_leg(add_leg())
    for bone in ob.data.bones:
        bone.use_deform = True
    rig = measured(ob)
    assert set(names_of(rig, rig.carriers)) == set("abcde")


def test_the_plan_of_a_generated_rig_is_read(monkeypatch):
    ob = add_chain(("ORG-hip", "mch", "ORG-leg"), name="Made")
    plan = add_chain(("hip", "leg", "lost"), name="Plan")
    monkeypatch.setattr(
        bpy.types.Armature, "rigify_target_rig", bpy.props.PointerProperty(type=bpy.types.Object), raising=False
    )
    assert metarig_parents(ob) is None
    plan.data.rigify_target_rig = ob
    assert metarig_parents(ob).tolist() == [-1, -2, 0]
    monkeypatch.undo()  # the add-on is switched off
    assert metarig_parents(ob).tolist() == [-1, -2, 0]


def test_bones_that_depend_on_each_other_in_a_circle_are_named():
    def in_a_circle(ob):
        for bone, other in (("b", "c"), ("c", "b")):
            hold = ob.pose.bones[bone].constraints.new("COPY_LOCATION")
            hold.target, hold.subtarget, hold.use_offset, hold.influence = ob, other, True, 0.9

    remarks, _controls = probe_with(in_a_circle)
    assert any("circle" in remark for remark in remarks)


def test_two_keyed_controls_of_the_same_bones_are_named():
    ob = animate_leg(add_leg())
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    again = ob.data.edit_bones.new("h")
    again.head, again.tail, again.parent = (0.1, 0, 0.1), (0.1, -0.2, 0.1), ob.data.edit_bones["g"]
    again.use_deform = False
    bpy.ops.object.mode_set(mode="OBJECT")
    for each in (ob.pose.bones["d"].constraints[0], ob.pose.bones["e"].constraints[0]):
        each.subtarget = "h"
    ob.pose.bones["h"].rotation_mode = "XYZ"
    key(ob.pose.bones["h"], "rotation_euler", {1: (0, 0, 0), 8: (0.1, 0, 0)})
    assert any("'g' and 'h' carry the same bones" in remark for remark in measured(ob).remarks)
    assert not measured(animate_leg(add_leg("Other"))).remarks


@pytest.mark.parametrize("in_strip", [False, True])
def test_the_states_that_occur_are_found_in_actions_and_strips(in_strip):
    ob = animate_leg(add_leg())
    control = ob.pose.bones["g"]
    key_custom(control, "s", {1: 0.0, 4: 0.0, 5: 1.0, 8: 1.0})
    driver = ob.pose.bones["d"].constraints[0].driver_add("influence").driver
    variable = driver.variables.new()
    driver.type, path = "AVERAGE", 'pose.bones["g"]["s"]'
    variable.targets[0].id, variable.targets[0].data_path = ob, path
    if in_strip:
        data = ob.animation_data
        action, data.action = data.action, None
        data.nla_tracks.new().strips.new("Late", 101, action)
    frames = FRAMES + 100 * in_strip
    before = id_counts()
    probe = probe_rig(bpy.context, ob, frames)
    assert probe.switches == (path,) and id_counts() == before
    assert {0.0, 1.0} <= set(probe.occurring.ravel().tolist())
    assert sorted(probe.states.ravel().tolist()) == [0.0, 1.0]


def test_a_rotation_that_is_locked_in_part_is_no_lock():
    """Rigify's thigh_ik swings about one axis: it was named as locked, to be unlocked, wherever a knee was off."""
    ob = animate_leg(add_leg())
    goal, source = ob.pose.bones["g"], source_of(ob)
    goal.lock_rotation = (True, False, True)
    assert not locked_keys(ob, *source)
    goal.lock_rotation = (True, True, True)
    assert set(locked_keys(ob, *source)) == {"g"}
    goal.lock_rotation, goal.lock_location = (False, False, False), (False, False, True)
    assert set(locked_keys(ob, *source)) == {"g"}


def test_a_choice_among_several_is_a_switch_in_the_states_that_occur():
    """As the parents that Rigify offers: only those that are keyed are posed, and a text is none."""
    ob = animate_leg(add_leg())
    path = hang_by_choice(ob)
    ob["text"] = "none"
    add_driver(ob.pose.bones["e"].constraints[0], "influence", ob, '["text"]', "1.0 if told else 1.0")
    ob.pose.bones["c"].lock_rotation = (True, True, True)  # else the leg itself has a switch
    probe = probe_rig(bpy.context, ob, FRAMES)
    assert probe.switches == (path,) and probe.ends.tolist() == [[0.0, 2.0]]
    assert probe.states.ravel().tolist() == [0.0, 2.0] and not probe.limb_switches.any()
    assert ob.pose.bones["g"]["hangs_on"] == 2, "what the rig was posed by on its copy is not the user's"
    goal, pelvis = (list(probe.rig.names).index(name) for name in "gb")
    moved = probe.posed[:, probe.groups[0, list(probe.controls).index(pelvis)], goal] - probe.base[:, goal]
    assert np.abs(moved[0]).max() < 1e-6 < 1e-3 < np.abs(moved[1]).max(), "it hangs on the pelvis in the second alone"
