"""Adapt on rigs whose controls hang on more than keys and drivers of the rig itself."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions, control_candidates, private_copies, switching
from mathutils import Matrix

from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests import commands, control_scenes
from tests.control_scenes import add_driver
from tests.objects import key

FRAMES = control_scenes.FRAMES
UP = 0.04


@pytest.fixture
def leg():
    """A leg in IK that steps on a floor, not bound yet."""
    bpy.ops.wm.read_homefile(use_empty=True)
    rig = control_scenes.animate_leg(control_scenes.add_leg())
    scenes.add_grid("Floor", (-1.0, 1.0), (-1.0, 1.0), cells=4)
    bpy.context.scene.frame_end = int(FRAMES[-1])
    return rig


def raised(capsys, name="Floor"):
    """What the command says after an object was raised."""
    bpy.data.objects[name].location.z += UP
    bpy.context.view_layer.update()
    return commands.run(capsys, "adapt", "--rig", "Rig")


def heads(rig):
    """(F, D, 3) of deform bones, world space, as Blender evaluates them."""
    out = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(int(frame))
        bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        out.append([rig.matrix_world @ bone.head for bone in bones if bone.bone.use_deform])
    return np.array(out)


def test_a_copy_that_moves_otherwise_than_the_rig_is_named(leg, capsys, monkeypatch):
    """A tail was 0.8 m off while the report, measured on the copy, told 0.0 mm."""
    carried = control_scenes.hold_to_carried(leg, "e", "b")
    carried.matrix_parent_inverse = Matrix.Rotation(0.7, 4, "X")
    play.bind(leg, ("Floor",))
    assert not any("copy of the rig" in note for note in raised(capsys)["notes"])
    play.play_source(leg)
    monkeypatch.setattr(private_copies, "point_to", setattr)
    found = [note for note in raised(capsys)["notes"] if "copy of the rig" in note]
    assert len(found) == 1 and "'e'" in found[0] and "Copy Deform Bones" in found[0]


def key_influences(rig, values):
    for name in "de":
        key(rig.pose.bones[name].constraints[0], "influence", values)


@pytest.mark.parametrize("shown", [1, 8])
def test_influences_that_are_keyed_count_at_each_frame_whichever_is_seen(leg, capsys, shown):
    """Bound where the IK was keyed off, the feet missed the ground by 182 mm: its goals "moved no bone"."""
    key_influences(leg, {1: 1.0, 3: 1.0, 5: 0.0, 8: 0.0})
    before = heads(leg)
    bpy.context.scene.frame_set(shown)
    play.bind(leg, ("Floor",))
    raised(capsys)
    np.testing.assert_allclose(heads(leg) - before, np.broadcast_to([0.0, 0.0, UP], before.shape), atol=1e-3)


@pytest.mark.parametrize("write_to", ["FK", "BOTH"])
def test_an_influence_that_is_keyed_is_switched_as_a_property_is(leg, capsys, write_to):
    key_influences(leg, {1: 1.0})
    before = heads(leg)
    play.bind(leg, ("Floor",))
    leg.motion_loom_adapt.write_to = write_to
    told = raised(capsys)
    np.testing.assert_allclose(heads(leg) - before, np.broadcast_to([0.0, 0.0, UP], before.shape), atol=1e-3)
    assert {"c", "d"} <= set(told["controls"]["written"])
    assert any('["IK"].influence is keyed to 0' in note for note in told["notes"]) == (write_to == "FK")
    play.play_source(leg)
    np.testing.assert_allclose(heads(leg), before, atol=1e-5)


def by_armature(rig):
    rig.data["way"] = 1.0
    for name in "de":
        add_driver(rig.pose.bones[name].constraints[0], "influence", rig.data, '["way"]', "told", "ARMATURE")


def locked(rig):
    rig.pose.bones["c"].lock_rotation = (True, True, True)


def test_ik_that_nothing_switches_is_switched_by_keys_of_its_influence(leg, capsys):
    """Write To FK left it as it was, with a note."""
    reach = leg.pose.bones["d"].constraints["IK"]
    before = heads(leg)
    play.bind(leg, ("Floor",))
    leg.motion_loom_adapt.write_to = "FK"
    told = raised(capsys)
    path = reach.path_from_id("influence")
    assert any(note == f"{path} is keyed to 0 over the bound frames" for note in told["notes"])
    assert {"c", "d"} <= set(told["controls"]["written"]) and "p" not in told["controls"]["written"]
    np.testing.assert_allclose(heads(leg) - before, np.broadcast_to([0.0, 0.0, UP], before.shape), atol=5e-4)
    assert actions.find_curve(*actions.assigned(leg), path) is not None
    play.play_source(leg)
    np.testing.assert_allclose(heads(leg), before, atol=1e-5)
    assert reach.influence == 1.0
    with_live = press_live(leg)
    np.testing.assert_allclose(with_live - before, np.broadcast_to([0.0, 0.0, UP], before.shape), atol=5e-4)
    play.press(leg)
    assert reach.influence == 1.0
    np.testing.assert_allclose(heads(leg), before, atol=1e-5)


def press_live(rig):
    play.press(rig)
    assert play.is_ready(rig)
    return heads(rig)


def test_a_rig_that_was_bound_before_its_influence_counted_says_so(leg, capsys, monkeypatch):
    with monkeypatch.context() as then:
        for module in (switching, control_candidates):
            then.setattr(module, "plain_chains", lambda _ob, _source: [])
        play.bind(leg, ("Floor",))
    leg.motion_loom_adapt.write_to = "FK"
    (said,) = [note for note in raised(capsys)["notes"] if "written to FK" in note]
    assert "'IK' on 'd'" in said and "bind again" in said


@pytest.mark.parametrize("switch", [by_armature, locked])
def test_a_limb_that_cannot_be_switched_is_named(leg, capsys, switch):
    """Write To FK did nothing, and said nothing: of an armature's property, or where a bone is locked."""
    switch(leg)
    play.bind(leg, ("Floor",))
    said = [note for note in raised(capsys)["notes"] if "written to FK" in note]
    assert not said
    leg.motion_loom_adapt.write_to = "FK"
    said = [note for note in commands.run(capsys, "adapt", "--rig", "Rig")["notes"] if "written to FK" in note]
    assert len(said) == 1 and "'d' and " in said[0]
    assert ("""'["way"]' of 'Rig'""" if switch is by_armature else "'IK' on 'd'") in said[0]


def test_a_switch_that_was_keyed_after_bind_is_named(leg, capsys):
    play.bind(leg, ("Floor",))
    key_influences(leg, {1: 1.0})
    assert any("Rotation\"].influence' switches" in note and "bind again" in note for note in raised(capsys)["notes"])


def hang_goal(rig, keyed):
    """The goal of the leg hangs on a box, which may itself move."""
    box = scenes.add_grid("Box", (-0.1, 0.1), (-0.1, 0.1), cells=1)
    box.location = (0.1, 0.2, -0.1)
    if keyed:
        key(box, "location", {1: (0.1, 0.2, -0.1), 8: (0.1, 0.25, -0.1)})
    hang = rig.pose.bones["g"].constraints.new("CHILD_OF")
    hang.target = box
    bpy.context.view_layer.update()
    hang.inverse_matrix = box.matrix_world.inverted()
    return box


@pytest.mark.parametrize("listed", [True, False], ids=["in the set", "beside it"])
@pytest.mark.parametrize("keyed", [False, True], ids=["still", "keyed"])
def test_what_a_goal_hangs_on_may_be_moved(leg, capsys, tmp_path, keyed, listed):
    """The way to carry a box or to stand on one: it was refused, and drivers were blamed."""
    box = hang_goal(leg, keyed)
    before = heads(leg)
    play.bind(leg, ("Floor", "Box") if listed else ("Floor",))
    leg = play.reopen(tmp_path / "bound.blend")
    box = bpy.data.objects["Box"]
    if keyed:
        curve = actions.find_curve(*actions.assigned(box), "location", 2)
        for point in curve.keyframe_points:
            point.co.y += UP
        curve.update()
    else:
        box.location.z += UP
    told = raised(capsys)
    np.testing.assert_allclose(heads(leg) - before, np.broadcast_to([0.0, 0.0, UP], before.shape), atol=1e-3)
    assert told["controls"]["away_mm"] < 1.0 and not any("copy of the rig" in note for note in told["notes"])
    shown = heads(leg)
    play.play_source(leg)
    play.press(leg)
    np.testing.assert_allclose(heads(leg), shown, atol=play.SAME)


def test_what_cannot_be_stood_in_for_is_named(leg):
    """A surface that a goal is held to is another one when it was moved."""
    box = hang_goal(leg, keyed=False)
    hold = leg.pose.bones["g"].constraints.new("SHRINKWRAP")
    hold.target = box
    play.bind(leg, ("Floor",))
    box.location = (0.3, 0.5, 0.2)
    bpy.context.view_layer.update()
    said = play.refused(leg, "bake")
    assert "drivers make it" in said and "It also depends on 'Box'" in said


def test_controls_that_are_locked_in_part_are_named(leg, capsys):
    """A pelvis that was keyed and locked, and might turn, left the body 145 mm off without a word."""
    leg.pose.bones["b"].lock_location = (True, True, True)
    leg.pose.bones["p"].lock_rotation = (True, True, True)  # of which nothing moves
    play.bind(leg, ("Floor",))
    notes = leg.motion_loom_adapt.notes.splitlines()
    assert notes == ["'b' moves by its location, of which channels are locked: nothing is written to these"]
    leg.pose.bones["g"].lock_rotation[0] = True
    said = [note for note in raised(capsys)["notes"] if "locked after Bind" in note]
    assert len(said) == 1 and said[0].startswith("'g' ")
