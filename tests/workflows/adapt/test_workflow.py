"""Adapt on a small walker: through the command line, as a user goes through it."""

import json
import os
import subprocess
import sys

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.workflows.core import registry
from bl_ext.devrepo.motion_loom.workflows.environment import problem
from bl_ext.devrepo.motion_loom.workflows.environment.model import stored_of

from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests.adapt_scenes import bones_of, joints_of, raise_step
from tests.commands import adapt, bind, refused, run
from tests.conftest import ROOT
from tests.instance_scenes import scatter
from tests.objects import add_object, into_collection
from tests.rig_scenes import fingerprint

RAISED = "import bpy\nbpy.data.objects['Step'].location.z += 0.12\n"


def test_the_foot_goes_with_the_step(rig, capsys):
    """The right foot comes to stand on the step; the left one stays on the floor until it has passed it."""
    source = rig.animation_data.action
    keys = fingerprint(source)
    before = joints_of(rig, names=["ankle.R", "ankle.L"])
    report = bind(capsys)
    assert report["source"] == "Rig clip" and report["objects"] == ["Floor", "Step"]
    assert "frames 1 to 24" in report["bound"]
    raise_step()
    report = adapt(capsys)
    moved = joints_of(rig, names=["ankle.R", "ankle.L"]) - before
    np.testing.assert_allclose(moved[-6:, 0], np.tile([0, 0, 0.12], (6, 1)), atol=0.012)
    np.testing.assert_allclose(moved[:6, 1], 0, atol=0.012)
    assert report["measures"]["contacts_kept_pct"] > 95 and report["measures"]["penetration_pct"] == 0
    assert report["unconverged_frames"] == 0 and report["write_error_mm"] < 0.1
    assert (report["source"], report["action"]) == ("Rig clip", "Rig clip (adapted)")
    assert rig.animation_data.action.name == "Rig clip (adapted)" and not rig.animation_data.action.use_fake_user
    assert fingerprint(source) == keys and source.users > 0


def test_blender_plays_what_was_solved(bound, capsys, monkeypatch):
    results, steps = [], problem.solver.adapt_steps

    def spy(*args):
        results.append((yield from steps(*args)))
        return results[-1]

    monkeypatch.setattr(problem.solver, "adapt_steps", spy)
    raise_step()
    adapt(capsys)
    order = list(stored_of(bound, scenes.workflow()).binding.track.skeleton.names)
    names = [name for name in bones_of(bound) if name in order]
    solved = results[-1].positions[:, [order.index(name) for name in names]]
    assert len(names) > 10
    np.testing.assert_allclose(joints_of(bound, names=names), solved, atol=1e-4)


def test_saved_reopened_and_changed_gives_the_same_as_in_one_go(rig, capsys, tmp_path):
    """In a process of its own too: python jobs.py, file in, file out, the report as the last line."""
    script, out, bound = tmp_path / "change.py", tmp_path / "out.blend", tmp_path / "bound.blend"
    script.write_text(RAISED)
    plain = play.save(tmp_path / "plain.blend")
    words = ["--environment", "Floor", "Step", "--change", str(script)]
    adapt(capsys, *words)
    once = joints_of(rig)
    done = subprocess.run(
        [sys.executable, ROOT / "jobs.py", "adapt", plain, "--rig", "Rig", *words, "--output", out, "--json"],
        capture_output=True, text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["output"] == str(out) and report["measures"]["contacts_kept_pct"] > 95
    bpy.ops.wm.open_mainfile(filepath=plain)
    bind(capsys, "--output", str(bound))
    bpy.ops.wm.open_mainfile(filepath=str(bound))
    raise_step()
    adapt(capsys)
    np.testing.assert_allclose(joints_of(bpy.data.objects["Rig"]), once, atol=1e-6)
    bpy.ops.wm.open_mainfile(filepath=str(out))
    assert bpy.data.objects["Rig"].animation_data.action.name == report["action"] and "Rig clip" in bpy.data.actions
    np.testing.assert_allclose(joints_of(bpy.data.objects["Rig"]), once, atol=1e-5)


def test_adapting_again_starts_from_the_source(bound, capsys):
    """The result plays while the environment is changed further: it must not be adapted twice."""
    before = joints_of(bound)
    raise_step()
    adapt(capsys)
    once = joints_of(bound)
    again = adapt(capsys)
    assert again["source"] == "Rig clip" and again["action"] == "Rig clip (adapted).001"
    np.testing.assert_allclose(joints_of(bound), once, atol=1e-5)
    raise_step(-0.12)
    adapt(capsys)
    np.testing.assert_allclose(joints_of(bound), before, atol=1e-5)
    assert set(bpy.data.actions.keys()) == {"Rig clip", *(f"Rig clip (adapted){n}" for n in ("", ".001", ".002"))}


@pytest.mark.parametrize("strip", [(), ("--strip",)])
def test_bones_without_keys_go_back_to_where_they_were(rig, capsys, strip):
    """The result keys bones that the source leaves alone; playing the source again must not keep their pose."""
    source, slot = actions.assigned(rig)
    holder = actions.curve_list(source, slot)
    for curve in [c for c in holder.fcurves if '"spine"' in c.data_path or '"elbow' in c.data_path]:
        holder.fcurves.remove(curve)
    before = joints_of(rig)
    bind(capsys)
    raise_step(0.3)
    adapt(capsys, *strip)
    once = joints_of(rig)
    adapt(capsys, *strip)
    np.testing.assert_allclose(joints_of(rig), once, atol=1e-5)
    play.play_source(rig)
    assert rig.animation_data.action == source
    np.testing.assert_allclose(joints_of(rig), before, atol=1e-5)


def test_name_and_no_assign(bound, capsys):
    source = bound.animation_data.action
    before = joints_of(bound)
    raise_step()
    report = adapt(capsys, "--name", "Schritt – hoch", "--no-assign", "--no-measures")
    assert report["action"] == "Schritt – hoch" and "measures" not in report
    assert bound.animation_data.action == source and bpy.data.actions["Schritt – hoch"].use_fake_user
    np.testing.assert_allclose(joints_of(bound), before, atol=1e-6)


@pytest.mark.parametrize("factor", [0.8, 1.2])
def test_a_character_of_another_size(bound, capsys, factor):
    height = joints_of(bound, names=["head"])[..., 2].mean()
    report = adapt(capsys, "--scale", str(factor))
    assert abs(report["character_scale"] - factor) < 1e-4
    assert report["measures"]["contacts_kept_pct"] > 95
    head, ankle = np.moveaxis(joints_of(bound, names=["head", "ankle.R"])[..., 2], 1, 0)
    assert abs(head.mean() / height - factor) < 0.08
    # The foot stands on the step as before, its ankle as much higher as the foot has grown.
    assert abs(ankle[-1] - scenes.STEP_HEIGHT - 0.1 * factor) < 0.03


def foot(rig):
    """Where the right one is in the end (3,)."""
    return joints_of(rig, names=["ankle.R"])[-1, 0]


def test_modes_influence_and_objects_that_are_not_named(bound, capsys):
    """Avoid does not follow a step that sinks, and gives way to one that rises; Ignore does neither."""
    source, moved = foot(bound)[2], []
    for height, *words in (
        (-0.12, "--mode", "Step=ATTACH"), (-0.12, "--mode", "Step=AVOID"), (0.12, "--mode", "Step=AVOID"),
        (0.12, "--mode", "Step=IGNORE"), (-0.12, "--mode", "Step=ignore"),
        (0.12, "--mode", "Step=ATTACH", "--influence", "Step=0"),
        (-0.12, "--influence", "Step=1", "--environment", "Floor"), (-0.12, "--mode", "Step=ATTACH"),
    ):  # fmt: skip
        raise_step(height)
        adapt(capsys, *words)
        moved.append(foot(bound)[2] - source)
        raise_step(-height)
    attached, avoided, gave_way, *ignored, attached_again = moved
    assert attached < -0.1 and attached_again < -0.1 and gave_way > 0.09
    assert max(abs(height) for height in (avoided, *ignored)) < 0.02, moved


def test_no_collision_no_limits_orientation_and_hold(bound, capsys):
    """A choice that is repeated replaces the one before."""
    bpy.data.objects["Floor"].rotation_euler.x = 0.15
    report = adapt(capsys, "--no-collision", "--no-limits", "--orientation", "0", "--hold", "ankle.L=2", "toe.L=4")
    settings = bound.motion_loom_adapt
    assert settings.clearance == "OFF" and not settings.limits and settings.orientation == 0
    assert report["unconverged_frames"] == 0
    adapt(capsys, "--hold", "ankle.L=4")
    assert [(item.bone, item.factor) for item in settings.bones] == [("ankle.L", 4), ("toe.L", 4)]


def test_a_pin_holds_a_hand(bound, capsys):
    target = add_object("Rail: end")
    target.location = joints_of(bound, names=["wrist.L"])[11, 0] + [0.05, 0.1, 0.1]
    report = adapt(capsys, "--pin", "wrist.L=Rail: end:10:14", "--name", "Pinned")
    seen = joints_of(bound, names=["wrist.L"])[9:14, 0]
    np.testing.assert_allclose(seen, np.tile(target.location, (5, 1)), atol=0.01)
    assert "wrist.L" in report["changed_bones"] or "elbow.L" in report["changed_bones"]


@pytest.mark.parametrize("moves", (False, True))
def test_a_pin_at_an_object_of_an_excluded_collection(bound, capsys, moves):
    """Blender has it where it was when the collection was excluded."""
    target = add_object("Handle")
    layer = into_collection(target)
    pin = bound.motion_loom_adapt.pins.add()
    pin.bone, pin.target, pin.start, pin.end = "wrist.R", target, 1, 24
    layer.exclude = True
    target.location = (-0.3, 0.3, 1.6)
    if moves:
        target.keyframe_insert("location", frame=1)
    reason = refused(capsys, "adapt", "--rig", "Rig")
    assert "'Handle' is hidden, excluded or not in this view layer" in reason
    layer.exclude = False
    adapt(capsys)
    np.testing.assert_allclose(joints_of(bound, names=["wrist.R"])[11, 0], (-0.3, 0.3, 1.6), atol=0.01)


def test_a_renamed_object_stays_bound(bound, capsys):
    bpy.data.objects["Step"].name = 'Podest "neu"'
    bpy.data.objects['Podest "neu"'].location.z += 0.12
    report = adapt(capsys, "--influence", 'Podest "neu"=1')
    assert report["measures"]["contacts_kept_pct"] > 95
    assert foot(bound)[2] > scenes.STEP_HEIGHT + 0.1 + 0.1


def test_a_stone_that_is_an_instance_on_the_floor(rig, capsys):
    """The floor shows it by geometry nodes that do not realize it: one sees one object, and stands on the stone."""
    bpy.data.objects.remove(bpy.data.objects["Step"])
    points = scatter(bpy.data.objects["Floor"], ((0, 0.95, 0),))[0]
    box = next(node for node in points.id_data.nodes if node.bl_idname == "GeometryNodeMeshCube")
    box.inputs["Size"].default_value = (1.2, 1.3, 2 * scenes.STEP_HEIGHT)
    before = foot(rig)
    run(capsys, "bind", "--rig", "Rig", "--environment", "Floor")
    box.inputs["Size"].default_value[2] += 0.2
    adapt(capsys)
    assert 0.09 < (foot(rig) - before)[2] < 0.11


def test_collections_are_bound_by_their_objects(rig, capsys):
    scenes.add_collection("Set", bpy.data.objects["Floor"], bpy.data.objects["Step"])
    report = run(capsys, "bind", "--rig", "Rig", "--environment", "Set")
    assert sorted(report["objects"]) == ["Floor", "Step"]


def test_a_range_is_bound_and_the_rest_left_out(rig, capsys):
    report = bind(capsys, "--start", "13", "--end", "24")
    assert "frames 13 to 24" in report["bound"]
    raise_step()
    report = adapt(capsys)
    # Over ten frames before them, and one more, it goes back to the source, whose first key stays.
    assert report["frames"] == 12 and report["keys_per_curve"] == 12 + 11
    counts = [len(c.keyframe_points) for c in actions.all_curves(*actions.assigned(rig))]
    assert set(counts) == {24} and len(counts) > report["curves"]


def test_the_buttons_bind_and_bake(rig):
    workflow = registry.by_id("adapt")
    assert workflow.poll(bpy.context, "fit") == "Add the objects that the motion deals with."
    for name in ("Floor", "Step"):
        bpy.data.objects[name].select_set(True)
    assert bpy.ops.motion_loom.adapt_add_objects() == {"FINISHED"}
    assert workflow.poll(bpy.context, "bake") == "Bind the motion to its environment first."
    play.press(rig, "fit")
    raise_step()
    play.press(rig, "bake")
    assert rig.animation_data.action.name == "Rig clip (adapted)"
