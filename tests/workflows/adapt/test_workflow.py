"""Adapt on a small walker: through the command line, as a user goes through it."""

import json
import os
import subprocess
import sys

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.workflows.core import registry
from bl_ext.devrepo.motion_loom.workflows.environment import bind as environment_bind
from bl_ext.devrepo.motion_loom.workflows.environment import problem

from tests import adapt_scenes as scenes
from tests.conftest import ROOT
from tests.instance_scenes import scatter
from tests.rig_scenes import fingerprint

RAISED = "import bpy\nbpy.data.objects['Step'].location.z += 0.12\n"


@pytest.fixture
def rig():
    return scenes.add_scene()


@pytest.fixture
def solved(monkeypatch):
    """The solver's results, in the order of the calls."""
    results, steps = [], problem.solver.adapt_steps

    def spy(*args):
        result = yield from steps(*args)
        results.append(result)
        return result

    monkeypatch.setattr(problem.solver, "adapt_steps", spy)
    return results


def run(capsys, *words):
    """A command that must succeed; returns its report."""
    code = jobs.main([*words, "--json"])
    seen = capsys.readouterr()
    assert code == 0, seen.err
    return json.loads(seen.out.splitlines()[-1])


def bind(capsys, *words):
    return run(capsys, "bind", "--rig", "Rig", "--environment", "Floor", "Step", *words)


def adapt(capsys, *words):
    return run(capsys, "adapt", "--rig", "Rig", *words)


def raise_step(height=0.12):
    bpy.data.objects["Step"].location.z += height
    bpy.context.view_layer.update()


def played(rig, names, frames=scenes.FRAMES):
    """(F, K, 3) heads of bones as Blender plays them."""
    order = [bone.name for bone in rig.data.bones]
    return scenes.joints_of(rig, frames)[:, [order.index(name) for name in names]]


def bones_of(rig):
    return [bone.name for bone in rig.data.bones]


def test_the_foot_goes_with_the_step(rig, capsys):
    """The right foot comes to stand on the step; the left one stays on the floor until it has passed it."""
    source = rig.animation_data.action
    keys = fingerprint(source)
    before = played(rig, ["ankle.R", "ankle.L", "toe.R"])
    report = bind(capsys)
    assert report["source"] == "Rig clip" and report["objects"] == ["Floor", "Step"]
    assert "frames 1 to 24" in report["bound"]
    raise_step()
    report = adapt(capsys)
    after = played(rig, ["ankle.R", "ankle.L", "toe.R"])
    np.testing.assert_allclose((after - before)[-6:, 0], np.tile([0, 0, 0.12], (6, 1)), atol=0.012)
    np.testing.assert_allclose((after - before)[:6, 1], 0, atol=0.012)
    assert report["measures"]["contacts_kept_pct"] > 95 and report["measures"]["penetration_pct"] == 0
    assert report["unconverged_frames"] == 0 and report["write_error_mm"] < 0.1
    assert (report["source"], report["action"]) == ("Rig clip", "Rig clip (adapted)")
    assert rig.animation_data.action.name == "Rig clip (adapted)" and not rig.animation_data.action.use_fake_user
    assert fingerprint(source) == keys and source.users > 0


def test_blender_plays_what_was_solved(rig, capsys, solved):
    bind(capsys)
    raise_step()
    adapt(capsys)
    names = [name for name in bones_of(rig)]
    positions = solved[-1].positions
    stored, _ = environment_bind.binding_store.load(rig.motion_loom_adapt.binding), None
    order = list(stored[1]["names"])
    seen = played(rig, names)
    for number, name in enumerate(names):
        if name in order:
            np.testing.assert_allclose(seen[:, number], positions[:, order.index(name)], atol=1e-4, err_msg=name)


def test_nothing_changed_gives_the_source_again(rig, capsys):
    before = played(rig, bones_of(rig))
    bind(capsys)
    report = adapt(capsys)
    assert report["changed_bones"] == []
    np.testing.assert_allclose(played(rig, bones_of(rig)), before, atol=1e-5)


def test_saved_reopened_and_changed_gives_the_same_as_in_one_go(rig, capsys, tmp_path):
    script = tmp_path / "change.py"
    script.write_text(RAISED)
    plain, bound = str(tmp_path / "plain.blend"), str(tmp_path / "bound.blend")
    bpy.ops.wm.save_as_mainfile(filepath=plain)
    adapt(capsys, "--environment", "Floor", "Step", "--change", str(script))
    once = played(rig, bones_of(rig))
    bpy.ops.wm.open_mainfile(filepath=plain)
    bind(capsys, "--output", bound)
    bpy.ops.wm.open_mainfile(filepath=bound)
    raise_step()
    adapt(capsys)
    rig = bpy.data.objects["Rig"]
    np.testing.assert_allclose(played(rig, bones_of(rig)), once, atol=1e-6)


def test_a_process_of_its_own(rig, tmp_path):
    """python jobs.py, file in, file out, the report as the last line."""
    script, scene, out = tmp_path / "change.py", tmp_path / "scene.blend", tmp_path / "out.blend"
    script.write_text(RAISED)
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))
    words = ["adapt", str(scene), "--rig", "Rig", "--environment", "Floor", "Step", "--change", str(script)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(ROOT / "jobs.py"), *words, "--output", str(out), "--json"],
        capture_output=True, text=True, timeout=120, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["output"] == str(out) and report["measures"]["contacts_kept_pct"] > 95
    bpy.ops.wm.open_mainfile(filepath=str(out))
    assert bpy.data.objects["Rig"].animation_data.action.name == report["action"]
    assert "Rig clip" in bpy.data.actions


def test_adapting_again_starts_from_the_source(rig, capsys):
    """The result plays while the environment is changed further: it must not be adapted twice."""
    before = played(rig, bones_of(rig))
    bind(capsys)
    raise_step()
    adapt(capsys)
    once = played(rig, bones_of(rig))
    again = adapt(capsys)
    assert again["source"] == "Rig clip" and again["action"] == "Rig clip (adapted).001"
    np.testing.assert_allclose(played(rig, bones_of(rig)), once, atol=1e-5)
    raise_step(-0.12)
    adapt(capsys)
    np.testing.assert_allclose(played(rig, bones_of(rig)), before, atol=1e-5)
    assert set(bpy.data.actions.keys()) == {"Rig clip", *(f"Rig clip (adapted){n}" for n in ("", ".001", ".002"))}


def test_bones_without_keys_go_back_to_where_they_were(rig, capsys):
    """The result keys bones that the source leaves alone; playing the source again must not keep their pose."""
    source, slot = actions.assigned(rig)
    holder = actions.curve_list(source, slot)
    for curve in [c for c in holder.fcurves if '"spine"' in c.data_path or '"elbow' in c.data_path]:
        holder.fcurves.remove(curve)
    before = played(rig, bones_of(rig))
    bind(capsys)
    raise_step(0.3)
    adapt(capsys)
    once = played(rig, bones_of(rig))
    adapt(capsys)
    np.testing.assert_allclose(played(rig, bones_of(rig)), once, atol=1e-5)
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motion_loom.adapt_play_source() == {"FINISHED"}
    assert rig.animation_data.action == source
    np.testing.assert_allclose(played(rig, bones_of(rig)), before, atol=1e-5)


def test_name_and_no_assign(rig, capsys):
    source = rig.animation_data.action
    before = played(rig, bones_of(rig))
    bind(capsys)
    raise_step()
    report = adapt(capsys, "--name", "Schritt – hoch", "--no-assign", "--no-measures")
    assert report["action"] == "Schritt – hoch" and "measures" not in report
    assert rig.animation_data.action == source and bpy.data.actions["Schritt – hoch"].use_fake_user
    np.testing.assert_allclose(played(rig, bones_of(rig)), before, atol=1e-6)


@pytest.mark.parametrize("factor", [0.8, 1.2])
def test_a_character_of_another_size(rig, capsys, factor):
    bind(capsys)
    height = played(rig, ["head"])[:, 0, 2].mean()
    report = adapt(capsys, "--scale", str(factor))
    assert abs(report["character_scale"] - factor) < 1e-4
    assert report["measures"]["contacts_kept_pct"] > 95
    seen = played(rig, ["head", "ankle.R", "toe.R"])
    assert abs(seen[:, 0, 2].mean() / height - factor) < 0.08
    # The foot stands on the step as before, its ankle as much higher as the foot has grown.
    assert abs(seen[-1, 1, 2] - scenes.STEP_HEIGHT - 0.1 * factor) < 0.03


def test_modes_and_influence(rig, capsys):
    """Avoid does not follow a step that sinks, and gives way to one that rises; Ignore does neither."""
    bind(capsys)
    at = {}
    source = played(rig, ["ankle.R"])[-1, 0, 2]
    for height, mode in ((-0.12, "ATTACH"), (-0.12, "AVOID"), (0.12, "AVOID"), (0.12, "IGNORE"), (-0.12, "ignore")):
        raise_step(height)
        adapt(capsys, "--mode", f"Step={mode}")
        at[height, mode] = played(rig, ["ankle.R"])[-1, 0, 2] - source
        raise_step(-height)
    assert at[-0.12, "ATTACH"] < -0.1
    assert abs(at[-0.12, "AVOID"]) < 0.02
    assert at[0.12, "AVOID"] > 0.09
    assert abs(at[0.12, "IGNORE"]) < 0.02 and abs(at[-0.12, "ignore"]) < 0.02
    raise_step()
    adapt(capsys, "--mode", "Step=ATTACH", "--influence", "Step=0")
    assert abs(played(rig, ["ankle.R"])[-1, 0, 2] - source) < 0.02


def test_only_the_named_objects_are_heeded(rig, capsys):
    bind(capsys)
    before = played(rig, bones_of(rig))
    raise_step(-0.12)
    adapt(capsys, "--environment", "Floor")
    assert abs(played(rig, bones_of(rig)) - before).max() < 0.02
    adapt(capsys)
    assert abs(played(rig, bones_of(rig)) - before).max() > 0.1


def test_no_collision_no_limits_orientation_and_hold(rig, capsys):
    bind(capsys)
    bpy.data.objects["Floor"].rotation_euler.x = 0.15
    report = adapt(capsys, "--no-collision", "--no-limits", "--orientation", "0", "--hold", "ankle.L=4", "toe.L=4")
    settings = rig.motion_loom_adapt
    assert settings.clearance == "OFF" and not settings.limits and settings.orientation == 0
    assert {item.bone: item.factor for item in settings.bones} == {"ankle.L": 4, "toe.L": 4}
    assert report["unconverged_frames"] == 0


def test_repeated_choices_replace_each_other(rig, capsys):
    bind(capsys)
    adapt(capsys, "--hold", "ankle.L=4")
    adapt(capsys, "--hold", "ankle.L=2")
    assert [(item.bone, item.factor) for item in rig.motion_loom_adapt.bones] == [("ankle.L", 2)]


def test_a_pin_holds_a_hand(rig, capsys):
    target = bpy.data.objects.new("Rail: end", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = played(rig, ["wrist.L"])[11, 0] + [0.05, 0.1, 0.1]
    bind(capsys)
    report = adapt(capsys, "--pin", "wrist.L=Rail: end:10:14", "--name", "Pinned")
    seen = played(rig, ["wrist.L"])[:, 0]
    np.testing.assert_allclose(seen[9:14], np.tile(target.location, (5, 1)), atol=0.01)
    assert "wrist.L" in report["changed_bones"] or "elbow.L" in report["changed_bones"]


@pytest.mark.parametrize("moves", (False, True))
def test_a_pin_at_an_object_of_an_excluded_collection(rig, capsys, moves):
    """Blender has it where it was when the collection was excluded."""
    bind(capsys)
    target, props = bpy.data.objects.new("Handle", None), bpy.data.collections.new("Props")
    bpy.context.scene.collection.children.link(props)
    props.objects.link(target)
    pin = rig.motion_loom_adapt.pins.add()
    pin.bone, pin.target, pin.start, pin.end = "wrist.R", target, 1, 24
    bpy.context.view_layer.update()
    bpy.context.view_layer.layer_collection.children["Props"].exclude = True
    target.location = (-0.3, 0.3, 1.6)
    if moves:
        target.keyframe_insert("location", frame=1)
    assert jobs.main(["adapt", "--rig", "Rig"]) == 1
    assert "'Handle' is hidden, excluded or not in this view layer" in capsys.readouterr().err
    bpy.context.view_layer.layer_collection.children["Props"].exclude = False
    adapt(capsys)
    np.testing.assert_allclose(played(rig, ["wrist.R"])[11, 0], (-0.3, 0.3, 1.6), atol=0.01)


def test_a_renamed_object_stays_bound(rig, capsys):
    bind(capsys)
    bpy.data.objects["Step"].name = 'Podest "neu"'
    bpy.data.objects['Podest "neu"'].location.z += 0.12
    report = adapt(capsys, "--influence", 'Podest "neu"=1')
    assert report["measures"]["contacts_kept_pct"] > 95
    assert played(rig, ["ankle.R"])[-1, 0, 2] > scenes.STEP_HEIGHT + 0.1 + 0.1


def test_a_stone_that_is_an_instance_on_the_floor(rig, capsys):
    """The floor shows it by geometry nodes that do not realize it: one sees one object, and stands on the stone."""
    bpy.data.objects.remove(bpy.data.objects["Step"])
    points = scatter(bpy.data.objects["Floor"], ((0, 0.95, 0),))[0]
    box = next(node for node in points.id_data.nodes if node.bl_idname == "GeometryNodeMeshCube")
    box.inputs["Size"].default_value = (1.2, 1.3, 2 * scenes.STEP_HEIGHT)
    before = played(rig, ["ankle.R"])
    run(capsys, "bind", "--rig", "Rig", "--environment", "Floor")
    box.inputs["Size"].default_value[2] += 0.2
    adapt(capsys)
    assert 0.09 < (played(rig, ["ankle.R"]) - before)[-1, 0, 2] < 0.11


def test_collections_are_bound_by_their_objects(rig, capsys):
    group = bpy.data.collections.new("Set")
    bpy.context.scene.collection.children.link(group)
    for name in ("Floor", "Step"):
        group.objects.link(bpy.data.objects[name])
    report = run(capsys, "bind", "--rig", "Rig", "--environment", "Set")
    assert sorted(report["objects"]) == ["Floor", "Step"]


def test_a_range_is_bound_and_the_rest_left_out(rig, capsys):
    report = bind(capsys, "--start", "13", "--end", "24")
    assert "frames 13 to 24" in report["bound"]
    raise_step()
    report = adapt(capsys)
    assert report["frames"] == report["keys_per_curve"] == 12
    counts = [len(c.keyframe_points) for c in actions.all_curves(*actions.assigned(rig))]
    # What did not change plays on outside the range as well.
    assert set(counts) == {12, 24} and counts.count(12) == report["curves"]


# ------------------------------------------------------------------------------------------------- the panel


def test_the_buttons_bind_and_bake(rig):
    bpy.context.view_layer.objects.active = rig
    for name in ("Floor", "Step"):
        bpy.data.objects[name].select_set(True)
    workflow = registry.by_id("adapt")
    assert workflow.poll(bpy.context, "fit") == "Add the objects that the motion deals with."
    assert bpy.ops.motion_loom.adapt_add_objects() == {"FINISHED"}
    assert workflow.poll(bpy.context, "bake") == "Bind the motion to its environment first."
    assert bpy.ops.motion_loom.fit(workflow="adapt") == {"FINISHED"}
    raise_step()
    assert bpy.ops.motion_loom.bake(workflow="adapt") == {"FINISHED"}
    assert rig.animation_data.action.name == "Rig clip (adapted)"


def test_the_lists_grow_and_shrink(rig):
    bpy.context.view_layer.objects.active = rig
    settings = rig.motion_loom_adapt
    for name in ("pins", "bones"):
        assert bpy.ops.motion_loom.adapt_add_item(items=name) == {"FINISHED"}
        assert bpy.ops.motion_loom.adapt_remove_item(items=name, index=0) == {"FINISHED"}
        assert bpy.ops.motion_loom.adapt_remove_item(items=name, index=0) == {"CANCELLED"}
    bpy.data.objects["Step"].select_set(True)
    bpy.ops.motion_loom.adapt_add_objects()
    assert bpy.ops.motion_loom.adapt_remove_item(items="surfaces") == {"FINISHED"}
    assert len(settings.surfaces) == 0
