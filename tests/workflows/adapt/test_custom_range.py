"""A part of a motion is bound: before and after it the source plays on, and what was changed fades."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions

from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests.adapt_scenes import joints_of
from tests.commands import adapt, run
from tests.objects import key
from tests.rig_scenes import add_strip, fingerprint

pytestmark = pytest.mark.versions

FIRST, LAST, BLEND = 10, 15, 4
FRAMES, LIFT = np.arange(-3, 31), 0.12
SOURCE = (FRAMES <= FIRST - BLEND - 1) | (FRAMES >= LAST + BLEND + 1)
BOUND = (FRAMES >= FIRST) & (FRAMES <= LAST)
MODES = {"hips": "XYZ", "knee.L": "AXIS_ANGLE", "thigh.R": "ZYX"}


def lift(height=LIFT):
    for name in ("Floor", "Step"):
        bpy.data.objects[name].location.z += height
    bpy.context.view_layer.update()


def sparse(rig):
    """Smooth keys at every fourth frame, several rotation modes, one of them gone round once."""
    for curve in actions.all_curves(*actions.assigned(rig)):
        for point in list(curve.keyframe_points):
            if (point.co.x - 1) % 4 and point.co.x < 24:
                curve.keyframe_points.remove(point)
        for point in curve.keyframe_points:
            point.interpolation = "BEZIER"
            point.handle_left_type = point.handle_right_type = "AUTO_CLAMPED"
        curve.update()
    frames = [1, 5, 9, 13, 17, 21, 24]
    for name, mode in MODES.items():
        bone = rig.pose.bones[name]
        turns = []
        for frame in frames:
            bpy.context.scene.frame_set(frame)
            turns.append(bone.rotation_quaternion.copy())
        bone.rotation_mode = mode
        for frame, turn in zip(frames, turns, strict=True):
            if mode == "AXIS_ANGLE":
                axis, angle = turn.to_axis_angle()
                bone.rotation_axis_angle = angle, *axis
                bone.keyframe_insert("rotation_axis_angle", frame=frame)
            else:
                bone.rotation_euler = turn.to_euler(mode)
                bone.rotation_euler.z += 2.0 * np.pi
                bone.keyframe_insert("rotation_euler", frame=frame)


def part(rig, **settings):
    """The walker bound over some of its frames."""
    chosen = rig.motion_loom_adapt
    for name, value in ({"use_range": True, "start": FIRST, "end": LAST, "range_blend": BLEND} | settings).items():
        setattr(chosen, name, value)
    return play.bind(rig)


def offsets(rig, before, frames=FRAMES):
    """(F, B) metres of each joint from the source."""
    return np.linalg.norm(joints_of(rig, frames) - before, axis=-1)


@pytest.mark.parametrize("edit", [None, sparse])
def test_the_source_plays_outside_and_the_change_fades(rig, edit):
    """The hips held still once, 1.2 m from where the legs walked on."""
    if edit:
        edit(rig)
    part(rig)
    halves = np.arange(-3.0, 30.0, 0.5)
    before, between = joints_of(rig, FRAMES), joints_of(rig, halves)
    source = rig.animation_data.action
    kept = fingerprint(source)
    lift()
    play.press(rig, "bake")
    away = offsets(rig, before)
    hips = away[:, rig.data.bones.find("hips")]
    assert hips[BOUND].min() > 0.9 * LIFT and away[SOURCE].max() < 1e-5
    steps = np.abs(np.diff(hips))
    assert steps.max() < 0.4 * LIFT and steps[np.flatnonzero(BOUND)[[0, -1]] - [1, 0]].max() < 0.2 * LIFT
    outside = (halves <= FIRST - BLEND - 1) | (halves >= LAST + BLEND + 1)
    assert offsets(rig, between, halves)[outside].max() < 1e-4
    assert fingerprint(source) == kept
    for curve in actions.all_curves(*actions.assigned(rig)):
        own = actions.find_curve(source, play.slot_of(source), curve.data_path, curve.array_index)
        keys, theirs = actions.keys_of(own), actions.keys_of(curve)
        for side in (keys[:, 0] < FIRST - BLEND - 1, keys[:, 0] > LAST + BLEND + 1):
            there = theirs[np.isin(theirs[:, 0], keys[side, 0])]
            np.testing.assert_array_equal(there[:, [0, 1, 6]], keys[side][:, [0, 1, 6]])


@pytest.mark.parametrize("first, last, is_told", [(400, 430, True), (-50, -20, True), (20, 60, False)])
def test_a_range_without_any_key_is_told(rig, first, last, is_told):
    part(rig, start=first, end=last)
    notes = rig.motion_loom_adapt.notes
    assert (f"The rig stands still at frames {first} to {last}: '" in notes) == is_told


@pytest.mark.parametrize("edit", [None, sparse])
def test_live_bake_and_command_are_one(rig, edit, capsys):
    if edit:
        edit(rig)
    part(rig)
    before = joints_of(rig, FRAMES)
    between = np.arange(-3.0, 30.0, 0.25)
    play.press(rig)
    lift()
    assert play.is_ready(rig)
    assert play.status(rig).note == f"Frames outside {FIRST} to {LAST} go back to the source over 4 frames"
    followed = play.live_is_bake(rig, frames=between)
    play.play_source(rig)
    report = adapt(capsys)
    np.testing.assert_allclose(joints_of(rig, between), followed, atol=play.SAME)
    assert report["outside"]["before"] and report["outside"]["after"] and report["outside"]["blend"] == BLEND
    steps = np.linalg.norm(np.diff(joints_of(rig, FRAMES) - before, axis=0), axis=-1)
    assert report["outside"]["cm_per_frame"] == pytest.approx(100 * steps[~(BOUND[1:] & BOUND[:-1])].max(), rel=0.1)
    assert any(f"before frame {FIRST} and after frame {LAST}, over 4 frames" in note for note in report["notes"])


@pytest.mark.parametrize("step", [1, 4, 6])
def test_how_fast_it_goes_back_is_told_of_the_keys_that_are_written(rig, step, capsys):
    part(rig)
    before = joints_of(rig, FRAMES)
    lift()
    report = adapt(capsys, "--step", str(step), "--no-measures")
    steps = np.linalg.norm(np.diff(joints_of(rig, FRAMES) - before, axis=0), axis=-1)
    assert report["outside"]["cm_per_frame"] == pytest.approx(100 * steps[~(BOUND[1:] & BOUND[:-1])].max(), rel=0.01)


@pytest.mark.parametrize("frame", [3, FIRST - 1, LAST, LAST + 2, LAST + 2.5, LAST + BLEND + 3])
def test_what_a_drag_shows_is_what_is_written_afterwards(rig, at_any_time, frame):
    sparse(rig)
    part(rig)
    play.press(rig)
    lift()
    at = (int(frame), frame % 1.0)
    bpy.context.scene.frame_set(at[0], subframe=at[1])
    with play.interactive():
        lift(0.05)
        bpy.context.view_layer.update()
        shown = [np.array(bone.head) for bone in rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones]
    play.settle()
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_set(at[0], subframe=at[1])
    now = [np.array(bone.head) for bone in rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones]
    # Between frames curves of the source that did not have to change are smooth.
    np.testing.assert_allclose(shown, now, atol=5e-3 if frame % 1.0 else 2e-5)


def test_blend_0_is_the_source_from_the_next_frame_on(rig):
    part(rig, range_blend=0)
    before = joints_of(rig, FRAMES)
    lift()
    play.press(rig, "bake")
    away = offsets(rig, before)
    assert away[~BOUND].max() < 1e-5 and away[BOUND].max(axis=1).min() > 0.9 * LIFT


def test_another_blend_is_followed_live_without_another_solve(rig, monkeypatch):
    part(rig)
    before = joints_of(rig, FRAMES)
    play.press(rig)
    lift()
    assert play.is_ready(rig)
    monkeypatch.setattr(type(scenes.workflow()), "solve_steps", lambda *_: pytest.fail("solved again"))
    rig.motion_loom_adapt.range_blend = 1
    bpy.context.view_layer.update()
    away = offsets(rig, before).max(axis=1)
    assert play.is_ready(rig)
    assert away[FRAMES == LAST + 1] > 0.02 and away[FRAMES == LAST + 2] < 1e-5


@pytest.mark.parametrize("options", [{"bake_reduce": True, "bake_error": 0.002}, {"bake_step": 3}])
def test_fewer_keys_meet_the_source_as_well(rig, options):
    sparse(rig)
    part(rig, **options)
    before = joints_of(rig, FRAMES)
    lift()
    play.press(rig, "bake")
    away = offsets(rig, before)
    assert away[SOURCE].max() < 1e-4
    hips = away[:, rig.data.bones.find("hips")]
    assert hips[BOUND].min() > 0.9 * LIFT and np.abs(np.diff(hips)).max() < 0.5 * LIFT


def test_curves_that_repeat_go_on_over_the_scenes_frames(rig):
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 40
    for curve in actions.all_curves(*actions.assigned(rig)):
        curve.modifiers.new("CYCLES")
    rig.animation_data.action.update_tag()
    part(rig)
    frames = np.arange(0, 41)
    before = joints_of(rig, frames)
    lift()
    play.press(rig, "bake")
    away = offsets(rig, before, frames)
    assert away[(frames < FIRST - BLEND) | (frames > LAST + BLEND)].max() < 1e-5
    assert away[(frames >= FIRST) & (frames <= LAST)].max(axis=1).min() > 0.9 * LIFT


def test_one_end_of_the_motion_is_no_end_of_its_keys(rig):
    """From the first key on: before it the result holds, as the source does."""
    part(rig, start=1)
    before = joints_of(rig, FRAMES)
    lift()
    play.press(rig, "bake")
    away = offsets(rig, before)
    assert away[FRAMES < 1].max(axis=1).min() > 0.9 * LIFT and away[FRAMES > LAST + BLEND].max() < 1e-5


def test_keys_of_other_bones_and_properties_are_left(rig):
    key(rig, "location", {1: (0, 0, 0), 24: (0, 0.1, 0)})
    part(rig)
    others = {
        c.data_path: actions.keys_of(c) for c in actions.all_curves(*actions.assigned(rig)) if "pose" not in c.data_path
    }
    lift()
    play.press(rig, "bake")
    assert others
    for path, keys in others.items():
        np.testing.assert_array_equal(actions.keys_of(actions.find_curve(*actions.assigned(rig), path)), keys)


def test_an_older_binding_holds_still_until_it_is_told_otherwise(rig, tmp_path):
    part(rig)
    del rig.motion_loom_adapt.binding["goes back"]
    rig = play.reopen(tmp_path / "older.blend")
    chosen = rig.motion_loom_adapt
    assert chosen.holds_outside and "Hold Outside" in chosen.notes
    before = joints_of(rig, FRAMES)
    lift()
    play.press(rig, "bake")
    joints = joints_of(rig, FRAMES)
    assert np.ptp(joints[FRAMES >= LAST], axis=0).max() < 1e-4 < np.abs(joints - before)[-1].max()
    play.play_source(rig)
    chosen.holds_outside = False
    play.press(rig, "bake")
    assert offsets(rig, before)[SOURCE].max() < 1e-5
    assert not play.reopen(tmp_path / "newer.blend").motion_loom_adapt.holds_outside


def test_what_else_there_is_on_the_rig_is_named(rig, capsys):
    action, slot = actions.assigned(rig)
    wave = bpy.data.actions.new("Wave")
    if actions.HAS_SLOTS:
        wave.slots.new(id_type="OBJECT", name="Rig")
        action.slots.new(id_type="OBJECT", name="Second")
    add_strip(rig, wave, play.slot_of(wave), 1, mute_track=True)
    rig.animation_data.action = action
    if actions.HAS_SLOTS:
        rig.animation_data.action_slot = slot
    report = run(capsys, "bind", "--rig", "Rig", "--environment", "Floor", "Step")
    (note,) = [note for note in report["notes"] if "gets no result" in note]
    assert f"'{action.name}'" in note and "strip 'Wave'" in note and "(muted)" in note
    assert ("slot 'Second'" in note) == actions.HAS_SLOTS
