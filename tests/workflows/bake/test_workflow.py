"""Baking an animation as it is: through the command line, on the states a rig can be in."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.workflows.core import registry

from tests import commands
from tests import rig_scenes as scenes
from tests.linked import linked_instead

pytestmark = pytest.mark.versions

FRAMES = np.arange(1, 13)
NAMES = ("hip", "arm.L", 'hand "L"')


@pytest.fixture
def knight():
    """A rig with Bezier keys at frames 1, 4, 9, 12 in every rotation mode, and one on the object."""
    ob = scenes.add_chain(NAMES, name="Knight")
    scenes.animate_at_random(ob)
    ob.keyframe_insert("location", frame=1)
    return ob


def bake(capsys, *words):
    """Run the sub-command on the knight; returns its report."""
    return commands.run(capsys, "bake", "--rig", "Knight", *words)


def refused(capsys, *words):
    """Run the sub-command, which must fail; returns the reason, with nothing changed."""
    before = {action.name: scenes.fingerprint(action) for action in bpy.data.actions}
    reason = commands.refused(capsys, "bake", *words)
    assert {action.name: scenes.fingerprint(action) for action in bpy.data.actions} == before
    return reason


def curves_of(action):
    """Curves by path and index; the action has one slot."""
    slot = action.slots[0] if actions.HAS_SLOTS else None
    assert slot is None or len(action.slots) == 1
    return {(curve.data_path, curve.array_index): curve for curve in actions.all_curves(action, slot)}


def assert_same_curves(new, old, at=FRAMES, moved_to=None):
    moved_to = at if moved_to is None else moved_to
    assert curves_of(new).keys() == curves_of(old).keys()
    for key, curve in curves_of(old).items():
        found = [curves_of(new)[key].evaluate(t) for t in moved_to]
        np.testing.assert_allclose(found, [curve.evaluate(t) for t in at], atol=1e-5)


def test_unchanged_bake_has_identical_curves(knight, capsys):
    source = knight.animation_data.action
    before = scenes.fingerprint(source)
    report = bake(capsys)
    assert report["source"] == source.name and report["action"] == f"{source.name} (baked)"
    assert (report["start"], report["end"], report["keys_per_curve"]) == (1.0, 12.0, 12)
    new = bpy.data.actions[report["action"]]
    assert_same_curves(new, source)
    assert all(len(curve.keyframe_points) == 12 for curve in curves_of(new).values())
    assert knight.animation_data.action == source and scenes.fingerprint(source) == before
    assert new.use_fake_user


def test_trim_step_and_name(knight, capsys):
    report = bake(capsys, "--start", "3", "--end", "10", "--step", "2.5", "--name", "Teil – 1")
    assert report["action"] == "Teil – 1" and report["keys_per_curve"] == 4
    new = bpy.data.actions["Teil – 1"]
    assert_same_curves(new, knight.animation_data.action, at=[3, 5.5, 8, 10])
    curve = next(iter(curves_of(new).values()))
    assert [key.co.x for key in curve.keyframe_points] == [3, 5.5, 8, 10]


def test_another_frame_rate_keeps_the_duration_and_the_last_pose(knight, capsys):
    """A capture at 48 frames a second, imported one to one, lasts half as many of the scene's 24.

    It ends between two frames: the last pose is keyed there, and again at the next frame, where the result ends.
    """
    report = bake(capsys, "--fps", "48")
    assert (report["start"], report["end"], report["keys_per_curve"]) == (1.0, 7.0, 8)
    new = bpy.data.actions[report["action"]]
    moved_to = [1, 2, 3, 4, 5, 6, 6.5, 7]
    assert_same_curves(new, knight.animation_data.action, at=[1, 3, 5, 7, 9, 11, 12, 12], moved_to=moved_to)


@pytest.mark.parametrize("rate", [29.476, 30.0, 48.0, 23.976])
def test_the_pose_after_another_rate_is_the_last_of_the_source(knight, capsys, rate):
    last, _ = scenes.watch(knight, [12])
    report = bake(capsys, "--fps", str(rate), "--assign")
    assert report["end"] == np.ceil(1 + 11 * 24 / rate)
    np.testing.assert_allclose(scenes.watch(knight, [report["end"], 40])[0], np.repeat(last, 2, axis=0), atol=1e-5)


@pytest.mark.parametrize("step", [0.1, 0.7, 3.0])
def test_the_panels_step_does_not_lose_the_last_key(knight, step):
    """Settings hold 0.1 in single precision, of which 110 are a little more than 11 frames."""
    bpy.context.view_layer.objects.active = knight
    settings = registry.by_id("bake").settings_of(knight)
    settings.step, settings.assign = step, True
    assert bpy.ops.motion_loom.bake(workflow="bake") == {"FINISHED"}
    keys = next(iter(curves_of(knight.animation_data.action).values())).keyframe_points
    expected = [1 + step * number for number in range(int(11 / step + 1e-6) + 1)]
    expected += [12] if expected[-1] < 11.99 else []
    np.testing.assert_allclose([key.co.x for key in keys], expected, atol=1e-4)


def test_a_rate_that_differs_by_rounding_makes_no_further_key(knight, capsys):
    """23.976 and 24000 / 1001 are one rate: no key a hair after the last whole frame, and none after that."""
    render = bpy.context.scene.render
    render.fps, render.fps_base = 24, 1.001
    report = bake(capsys, "--fps", "23.976")
    assert (report["end"], report["keys_per_curve"]) == (12.0, 12)


def test_a_strip_plays_like_the_assigned_result(knight, capsys):
    """Mute unless asked to play; before and after its frames it holds."""
    source = knight.animation_data.action
    before, _ = scenes.watch(knight, FRAMES)
    report = bake(capsys, "--strip", "--start", "2", "--end", "9")
    data = knight.animation_data
    assert report["strip"] and data.action == source and data.nla_tracks[0].mute
    np.testing.assert_allclose(scenes.watch(knight, FRAMES)[0], before, atol=1e-6)
    bake(capsys, "--assign", "--start", "2", "--end", "9", "--name", "Assigned")
    seen, _ = scenes.watch(knight, [-3, *FRAMES, 30])
    data.action = source
    if actions.HAS_SLOTS:
        data.action_slot = source.slots[0]
    data.nla_tracks.remove(data.nla_tracks[0])
    report = bake(capsys, "--strip", "--assign", "--start", "2", "--end", "9")
    assert data.action is None and source.use_fake_user and not data.nla_tracks[0].mute
    assert data.nla_tracks[0].name == report["action"] and not bpy.data.actions[report["action"]].use_fake_user
    np.testing.assert_allclose(scenes.watch(knight, [-3, *FRAMES, 30])[0], seen, atol=1e-5)


def test_a_strip_is_refused_while_another_is_tweaked_or_the_nla_is_off(knight, capsys):
    knight.animation_data.use_nla = False
    assert "NLA of 'Knight' is switched off" in refused(capsys, "--rig", "Knight", "--strip")
    assert not len(knight.animation_data.nla_tracks)


def test_assigned_result_plays_and_the_source_is_kept(knight, capsys):
    source = knight.animation_data.action
    poses, _ = scenes.watch(knight, FRAMES)
    report = bake(capsys, "--assign")
    assert knight.animation_data.action.name == report["action"] and source.use_fake_user
    np.testing.assert_allclose(scenes.watch(knight, FRAMES)[0], poses, atol=1e-5)


def test_strips_are_baked_as_they_play(knight, capsys):
    """NLA alone, two strips that overlap by blending, and a constraint that must not be baked in.

    Once only the bones were baked, and what the strips did to the object and to custom properties was lost.
    """
    knight["mood"], knight["on"] = 0.25, False
    for frame, value in ((1, 0.0), (12, 3.0)):
        knight.location.x = knight["mood"] = value
        knight["on"] = value > 1
        for path in ("location", '["mood"]', '["on"]'):
            knight.keyframe_insert(path, frame=frame)
    action, slot = actions.assigned(knight)
    scenes.add_strip(knight, action, slot, 5)
    scenes.add_strip(knight, action, slot, 11).blend_type = "COMBINE"
    knight.animation_data.action = None
    limit = knight.pose.bones["arm.L"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.owner_space = True, "LOCAL"
    frames = np.arange(5, 23)
    poses, worlds = scenes.watch(knight, frames)
    bpy.context.scene.frame_set(16)
    mood = knight["mood"]
    report = bake(capsys)
    assert (report["source"], report["start"], report["end"]) == ("Knight", 5.0, 22.0)
    new = bpy.data.actions[report["action"]]
    knight.animation_data.use_nla = False
    actions.assign(knight, new, new.slots[0] if actions.HAS_SLOTS else None)
    for found, expected in zip(scenes.watch(knight, frames), (poses, worlds), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-5)
    bpy.context.scene.frame_set(16)
    assert knight["mood"] == pytest.approx(mood, abs=1e-5)
    assert {key.interpolation for key in curves_of(new)['["on"]', 0].keyframe_points} == {"CONSTANT"}


@pytest.mark.skipif(not actions.HAS_SLOTS, reason="slots came with Blender 4.4")
def test_only_the_rigs_own_slot_is_baked(knight, capsys):
    action = knight.animation_data.action
    other = action.slots.new(id_type="OBJECT", name="Other")
    actions.write_curve(actions.curve_list(action, other, create=True), "location", 0, None, [1, 99], [0, 1])
    report = bake(capsys)
    assert report["end"] == 12.0
    assert [slot.identifier for slot in bpy.data.actions[report["action"]].slots] == ["OBKnight"]


def test_switches_stay_switches_and_muted_curves_muted(knight, capsys):
    for frame, hidden in ((1, False), (7, True)):
        knight.hide_viewport = hidden
        knight.keyframe_insert("hide_viewport", frame=frame)
    muted = actions.all_curves(*actions.assigned(knight))[0]
    muted.mute = True
    report = bake(capsys)
    curves = curves_of(bpy.data.actions[report["action"]])
    kept = curves[muted.data_path, muted.array_index]
    assert kept.mute and len(kept.keyframe_points) == 4
    switch = curves["hide_viewport", 0]
    assert {key.interpolation for key in switch.keyframe_points} == {"CONSTANT"}
    assert [switch.evaluate(t) for t in (1, 6.5, 7)] == [0, 0, 1]


def test_saved_result_survives_reopening(knight, capsys, tmp_path):
    source = knight.animation_data.action.name
    out = tmp_path / "out.blend"
    report = bake(capsys, "--output", str(out))
    bpy.ops.wm.open_mainfile(filepath=str(out))
    assert_same_curves(bpy.data.actions[report["action"]], bpy.data.actions[source])


# -------------------------------------------------------------------------------------------------- refusals


def test_wrong_objects_are_named(knight, capsys):
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Cube", None))
    assert "did you mean 'Knight'?" in refused(capsys, "--rig", "Knigt")
    assert "'Cube' is of type EMPTY; choose an armature" in refused(capsys, "--rig", "Cube")
    scenes.add_chain(("a",), name="Idle")
    assert "'Idle' has no action" in refused(capsys, "--rig", "Idle")


@pytest.mark.parametrize(
    "words, reason",
    [
        (
            ("--start", "9", "--end", "3"),
            "The range 9 to 3 is empty; the animation of 'Knight' runs from 1 to 12",
        ),
        (("--start", "13"), "The range 13 to 12 is empty"),
        (("--start", "nan"), "The range of 'Knight', nan to 12, is endless or not a number"),
        (("--end", "inf"), "The range of 'Knight', 1 to inf, is endless or not a number"),
        (("--start", "1e300"), "beyond the frames that Blender has, -1,048,574 to 1,048,574"),
        (("--start", "-1048575"), "The range of 'Knight', -1,048,575 to 12, goes beyond the frames"),
        (("--end", "1048575"), "The range of 'Knight', 1 to 1,048,575, goes beyond the frames"),
        (("--end", "1048574"), "more than the 1,000,000 frames"),
        (("--end", "1000000", "--fps", "12", "--step", "3"), "at that rate, 1 to 1,999,999, goes beyond"),
        (("--step", "0"), "The step cannot be 0"),
        (("--step", "nan"), "The step cannot be nan"),
        (("--step", "inf"), "The step cannot be inf; use 0.0001 to 1,000,000"),
        (("--step", "5e-324"), "The step cannot be 4.94066e-324"),
        (("--fps", "-3"), "The frame rate cannot be -3"),
        (("--fps", "inf"), "The frame rate cannot be inf"),
        (("--fps", "5e-324"), "The frame rate cannot be"),
    ],
)
def test_bad_ranges_are_named(knight, capsys, words, reason):
    assert reason in refused(capsys, "--rig", "Knight", *words)


def test_muted_action_and_tweak_mode_are_named(knight, capsys):
    action, slot = actions.assigned(knight)
    for curve in actions.all_curves(action, slot):
        curve.mute = True
    assert "has only muted curves" in refused(capsys, "--rig", "Knight")
    scenes.add_strip(knight, action, slot, 1).select = True
    knight.animation_data.action = None
    knight.animation_data.nla_tracks[0].select = True
    knight.animation_data.use_tweak_mode = True
    assert "leave tweak mode" in refused(capsys, "--rig", "Knight")


def test_a_linked_rig_is_refused_with_the_way_out(knight, capsys, tmp_path):
    linked_instead(knight, tmp_path / "library.blend")
    assert "make a library override or a local copy" in refused(capsys, "--rig", "Knight")


# ---------------------------------------------------------------------------------------------------- panel


def test_the_button_bakes_what_the_settings_say(knight):
    bpy.context.view_layer.objects.active = knight
    settings = registry.by_id("bake").settings_of(knight)
    settings.use_range, settings.start, settings.end, settings.assign = True, 2, 8, True
    assert bpy.ops.motion_loom.bake(workflow="bake") == {"FINISHED"}
    curve = next(iter(curves_of(knight.animation_data.action).values()))
    assert [key.co.x for key in curve.keyframe_points] == list(range(2, 9))


def test_the_button_says_why_it_is_grey(knight):
    bake_workflow = registry.by_id("bake")
    bpy.context.view_layer.objects.active = knight
    assert bake_workflow.poll(bpy.context, "bake") is None
    knight.animation_data_clear()
    assert "'Knight' has no action" in bake_workflow.poll(bpy.context, "bake")
    bpy.context.view_layer.objects.active = None
    assert bake_workflow.poll(bpy.context, "bake") == "Select an armature."


def test_a_name_that_blender_would_cut_is_refused(knight, capsys):
    """Whoever looks for the action by the name that was given would not find it."""
    longest = bpy.types.ID.bl_rna.properties["name"].length_max - 1
    for name in ("n" * (longest + 1), "ä" * (longest // 2 + 1)):
        reason = refused(capsys, "--rig", "Knight", "--name", name)
        assert f"'{name}' has {longest + 1} bytes" in reason and "choose a shorter --name" in reason
    assert bake(capsys, "--name", "n" * longest)["action"] == "n" * longest
