"""What is said of results on controls: locked goals, simulated targets, and what rides or stays."""

import bpy
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.workflows.adapt.report import remarks_of, shown_report
from bl_ext.devrepo.motion_loom.workflows.core import registry

from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests import commands, control_scenes
from tests.objects import add_object


def new_leg():
    bpy.ops.wm.read_homefile(use_empty=True)
    rig = control_scenes.animate_leg(control_scenes.add_leg())
    scenes.add_grid("Floor", (-1.0, 1.0), (-1.0, 1.0), cells=4)
    bpy.context.scene.frame_end = 8
    return rig


def lift_floor():
    bpy.data.objects["Floor"].location.z = 0.05
    bpy.context.view_layer.update()


def lock(rig, *axes):
    goal = rig.pose.bones["g"]
    goal.lock_location = [axis in axes for axis in "xyz"]
    if len(axes) == 3:
        goal.lock_rotation = (True, True, True)


@pytest.mark.parametrize("axes", ["xyz", "z"])
@pytest.mark.parametrize("when", ["before Bind", "after Bind"])
def test_a_locked_goal_is_named_where_its_bone_misses_its_place(axes, when, capsys):
    rig = new_leg()
    if when == "before Bind":
        lock(rig, *axes)
    play.bind(rig, ("Floor",))
    lock(rig, *axes)
    lift_floor()
    found = commands.run(capsys, "adapt", "--rig", "Rig")
    assert found["controls"]["away_mm"] > 10.0
    doubt = remarks_of(shown_report(rig, registry.by_id("adapt")))[0].doubt
    assert "'g', which moves it, is keyed but locked (unlock it)" in doubt
    assert ("g" in found["controls"]["written"]) == (axes == "z")


def test_live_follows_a_goal_that_gets_locked(capsys):
    rig = new_leg()
    play.bind(rig, ("Floor",))
    play.press(rig)
    lift_floor()
    lock(rig, *"xyz")
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(4)
    note = play.status(rig).note
    assert note and "'g', which moves it, is keyed but locked" in note


def test_controls_neither_ride_nor_stay(capsys):
    """They are keyed; and a solved bone is not told to ride on itself."""
    rig = new_leg()
    play.bind(rig, ("Floor",))
    lift_floor()
    found = commands.run(capsys, "adapt", "--rig", "Rig")
    assert set(found["controls"]["written"]) == {"b", "g", "p"}
    listed = {item.name for item in rig.motion_loom_adapt.controls}
    assert listed.isdisjoint(found["staying"]) and listed.isdisjoint(found["riding"])
    ride = found["measures"]["worst"]["ride"]
    assert ride is None or ride["bone"] != ride["carrier"]


def test_a_simulated_target_is_named(capsys):
    rig = new_leg()
    post = control_scenes.hold_to_moving(rig, "p")
    play.bind(rig, ("Floor",))
    assert "simulated" not in rig.motion_loom_adapt.notes
    post.modifiers.clear()
    ball = bpy.data.objects.new("Ball", bpy.data.objects["Floor"].data.copy())
    bpy.context.scene.collection.objects.link(ball)
    ball.modifiers.new("Cloth", "CLOTH")
    post.parent = ball
    play.press(rig, "fit")
    notes = rig.motion_loom_adapt.notes
    assert "'Ball' is simulated" in notes and "bake it to keyframes" in notes


def test_a_pole_without_keys_is_named_and_written_in_ik(capsys):
    """It stays on the ground's root while the body goes up, so that the knee swings."""
    rig = new_leg()
    drop_keys(rig, "p")
    rig.pose.bones["p"].location = (0.4, -0.5, 0.0)
    play.bind(rig, ("Floor",))
    bpy.data.objects["Floor"].location.z = 0.2
    bpy.context.view_layer.update()
    found = commands.run(capsys, "adapt", "--rig", "Rig")
    assert found["controls"]["away_mm"] > 10.0 and "p" not in found["controls"]["written"]
    assert any("'p', which moves 'c', is not written" in note for note in found["notes"])
    found = commands.run(capsys, "adapt", "--rig", "Rig", "--write-to", "ik")
    assert found["controls"]["away_mm"] < 0.5 and "p" in found["controls"]["written"]


def drop_keys(rig, name):
    held = actions.curve_list(*actions.assigned(rig))
    for curve in [each for each in held.fcurves if actions.bone_of_path(each.data_path)[0] == name]:
        held.fcurves.remove(curve)


@pytest.mark.parametrize("how", ["live, posed", "live, keyed", "posed"])
def test_a_bone_without_keys_that_is_posed_after_bind_counts_as_at_bind(how, capsys):
    """It is not refused; the pose is said to show, and stays, as do keys of a live action."""
    rig = new_leg()
    drop_keys(rig, "p")
    pole = rig.pose.bones["p"]
    pole.location = (0.1, 0.0, 0.0)
    play.bind(rig, ("Floor",))
    lift_floor()
    whole = commands.run(capsys, "adapt", "--rig", "Rig", "--no-assign")
    assert not any("by hand" in note for note in whole["notes"])
    if how.startswith("live"):
        play.press(rig)
    pole.location = (0.3, 0.0, 0.0)
    if how == "live, keyed":
        assert pole.keyframe_insert("location", frame=3)
    bpy.context.view_layer.update()
    report = commands.run(capsys, "adapt", "--rig", "Rig")
    for name in ("measures", "controls"):
        assert report[name] == whole[name]
    noted = [note for note in report["notes"] if "by hand" in note]
    assert bool(noted) == (how != "live, keyed") and all(note.startswith("'p' is posed by hand") for note in noted)
    assert pole.location.x == pytest.approx(0.3, abs=1e-6)
    keyed = {actions.bone_of_path(each.data_path)[0] for each in actions.playing_curves(*actions.assigned(rig))}
    assert ("p" in keyed) == (how == "live, keyed")


def test_what_a_driver_sets_is_not_said_to_be_posed_by_hand(capsys):
    """As the mechanism of a foot roll, which turns with a control from frame to frame."""
    rig = new_leg()
    drop_keys(rig, "p")
    pole, path = rig.pose.bones["p"], 'pose.bones["g"].location[1]'
    control_scenes.add_driver(pole, "rotation_euler", rig, path, "told", index=0)
    play.bind(rig, ("Floor",))
    lift_floor()
    bpy.context.scene.frame_set(8)
    assert pole.rotation_euler.x == pytest.approx(0.3)
    report = commands.run(capsys, "adapt", "--rig", "Rig")
    assert not any("by hand" in note for note in report["notes"])


@pytest.mark.parametrize("carried", [False, True])
def test_goals_that_are_no_bones_are_named(carried, capsys):
    """At Bind, and where a limb misses its place; not what a bone carries, which goes along."""
    rig = new_leg()
    goal = add_object("Goal")
    if carried:
        goal.parent, goal.parent_type, goal.parent_bone = rig, "BONE", "g"
        goal.location.y = -0.2  # from the bone's tail
    else:
        goal.location = (0.1, 0.0, 0.1)
    reach = rig.pose.bones["d"].constraints[0]
    reach.target, reach.subtarget = goal, ""
    bpy.context.view_layer.update()
    play.bind(rig, ("Floor",))
    assert ("'Goal', to which IK pulls 'd', is no bone of the rig" in rig.motion_loom_adapt.notes) == (not carried)
    bpy.data.objects["Floor"].location.z = 0.1
    bpy.context.view_layer.update()
    found = commands.run(capsys, "adapt", "--rig", "Rig")
    assert (found["controls"]["away_mm"] > 10.0) == (not carried)
    told = [note for note in found["notes"] if "misses the place" in note]
    assert all("'Goal', to which IK pulls it, is no bone of the rig" in note for note in told) and bool(told) != carried
