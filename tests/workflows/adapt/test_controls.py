"""Adapt on a rig whose bones are moved by controls: a default Rigify human, walking on a floor that is deformed."""


import time

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.workflows.adapt.report import remarks_of, shown_report
from bl_ext.devrepo.motion_loom.workflows.core import live, registry
from bl_ext.devrepo.motion_loom.workflows.rig.control_fit import FITTING

from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests import commands, control_scenes
from tests import rigify_scenes as rigify
from tests.objects import key
from tests.rig_scenes import fingerprint

SAME = 1e-6
FRAMES = rigify.FRAMES[:4]
KEYED = {"torso", "chest", "upper_arm_fk", "forearm_fk", "foot_ik"}
SOLVED = ("ORG-spine", "ORG-spine.003", "ORG-thigh.L", "ORG-shin.R", "ORG-foot.L", "ORG-upper_arm.R", "ORG-hand.L")


@pytest.fixture(scope="module")
def bound_file(tmp_path_factory):
    """A walking default human, bound to its floor."""
    folder = tmp_path_factory.mktemp("controls")
    bpy.ops.wm.open_mainfile(filepath=str(rigify.save_human(folder)))
    rig = bpy.data.objects["rig"]
    chosen = rig.motion_loom_adapt
    chosen.use_range, chosen.start, chosen.end = True, int(FRAMES[0]), int(FRAMES[-1])
    play.bind(rig, ("Floor",))
    return play.save(folder / "bound.blend")


@pytest.fixture
def human(bound_file):
    bpy.ops.wm.open_mainfile(filepath=bound_file)
    return bpy.data.objects["rig"]


def wave(height=0.06):
    scenes.deform("Floor", lambda v: v + np.outer(height * np.sin(3.0 * v[:, 1] + v[:, 0]), [0.0, 0.0, 1.0]))
    bpy.context.view_layer.update()


def poses(rig, frames=FRAMES):
    """(F, B, 4, 4) armature space, as Blender evaluates them."""
    out = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame))
        bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        out.append([np.array(bone.matrix) for bone in bones])
    return np.array(out)


def keyed_bones(action):
    curves = actions.playing_curves(action, play.slot_of(action))
    return {bone[0] for curve in curves if (bone := actions.bone_of_path(curve.data_path))}


def constraints(rig):
    return [(bone.name, each.name, each.mute) for bone in rig.pose.bones for each in bone.constraints]


def test_what_carries_the_body_is_solved_and_the_rest_rides(human):
    entries = {item.name: item for item in human.motion_loom_adapt.joints}
    assert {entries[name].role for name in SOLVED} == {"SOLVED"}
    assert entries["DEF-shin.L"].carrier == "ORG-shin.L" and entries["DEF-hand.R"].carrier == "ORG-hand.R"
    solved = [item.name for item in human.motion_loom_adapt.joints if item.role == "SOLVED"]
    assert not any(name.startswith(("MCH", "DEF")) for name in solved), solved


def test_a_result_is_keys_of_the_controls_that_the_source_keys(human, capsys):
    """Nothing is muted or switched off, and the report tells how near the rig comes to what was solved."""
    before, mechanics, source = poses(human), constraints(human), human.animation_data.action
    print_of_source = fingerprint(source)
    wave()
    found = commands.run(capsys, "adapt", "--rig", "rig")
    action, told = human.animation_data.action, found["controls"]
    assert action != source and fingerprint(source) == print_of_source
    assert constraints(human) == mechanics and found["silenced_constraints"] == []
    assert {name.partition(".")[0] for name in keyed_bones(action)} == KEYED
    assert set(told["written"]) <= keyed_bones(source)
    after = poses(human)
    feet = [human.pose.bones.find(f"DEF-foot.{side}") for side in "LR"]
    assert np.abs(after - before)[:, feet, 2, 3].max() > 0.005
    assert 0.0 < told["away_mm"] < 60.0 and told["away_bone"] in human.data.bones
    assert told["bones"] > 20 and told["away_frame"] in FRAMES
    report = shown_report(human, registry.by_id("adapt"))
    first = remarks_of(report)[0]
    assert f"{told['away_mm']:.1f} mm" in first.text and first.bone == told["away_bone"]
    assert report.missing.splitlines() == told["over"]
    human.motion_loom_adapt.show_ghost = human.motion_loom_adapt.show_contacts = False
    shown = registry.by_id("adapt").overlay(bpy.context, human)
    assert (shown is not None) == bool(told["over"])
    report.missing = "DEF-shin.L"
    assert len(registry.by_id("adapt").overlay(bpy.context, human).lines)


def test_nothing_changes_where_nothing_was_changed(human):
    before = poses(human)
    play.press(human, "bake")
    np.testing.assert_allclose(poses(human), before, atol=1e-5)


def test_live_is_bake_and_leaves_no_trace(human):
    source, known = human.animation_data.action, set(bpy.data.objects) | set(bpy.data.scenes)
    mechanics = constraints(human)
    play.press(human)
    wave()
    assert play.status(human).problem is None and play.status(human).track == "READY"
    shown = poses(human)
    play.press(human, "bake")
    np.testing.assert_allclose(poses(human), shown, atol=SAME)
    assert constraints(human) == mechanics
    assert set(bpy.data.objects) | set(bpy.data.scenes) == known
    play.play_source(human)
    assert human.animation_data.action == source


def test_a_drag_shows_limbs_and_pelvis_before_the_track_is_fitted(human):
    play.press(human)
    with play.interactive():
        play.settle()
        bpy.context.scene.frame_set(3)
        feet = [human.pose.bones.find(f"DEF-foot.{side}") for side in "LR"]
        before = poses(human, [3])[0, feet]
        wave()
        assert play.status(human).track == "WAITING"
        dragged = poses(human, [3])[0, feet]
        assert np.abs(dragged - before).max() > 0.005
        play.settle()
        assert play.status(human).track == "READY"
        fitted = poses(human, [3])[0, feet]
    assert np.linalg.norm(fitted[:, :3, 3] - dragged[:, :3, 3], axis=-1).max() < 0.03


def test_a_change_while_the_controls_are_fitted_begins_anew(human):
    play.press(human)
    with play.interactive():
        play.settle()
        wave()
        (run,) = live.live_runs.runs.values()
        for _ in range(2000):
            live._tick()
            if run.job is not None:
                run.job.wait()
            if run.rest is not None:
                break
            time.sleep(0.001)
        assert len(bpy.data.scenes) == 2, "the controls are fitted on a private copy"
        wave()
        assert run.rest is None
        play.settle()
        assert play.status(human).track == "READY"
    assert len(bpy.data.scenes) == 1


@pytest.mark.slow
def test_a_reopened_rig_goes_on_live(human, tmp_path):
    play.press(human)
    human = play.reopen(tmp_path / "live.blend", "rig")
    wave()
    bpy.context.scene.frame_set(1)
    assert play.status(human).problem is None and play.status(human).track == "READY"
    shown = poses(human)
    play.press(human, "bake")
    np.testing.assert_allclose(poses(human), shown, atol=SAME)


def test_a_rig_whose_mechanism_was_changed_is_to_be_bound_again(human):
    human.pose.bones["DEF-shin.L"].constraints[0].subtarget = "root"
    told = play.refused(human, "bake")
    assert "The constraints of 'rig' have changed since it was bound" in told and "bind again" in told
    assert human.motion_loom_adapt.result is None
    play.press(human, "fit")
    play.press(human, "bake")


def allow(human, *names):
    """Let results be written to these controls alone."""
    human.data.bones.active = human.data.bones[names[0]]
    for bone in human.pose.bones if hasattr(human.pose.bones[0], "select") else human.data.bones:
        bone.select = bone.name in names
    assert bpy.ops.motion_loom.adapt_only_selected() == {"FINISHED"}


def press_written_to(human, **chosen):
    for name, value in chosen.items():
        setattr(human.motion_loom_adapt, name, value)
    play.press(human, "bake")


def switch_of(human, limb="thigh_parent.L"):
    return human.pose.bones[limb]["IK_FK"]


def test_legs_are_written_to_fk_and_their_switch_goes_back_with_the_source(human):
    assert switch_of(human) == 0.0
    wave()
    press_written_to(human, write_to="FK")
    names = keyed_bones(human.animation_data.action)
    assert {"thigh_fk.L", "shin_fk.L", "foot_fk.R"} <= names
    bpy.context.scene.frame_set(3)
    assert switch_of(human) == 1.0
    play.play_source(human)
    bpy.context.scene.frame_set(3)
    assert switch_of(human) == 0.0


@pytest.mark.slow
def test_with_both_written_the_switch_does_not_change_the_pose(human):
    wave()
    press_written_to(human, write_to="BOTH", trunk="SPINE_FK")
    assert {"thigh_fk.L", "foot_ik.L"} <= keyed_bones(human.animation_data.action)
    legs = [human.pose.bones.find(name) for name in ("DEF-shin.L", "DEF-foot.L", "DEF-foot.R")]
    before = poses(human)[:, legs]
    for side in "LR":
        human.pose.bones[f"thigh_parent.{side}"]["IK_FK"] = 1.0
    np.testing.assert_allclose(poses(human)[:, legs], before, atol=2e-2)


def test_only_chosen_controls_are_written(human):
    wave()
    allow(human, "foot_ik.L", "torso")
    press_written_to(human, bake_at_keys=True)
    source, own = human.motion_loom_adapt.source, human.animation_data.action
    chest, foot = (actions.bone_path(*each) for each in (("chest", "rotation_euler"), ("foot_ik.L", "location")))
    slots = play.slot_of(source), play.slot_of(own)
    for path, index, is_same in ((chest, 1, True), (foot, 2, False)):
        curves = (actions.find_curve(*each, path, index) for each in zip((source, own), slots, strict=True))
        first, second = map(actions.keys_of, curves)
        assert (first.shape == second.shape and np.array_equal(first, second)) == is_same
    allow(human, "shin_fk.L")
    assert "(shin_fk.L) is one that a result would be written to" in play.refused(human, "bake")
    assert bpy.ops.motion_loom.adapt_all_controls() == {"FINISHED"}
    assert all(item.use for item in human.motion_loom_adapt.controls)


def test_commands_say_what_is_written(human, capsys):
    wave()
    words = ["--write-to", "as-keyed", "--trunk", "main", "--only-controls", "torso", "chest", "head"]
    found = commands.run(capsys, "adapt", "--rig", "rig", *words)
    assert set(found["controls"]["written"]) == {"torso", "chest", "head"}
    told = commands.refused(capsys, "adapt", "--rig", "rig", "--only-controls", "nobody")
    assert "'nobody' is no control of 'rig'" in told


@pytest.mark.slow
def test_what_live_wrote_to_other_controls_goes_back(human):
    before = poses(human)
    play.press(human)
    wave()
    shown = poses(human)
    human.motion_loom_adapt.write_to = "FK"
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(3)
    assert switch_of(human) == 1.0
    human.motion_loom_adapt.write_to = "AS_KEYED"
    bpy.context.view_layer.update()
    np.testing.assert_allclose(poses(human), shown, atol=SAME)
    human.motion_loom_adapt.write_to = "FK"
    bpy.context.view_layer.update()
    play.press(human)
    assert human.animation_data.action == human.motion_loom_adapt.source
    np.testing.assert_allclose(poses(human), before, atol=SAME)


def test_a_home_made_leg_keeps_its_ik_and_gets_its_goal_keyed():
    bpy.ops.wm.read_homefile(use_empty=True)
    rig = control_scenes.animate_leg(control_scenes.add_leg())
    scenes.add_grid("Floor", (-1.0, 1.0), (-1.0, 1.0), cells=20)
    bpy.context.scene.frame_end = 8
    play.bind(rig, ("Floor",))
    mechanics, before = constraints(rig), poses(rig, control_scenes.FRAMES)
    wave(0.04)
    play.press(rig, "bake")
    assert constraints(rig) == mechanics
    assert keyed_bones(rig.animation_data.action) <= set(control_scenes.CONTROLS)
    foot = rig.pose.bones.find("e")
    assert np.abs(poses(rig, control_scenes.FRAMES) - before)[:, foot, 2, 3].max() > 0.01
    assert not any("influence" in curve.data_path for curve in actions.playing_curves(*actions.assigned(rig)))


def test_a_planted_goal_that_is_not_keyed_is_written_where_ik_is_asked_for():
    """The pelvis alone is keyed: nothing is switched off, and the foot goes up with its floor."""
    bpy.ops.wm.read_homefile(use_empty=True)
    rig = control_scenes.add_leg()
    key(rig.pose.bones["b"], "location", {1: (0, -0.1, 0), 8: (0, -0.15, 0)})
    rig.pose.bones["e"].constraints[0].owner_space = rig.pose.bones["e"].constraints[0].target_space = "LOCAL"
    rig.pose.bones["e"].constraints[0].mix_mode = "BEFORE"
    scenes.add_grid("Floor", (-1.0, 1.0), (-1.0, 1.0), cells=4)
    bpy.context.scene.frame_end = 8
    play.bind(rig, ("Floor",))
    mechanics, before = constraints(rig), poses(rig, control_scenes.FRAMES)
    bpy.data.objects["Floor"].location.z = 0.04
    bpy.context.view_layer.update()
    play.press(rig, "bake")
    doubt = remarks_of(shown_report(rig, registry.by_id("adapt")))[0].doubt
    assert "'g', which moves" in doubt and "is not written" in doubt and "Write To" in doubt
    play.play_source(rig)
    press_written_to(rig, write_to="IK")
    assert keyed_bones(rig.animation_data.action) == {"b", "g"} and constraints(rig) == mechanics
    assert not any("influence" in curve.data_path for curve in actions.playing_curves(*actions.assigned(rig)))
    moved = (poses(rig, control_scenes.FRAMES) - before)[:, rig.pose.bones.find("e"), 2, 3]
    np.testing.assert_allclose(moved, 0.04, atol=2e-3)


def test_what_is_broken_off_while_controls_are_fitted_leaves_nothing(human):
    known, played = (set(bpy.data.objects), set(bpy.data.scenes), set(bpy.data.actions)), human.animation_data.action
    wave()
    steps = registry.by_id("adapt").bake(bpy.context)
    for _, text in steps:
        if text == FITTING and len(bpy.data.scenes) > 1:
            break
    steps.close()
    assert (set(bpy.data.objects), set(bpy.data.scenes), set(bpy.data.actions)) == known
    assert human.animation_data.action == played and bpy.context.scene.frame_current == 1


@pytest.mark.parametrize("write_to", ["AS_KEYED", "FK"])
def test_after_the_bound_frames_the_source_plays_on(human, write_to):
    """Over some frames what was changed fades, and switches go back to what they are in the source."""
    human.motion_loom_adapt.write_to = write_to
    human.motion_loom_adapt.range_blend = 5
    before = poses(human, rigify.FRAMES)
    wave()
    play.press(human, "live" if write_to == "AS_KEYED" else "bake")
    shown = poses(human, rigify.FRAMES)
    away = np.abs(shown - before)[..., :3, 3].max(axis=(1, 2))
    assert away[:4].min() > 0.01 and away[10:].max() < 2e-5
    if write_to == "AS_KEYED":
        assert away[4:9].max() < away[3] + 0.005 and (np.diff(away[4:10]) < 0.0).all()
        play.press(human, "bake")
        np.testing.assert_allclose(poses(human, rigify.FRAMES), shown, atol=SAME)
