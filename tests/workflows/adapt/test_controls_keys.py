"""Keys of controls that are left out: the error is of the body, as Blender plays it."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.workflows.command_line.words import millimetres

from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests import commands, control_scenes

FRAMES = control_scenes.FRAMES
BODY = ("b", "c", "d", "e")


@pytest.fixture(scope="module")
def bound_file(tmp_path_factory):
    bpy.ops.wm.read_homefile(use_empty=True)
    rig = control_scenes.animate_leg(control_scenes.add_leg())
    rig.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    scenes.add_grid("Floor", (-2.0, 2.0), (-2.0, 2.0), cells=20)
    bpy.context.scene.frame_end = 8
    play.bind(rig, ("Floor",))
    scenes.deform("Floor", lambda v: v + np.outer(0.05 * np.sin(3.0 * v[:, 1] + v[:, 0]), [0.0, 0.0, 1.0]))
    return play.save(tmp_path_factory.mktemp("keys") / "leg.blend")


@pytest.fixture
def rig(bound_file):
    bpy.ops.wm.open_mainfile(filepath=bound_file)
    return bpy.data.objects["Rig"]


def points(rig):
    """(F, P, 3) of the heads of the body's bones, and of points as far from these as the bones are long; metres."""
    out = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(int(frame))
        shown = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        for name in BODY:
            bone = shown.pose.bones[name]
            matrix, length = np.array(shown.matrix_world @ bone.matrix), rig.data.bones[name].length
            out.append([matrix[:3, 3], *(matrix[:3, 3] + length * matrix[:3, k] for k in range(3))])
    return np.array(out).reshape(len(FRAMES), -1, 3)


def baked(rig, capsys, *words):
    report = commands.run(capsys, "adapt", "--rig", "Rig", *words)
    return report, points(rig)


def off(shown, dense):
    return 1000.0 * np.linalg.norm(shown - dense, axis=-1).max()


def test_an_error_that_is_asked_for_is_held_by_the_body(rig, capsys):
    _, dense = baked(rig, capsys)
    counts = []
    for error in (0.02, 0.004, 0.0005):
        report, shown = baked(rig, capsys, "--reduce", str(error))
        assert off(shown, dense) <= 1000.0 * error + 1e-3
        assert report["key_error_mm"] == pytest.approx(off(shown, dense), abs=2e-3)
        counts.append(report["keys"])
    assert counts[0] < counts[1] < counts[2] < report["keys_of_all_frames"]


@pytest.mark.parametrize("words", [["--step", "3"], ["--keys-at-source"], ["--step", "3", "--reduce", "0.001"]])
def test_what_no_error_bounds_is_told_as_it_is(rig, capsys, words):
    _, dense = baked(rig, capsys)
    report, shown = baked(rig, capsys, *words)
    assert off(shown, dense) > 5.0 and report["key_error_mm"] == pytest.approx(off(shown, dense), abs=2e-3)


def test_it_is_of_a_result_that_is_half_faded(rig, capsys):
    """The body is evaluated where the channels lie between the source's and those that were fitted."""
    rig.motion_loom_adapt.influence = 0.5
    _, dense = baked(rig, capsys)
    report, shown = baked(rig, capsys, "--step", "3")
    assert report["key_error_mm"] == pytest.approx(off(shown, dense), abs=2e-3)


def add_switch(rig):
    """A property that both constraints of the leg go by, at IK."""
    rig["ik"] = 1.0
    for bone in "de":
        control_scenes.add_driver(rig.pose.bones[bone].constraints[0], "influence", rig, '["ik"]', "told")


@pytest.mark.parametrize("words", [["--step", "3"], ["--reduce", "0.001"]])
@pytest.mark.parametrize("write_to", ["AS_KEYED", "FK"])
def test_it_is_of_the_body_where_the_result_goes_back_to_its_source(rig, capsys, words, write_to):
    """Bound is the beginning; the error in the fade was of controls, that of a hip too."""
    chosen = rig.motion_loom_adapt
    chosen.use_range, chosen.start, chosen.end, chosen.range_blend, chosen.write_to = True, 1, 3, 5, write_to
    add_switch(rig)
    scenes.deform("Floor", lambda v: v * [1.0, 1.0, 0.0])
    play.bind(rig, ("Floor",))
    scenes.deform("Floor", lambda v: v + [0.0, 0.0, 0.2])
    _, dense = baked(rig, capsys)
    report, shown = baked(rig, capsys, *words)
    apart = 1000.0 * np.linalg.norm(shown - dense, axis=-1).max(axis=1)
    assert any("is keyed to 0" in note for note in report["notes"]) == (write_to == "FK")
    assert write_to == "FK" or apart[3:].max() > 0.3
    assert report["key_error_mm"] == pytest.approx(apart.max(), abs=2e-3)
    if "--reduce" in words:
        assert apart.max() <= 1000.0 * float(words[1]) + 1e-3


def away(shown, meant):
    """Millimetres by which the heads of the body's bones are away from where they were meant to be."""
    return 1000.0 * np.linalg.norm((shown - meant)[:, ::4], axis=-1).max()


@pytest.mark.parametrize("words", [["--step", "7"], ["--keys-at-source"], ["--reduce", "0.02"]])
def test_what_is_measured_is_what_the_keys_play(rig, capsys, words):
    """The body lands where it was solved with a key a frame; the floor is only lifted, so that is known."""
    scenes.deform("Floor", lambda v: v * [1.0, 1.0, 0.0] + [0.0, 0.0, 0.1])
    meant = points(rig) + [0.0, 0.0, 0.1]
    dense, shown = baked(rig, capsys)
    assert away(shown, meant) < 0.5 and dense["controls"]["away_mm"] < 0.5
    report, shown = baked(rig, capsys, *words)
    told, seen = report["controls"], away(shown, meant)
    assert seen > 4.0 and told["away_mm"] == pytest.approx(seen, abs=0.5)
    is_far = "--step" in words
    assert any("there is no key of its controls there" in text for text in report["notes"]) == is_far
    assert report["measures"] != dense["measures"]


def test_what_is_measured_of_half_a_result_is_what_is_played(rig, capsys):
    """Halfway between two goals a knee is elsewhere than halfway between its two places."""
    rig.motion_loom_adapt.influence = 0.5
    with_all, _ = baked(rig, capsys)
    report, _ = baked(rig, capsys, "--step", "7")
    assert report["measures"] != with_all["measures"] and report["controls"] == with_all["controls"]


@pytest.mark.parametrize(("length", "told"), [(0.0, "0 mm"), (0.894, "0.89 mm"), (9.95, "9.9 mm"), (131.4, "131 mm")])
def test_lengths_are_told_without_powers_of_ten(length, told):
    assert millimetres(length) == told


def test_keys_between_frames_are_said_to_move(rig, capsys):
    report, _ = baked(rig, capsys, "--keys-at-source", "--no-assign")
    assert not any("keys between frames" in note for note in report["notes"])
    rig.pose.bones["g"].keyframe_insert("location", frame=5.4)
    play.press(rig, "fit")
    scenes.deform("Floor", lambda v: v + [0.0, 0.0, 0.05])
    report, _ = baked(rig, capsys, "--keys-at-source", "--no-assign")
    assert any("The source has keys between frames (5.4)" in note for note in report["notes"])
    report, _ = baked(rig, capsys, "--step", "2")
    assert not any("keys between frames" in note for note in report["notes"])


@pytest.mark.parametrize("words", [["--step", "3"], ["--reduce", "0.01"]])
def test_a_step_beside_keys_at_source_is_refused(rig, capsys, words):
    action = rig.animation_data.action
    assert "leave " + words[0] in commands.refused(capsys, "adapt", "--rig", "Rig", "--keys-at-source", *words)
    assert rig.animation_data.action == action


def test_an_action_that_is_deleted_while_live_is_said_to_be(rig):
    play.press(rig)
    bpy.data.actions.remove(rig.motion_loom_adapt.source)
    assert "is deleted" in play.refused(rig, "bake")
