"""Rigs that move on beyond their keys, or have none: by curves that repeat, parents, constraints' targets, drivers."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.scene.animated_range import animated_range
from bl_ext.devrepo.motion_loom.scene.motion import motion_range
from bl_ext.devrepo.motion_loom.workflows.adapt import deform_copy
from bl_ext.devrepo.motion_loom.workflows.core import registry
from bl_ext.devrepo.motion_loom.workflows.rig.read import bound_frames

from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests.captured_rigs import follow_points
from tests.commands import bind, refused, run
from tests.objects import add_object, drive, drive_by, key, key_custom
from tests.rig_scenes import add_strip

pytestmark = pytest.mark.versions

KEYS, SCENE = scenes.FRAMES, np.arange(1, 41)
BIND = ("bind", "--rig", "Rig", "--environment", "Floor", "Step")
LIFT = np.array([0.0, 0.0, 0.1])


def lift():
    for name in ("Floor", "Step"):
        bpy.data.objects[name].location.z += LIFT[2]
    bpy.context.view_layer.update()


def add_empty(name, heights=()):
    """An empty with keys of these heights by frame."""
    empty = add_object(name)
    key(empty, "location", dict(heights), index=2)
    return empty


def curves_of(ob):
    return actions.all_curves(*actions.assigned(ob))


@pytest.fixture
def rig():
    """A walker with keys at frames 1 to 24 in a scene of 1 to 40."""
    rig = scenes.add_scene()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = int(SCENE[0]), int(SCENE[-1])
    bpy.context.view_layer.objects.active = rig
    return rig


def repeat(rig):
    """It walks on: its keys are repeated, the hips' from where they have come to."""
    for curve in curves_of(rig):
        modifier = curve.modifiers.new("CYCLES")
        if curve.data_path.endswith('["hips"].location'):
            modifier.mode_before = modifier.mode_after = "REPEAT_OFFSET"


@pytest.fixture
def captured(rig):
    """The walker, moved by constraints alone over frames 1 to 24."""
    follow_points(rig)
    return rig


# -------------------------------------------------------------------------------------------- which frames


def by_parent(rig):
    rig.parent = add_empty("Ship", {1: 0.0, 40: 1.0})


def by_parents_parent(rig):
    rig.parent = add_empty("Deck")
    rig.parent.parent = add_empty("Ship", {1: 0.0, 40: 1.0})


def turned_by(heights):
    """The hips turn as an empty with these keys does."""

    def constrain(rig):
        copy = rig.pose.bones["hips"].constraints.new("COPY_ROTATION")
        copy.target = add_empty("Target", heights)
        return copy

    return constrain


def by_repeated_target(rig):
    target = add_empty("Target", {1: 0.0, 12: 1.0})
    for curve in curves_of(target):
        curve.modifiers.new("CYCLES")
    rig.constraints.new("COPY_LOCATION").target = target


def by_driver(rig):
    drive(rig, "location", "frame / 100", 0)


def by_driver_of_the_scene(rig):
    driver = rig.driver_add("location", 0).driver
    driver.expression, driver.type = "now", "SCRIPTED"
    variable = driver.variables.new()
    variable.name = "now"
    variable.targets[0].id_type, variable.targets[0].id = "SCENE", bpy.context.scene
    variable.targets[0].data_path = "frame_current"


def by_driver_of_another(rig):
    driver = rig.driver_add("location", 0).driver
    variable = driver.variables.new()
    driver.type, variable.type = "AVERAGE", "TRANSFORMS"
    variable.targets[0].id = add_empty("Slider", {1: 0.0, 40: 1.0})


def by_slope(rig):
    hips = next(curve for curve in curves_of(rig) if curve.data_path.endswith('["hips"].location'))
    hips.keyframe_points[-1].co.y += 0.1
    hips.update()
    hips.extrapolation = "LINEAR"


def by_a_curve_without_keys(rig):
    curve = actions.curve_list(*actions.assigned(rig)).fcurves.new("delta_location", index=2)
    curve.modifiers.new("GENERATOR")


def by_repeated_manual_range(rig):
    action, _ = actions.assigned(rig)
    action.use_frame_range, action.frame_start, action.frame_end = True, 1, 24
    repeat(rig)


MOVED_ON = {
    "repeated": repeat,
    "parent": by_parent,
    "its parent": by_parents_parent,
    "target": turned_by({1: 0.0, 40: 1.0}),
    "repeated target": by_repeated_target,
    "driver": by_driver,
    "driver of the scene": by_driver_of_the_scene,
    "driver of another": by_driver_of_another,
    "slope": by_slope,
    "noise": lambda rig: curves_of(rig)[0].modifiers.new("NOISE"),
    "a curve without keys": by_a_curve_without_keys,
    "data of the armature": lambda rig: key_custom(rig.data, "mood", {1: 0.0, 40: 1.0}),
    "repeated manual range": by_repeated_manual_range,
}


@pytest.mark.parametrize("moved", MOVED_ON)
def test_what_moves_on_is_bound_over_the_scenes_range(rig, moved):
    assert motion_range(bpy.context.scene, rig) == (1, 24)
    MOVED_ON[moved](rig)
    assert motion_range(bpy.context.scene, rig) == (1, 40)


def by_its_own_bone(rig):
    copy = rig.pose.bones["head"].constraints.new("COPY_ROTATION")
    copy.target, copy.subtarget = rig, "chest"


def by_a_driver_of_its_own(rig):
    rig["mood"] = 0.0
    drive_by(rig, "location", rig, "mood", 0).expression = "sin(told) + 1"


def by_no_slope(rig):
    for curve in curves_of(rig):
        curve.keyframe_points[-1].co.y = curve.keyframe_points[-2].co.y
        curve.update()
        curve.extrapolation = "LINEAR"


def by_one_repeated_key(rig):
    rig.keyframe_insert("scale", frame=1)
    for curve in curves_of(rig):
        if curve.data_path == "scale":
            curve.modifiers.new("CYCLES")


HELD = {
    "a muted constraint": lambda rig: setattr(turned_by({1: 0.0, 40: 1.0})(rig), "mute", True),
    "a still target": turned_by({30: 1.0}),
    "a target that ends with it": turned_by({1: 0.0, 24: 1.0}),
    "its own bone": by_its_own_bone,
    "a driver of its own": by_a_driver_of_its_own,
    "no slope": by_no_slope,
    "one repeated key": by_one_repeated_key,
}


@pytest.mark.parametrize("held", HELD)
def test_what_ends_with_the_keys_is_bound_over_those(rig, held):
    HELD[held](rig)
    assert motion_range(bpy.context.scene, rig) == (1, 24)


def test_a_mesh_that_goes_with_a_captured_rig_is_read_over_its_capture(captured):
    """Map and Transfer ask for that: a single key on a property of the rig once made it one frame."""
    key_custom(captured, "mood", {1: 1.0})
    skin = scenes.add_grid("Skin", (0, 1), (0, 1))
    skin.modifiers.new("Armature", "ARMATURE").object = captured
    assert animated_range(bpy.context.scene, [skin]) == (1, 24)
    assert animated_range(bpy.context.scene, [bpy.data.objects["Floor"]]) is None


def test_a_scene_beyond_reason_is_refused_with_the_way_out(rig, capsys):
    repeat(rig)
    bpy.context.scene.frame_end = 1_048_574
    assert "1 to 1,048,574, has more than the 100,000 frames" in refused(capsys, *BIND)
    bind(capsys, "--end", "24")
    assert len(bound_frames(bpy.context, rig, None, 30.0)) == 30


# --------------------------------------------------------------------------------------------------- adapting


def test_a_repeated_walk_follows_over_the_scenes_range(rig, capsys):
    repeat(rig)
    before = scenes.joints_of(rig, SCENE)
    report = bind(capsys)
    assert "frames 1 to 40" in report["bound"]
    assert "after frame 40 (its curves go on beyond their keys), which is not bound" in report["notes"][0]
    lift()
    assert run(capsys, "adapt", "--rig", "Rig")["notes"] == report["notes"]
    np.testing.assert_allclose(scenes.joints_of(rig, SCENE), before + LIFT, atol=1e-4)


def test_a_part_of_it_is_told_and_the_whole_body_holds_still_outside(rig, capsys):
    """Bones that had to change stood still there once, while the others walked on."""
    repeat(rig)
    rig.motion_loom_adapt.holds_outside = True
    report = bind(capsys, "--start", "3", "--end", "24")
    assert "before frame 3 and after frame 24" in report["notes"][0]
    bpy.data.objects["Step"].location.z += LIFT[2]
    bpy.context.view_layer.update()
    notes = run(capsys, "adapt", "--rig", "Rig")["notes"]
    assert [note for note in notes if "deeper" not in note] == report["notes"]
    joints = scenes.joints_of(rig, SCENE)
    assert np.ptp(joints[23:], axis=0).max() < 1e-4 and np.ptp(joints[:3], axis=0).max() < 1e-4
    assert np.ptp(joints[2:24], axis=0).max() > 0.1


def test_a_strip_that_does_not_hold_is_told(rig, capsys):
    """After it the rig stands in its rest pose, where the result holds the strip's last one."""
    for report in (bind(capsys), run(capsys, "bake", "--rig", "Rig")):
        assert report["notes"] == []
    strip = add_strip(rig, *actions.assigned(rig), 1)
    rig.animation_data.action = None
    assert bind(capsys)["notes"] == []
    strip.extrapolation = "NOTHING"
    assert "before frame 1 and after frame 24 (strip " in bind(capsys)["notes"][0]


def test_live_says_where_a_part_of_a_repeated_walk_holds_still(rig):
    repeat(rig)
    settings = rig.motion_loom_adapt
    settings.holds_outside = True
    settings.use_range, settings.start, settings.end = True, 1, 24
    play.press(play.bind(rig))
    lift()
    play.press(rig, "live_refresh")
    assert play.status(rig).note == "Frames outside 1 to 24 hold the pose of the nearest one"


def test_bake_action_plays_a_repeated_walk_over_the_scenes_range(rig, capsys):
    repeat(rig)
    before = scenes.joints_of(rig, SCENE)
    report = run(capsys, "bake", "--rig", "Rig", "--assign")
    assert (report["start"], report["end"]) == (1, 40) and "which is not baked" in report["notes"][0]
    np.testing.assert_allclose(scenes.joints_of(rig, SCENE), before, atol=1e-5)


def test_a_copy_of_deform_bones_says_what_it_lacks(rig):
    repeat(rig)
    report = deform_copy.copy_rig(bpy.context, rig)
    assert report["frames"] == 40 and "after frame 40" in report["notes"][-1]
    assert "which is not copied" in report["notes"][-1]


def test_another_speed_says_what_keeps_its_own(rig, capsys):
    by_parent(rig)
    report = run(capsys, "bake", "--rig", "Rig", "--fps", "48", "--end", "24")
    assert "What else moves 'Rig' keeps its own speed: 'Ship' moves on" in report["notes"]


def test_another_rate_says_what_is_left_out_in_frames_of_each(rig, capsys):
    by_driver(rig)
    report = run(capsys, "bake", "--rig", "Rig", "--fps", "48")
    (note,) = [note for note in report["notes"] if "which is not baked" in note]
    assert "after frame 40 of the source" in note
    assert f"the new keys run from frame {report['start']:g} to frame {report['end']:g}" in note


# ------------------------------------------------------------------------------------------ without keys


@pytest.mark.parametrize("has_key", [False, True])
def test_a_captured_rig_without_keys_is_bound_over_the_scenes_range(captured, capsys, has_key):
    """A single key on a custom property once made the range one frame."""
    if has_key:
        key_custom(captured, "mood", {1: 1.0})
    before = scenes.joints_of(captured, KEYS)
    assert "frames 1 to 24" in bind(capsys)["bound"]
    lift()
    run(capsys, "adapt", "--rig", "Rig")
    np.testing.assert_allclose(scenes.joints_of(captured, KEYS), before + LIFT, atol=1e-5)
    play.play_source(captured)
    np.testing.assert_allclose(scenes.joints_of(captured, KEYS), before, atol=1e-6)


def test_a_strip_of_the_result_lets_the_source_be_read_again(captured, capsys):
    """Constraints were off in what was read: a muted strip sets their influence to zero, a muted track does not."""
    before = scenes.joints_of(captured, KEYS)
    bind(capsys)
    lift()
    for words in (("--strip",), ()):
        run(capsys, "adapt", "--rig", "Rig", *words)
        np.testing.assert_allclose(scenes.joints_of(captured, KEYS), before + LIFT, atol=1e-5)


def test_the_buttons_take_it_and_live_follows(captured):
    before = scenes.joints_of(captured, KEYS)
    for name in ("Floor", "Step"):
        captured.motion_loom_adapt.surfaces.add().target = bpy.data.objects[name]
    assert registry.by_id("adapt").poll(bpy.context, "fit") is None
    assert registry.by_id("bake").poll(bpy.context, "bake") is None
    play.press(play.bind(captured))
    lift()
    play.press(captured, "live_refresh")
    np.testing.assert_allclose(scenes.joints_of(captured, KEYS), before + LIFT, atol=1e-5)
    play.press(captured)
    assert captured.animation_data.action is None
    np.testing.assert_allclose(scenes.joints_of(captured, KEYS), before, atol=1e-5)


def test_bake_action_keys_what_constraints_do(captured, capsys):
    before, end = scenes.joints_of(captured, KEYS), bpy.context.scene.frame_end
    bpy.context.scene.frame_end = 1_048_574  # no more frames are baked than can be read
    assert "has more than the 100,000 frames" in refused(capsys, "bake", "--rig", "Rig")
    bpy.context.scene.frame_end = end
    report = run(capsys, "bake", "--rig", "Rig", "--assign")
    assert (report["start"], report["end"], report["keys_per_curve"]) == (1, 24, 24)
    assert "hips: Copy Location" in report["silenced_constraints"] and "influence of constraints" in report["notes"][0]
    for point in [ob for ob in bpy.data.objects if ob.name.startswith("point")]:
        bpy.data.objects.remove(point)
    np.testing.assert_allclose(scenes.joints_of(captured, KEYS), before, atol=1e-5)


def test_another_speed_of_a_captured_rig_is_that_of_all_its_bones(captured, capsys):
    before = scenes.joints_of(captured, KEYS)
    report = run(capsys, "bake", "--rig", "Rig", "--fps", "48", "--assign")
    assert report["end"] == 13 and not any("speed" in note for note in report["notes"])
    np.testing.assert_allclose(scenes.joints_of(captured, np.arange(1, 13)), before[::2], atol=1e-5)


def test_a_rig_that_rides_on_a_parent_alone_is_bound_and_its_bake_refused_by_name(rig, capsys):
    rig.animation_data_clear()
    by_parent(rig)
    before = scenes.joints_of(rig, SCENE)
    assert "frames 1 to 40" in bind(capsys)["bound"]
    lift()
    run(capsys, "adapt", "--rig", "Rig")
    np.testing.assert_allclose(scenes.joints_of(rig, SCENE), before + LIFT, atol=1e-4)
    rig.animation_data_clear()
    reason = refused(capsys, "bake", "--rig", "Rig")
    assert "The bones of 'Rig' do not move by themselves" in reason and "'Ship' moves on" in reason
    assert not any("baked" in action.name for action in bpy.data.actions)


def test_without_keys_and_movers_it_is_refused_by_name(rig, capsys):
    rig.animation_data_clear()
    turned_by({30: 1.0})(rig)
    for words in (BIND, ("bake", "--rig", "Rig")):
        assert "'Rig' has no action" in refused(capsys, *words)
    rig.motion_loom_adapt.surfaces.add().target = bpy.data.objects["Floor"]
    assert "'Rig' has no action" in registry.by_id("adapt").poll(bpy.context, "fit")
    assert "'Rig' has no action" in registry.by_id("bake").poll(bpy.context, "bake")
