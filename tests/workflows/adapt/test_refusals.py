"""Adapt on what it cannot use: the reason names the culprit and the way out, and nothing is changed."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.workflows.adapt import run as adapt_run
from bl_ext.devrepo.motion_loom.workflows.environment import bind as environment_bind

from tests import adapt_scenes as scenes
from tests import limits
from tests.rig_scenes import add_chain, add_strip, fingerprint
from tests.workflows.adapt.test_workflow import adapt, bind, raise_step, run


@pytest.fixture
def rig():
    return scenes.add_scene()


@pytest.fixture
def bound(rig, capsys):
    bind(capsys)
    return rig


def state():
    """All that must be as it was after a failure."""
    rig = bpy.data.objects["Rig"]
    data = rig.animation_data
    return (
        {action.name: (fingerprint(action), action.use_fake_user) for action in bpy.data.actions},
        data and data.action,
        sorted(mesh.name for mesh in bpy.data.meshes),
        sorted(ob.name for ob in bpy.data.objects),
        rig.motion_loom_adapt.binding,
        rig.motion_loom_adapt.summary,
        [(item.target, item.bound_name) for item in rig.motion_loom_adapt.surfaces],
        [np.array(bone.matrix_basis).tolist() for bone in rig.pose.bones],
        [(c.name, c.mute, c.influence) for bone in rig.pose.bones for c in bone.constraints],
        (bpy.context.scene.frame_current, bpy.context.scene.frame_subframe),
    )


def refused(capsys, command, *words, code=1):
    """The reason why a command fails; it leaves no trace and shows no traceback."""
    bpy.context.view_layer.update()  # drivers are evaluated, whether the command gets as far or not
    before = state()
    assert jobs.main([command, "--rig", "Rig", *words]) == code
    reason = capsys.readouterr().err
    assert "Traceback" not in reason
    assert state() == before
    return reason


def bind_refused(capsys, *words, environment=("Floor", "Step")):
    return refused(capsys, "bind", "--environment", *environment, *words)


# ------------------------------------------------------------------------------------------------- binding


def test_no_action(rig, capsys):
    rig.animation_data_clear()
    assert "'Rig' has no action" in bind_refused(capsys)


def test_muted_action(rig, capsys):
    for curve in actions.all_curves(*actions.assigned(rig)):
        curve.mute = True
    assert "has only muted curves" in bind_refused(capsys)


@pytest.mark.parametrize("words", ["--start 9 --end 3", "--start 99", "--end -5"])
def test_empty_ranges(rig, capsys, words):
    assert "is empty; the animation of 'Rig' runs from 1 to 24" in bind_refused(capsys, *words.split())


def test_a_range_beyond_reason(rig, capsys):
    assert "The range of 'Rig', 1 to 200,000, has more than the 100,000" in bind_refused(capsys, "--end", "2e5")


@pytest.mark.parametrize("number", ["nan", "-inf", "1e300", "-1048575"])
def test_frames_that_blender_does_not_have(rig, capsys, number):
    reason = bind_refused(capsys, f"--start={number}")
    assert "The range of 'Rig', " in reason and ("is endless or" in reason or "goes beyond the frames" in reason)


def test_environments_without_faces_or_surface(rig, capsys):
    scenes.add_mesh("Points", [(0, 0, 0), (1, 0, 0)], [])
    scenes.add_mesh("Line", [(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)])
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Empty", None))
    bpy.context.scene.collection.children.link(bpy.data.collections.new("Nothing"))
    assert "'Points' has no faces" in bind_refused(capsys, environment=("Points",))
    assert "No triangle of 'Line' has any area" in bind_refused(capsys, environment=("Line",))
    assert "'Empty' is of type EMPTY and has no surface" in bind_refused(capsys, environment=("Empty",))
    assert "'Nothing' holds no object with a surface" in bind_refused(capsys, environment=("Nothing",))
    assert "did you mean 'Floor'?" in bind_refused(capsys, environment=("Flor",))
    assert "'Rig' is of type ARMATURE and has no surface" in bind_refused(capsys, environment=("Rig",))


def test_an_environment_far_away(rig, capsys):
    for name in ("Floor", "Step"):
        bpy.data.objects[name].location.z = -50
    assert "No joint comes within" in bind_refused(capsys)


def test_hidden_and_excluded_environments(rig, capsys):
    step = bpy.data.objects["Step"]
    step.hide_viewport = True
    assert "'Step' is hidden, excluded or not in this view layer" in bind_refused(capsys)
    step.hide_viewport = False
    group = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(group)
    bpy.context.scene.collection.objects.unlink(step)
    group.objects.link(step)
    bpy.context.view_layer.layer_collection.children["Away"].exclude = True
    assert "'Step' is hidden, excluded or not in this view layer" in bind_refused(capsys)


@pytest.mark.parametrize("scale, what", [((0, 0, 0), "zero"), ((-1, 1, 1), "negative"), ((1, 1, 2), "unevenly")])
def test_scales_of_the_rig(rig, capsys, scale, what):
    rig.scale = scale
    bpy.context.view_layer.update()
    reason = bind_refused(capsys)
    assert "'Rig'" in reason and what in reason and "Ctrl+A" in reason


def test_a_flat_environment_object(rig, capsys):
    bpy.data.objects["Step"].scale = (1, 1, 0)
    bpy.context.view_layer.update()
    assert "'Step' has a scale of zero" in bind_refused(capsys)


def test_a_rig_that_shows_its_rest_or_is_edited(rig, capsys):
    rig.data.pose_position = "REST"
    assert "shows its rest position" in bind_refused(capsys)
    rig.data.pose_position = "POSE"
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    assert "is being edited" in bind_refused(capsys)
    bpy.ops.object.mode_set(mode="OBJECT")


def test_a_linked_rig(rig, capsys, tmp_path):
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, there):
        there.objects = ["Rig", "Floor", "Step"]
    for ob in there.objects:
        bpy.context.scene.collection.objects.link(ob)
    assert "make a library override or a local copy" in bind_refused(capsys)
    assert "make a library override or a local copy" in refused(capsys, "adapt")


def test_what_the_rig_moves_is_no_environment(rig, capsys):
    """It would collide with itself, and a result would move what it is fitted to."""
    skin = scenes.add_box("Skin", (-0.2, -0.1, 0), (0.2, 0.1, 1.7))
    skin.modifiers.new("Deform", "ARMATURE").object = rig
    reason = bind_refused(capsys, environment=("Floor", "Skin"))
    assert "'Skin' cannot be in the environment of 'Rig', which moves it" in reason and "Deform" in reason
    sword = scenes.add_box("Sword", (0, 0, 0), (0.1, 0.1, 1))
    sword.parent, sword.parent_type, sword.parent_bone = rig, "BONE", "wrist.R"
    assert "'Sword' cannot be in the environment of 'Rig'" in bind_refused(capsys, environment=("Floor", "Sword"))
    gem = scenes.add_box("Gem", (0, 0, 0), (0.1, 0.1, 0.1))
    gem.constraints.new("COPY_LOCATION").target = sword
    reason = bind_refused(capsys, environment=("Gem",))
    assert "'Gem' cannot be in" in reason and "'Sword', parent" in reason


def test_an_environment_whose_faces_come_and_go(rig, capsys):
    modifier = bpy.data.objects["Step"].modifiers.new("Build", "BUILD")
    modifier.frame_start, modifier.frame_duration = 1, 20
    assert "'Step'" in bind_refused(capsys)


# ------------------------------------------------------------------------------------------ changes since bind


def test_not_bound(rig, capsys):
    assert "name its --environment, or run the bind command first" in refused(capsys, "adapt")


def test_changed_topology(bound, capsys):
    step = bpy.data.objects["Step"]
    step.modifiers.new("Bevel", "BEVEL")
    assert "'Step' had 8 vertices at bind, " in (reason := refused(capsys, "adapt")) and "bind --keep" in reason


def test_deleted_and_removed_objects(bound, capsys):
    bpy.data.objects.remove(bpy.data.objects["Step"])
    assert "'Step', which 'Rig' is bound to, was deleted" in refused(capsys, "adapt")
    settings = bound.motion_loom_adapt
    settings.surfaces.remove(1)
    assert "'Step', which 'Rig' is bound to, was taken off the list after bind" in refused(capsys, "adapt")


def test_a_deleted_object_that_blender_keeps(bound, capsys):
    """Deleting in the viewport unlinks; the binding's pointer keeps the datablock alive."""
    bpy.context.scene.collection.objects.unlink(bpy.data.objects["Step"])
    bpy.context.view_layer.update()
    assert "'Step'" in refused(capsys, "adapt")


def test_hidden_since_bind(bound, capsys):
    bpy.data.objects["Step"].hide_viewport = True
    assert "'Step' is hidden" in refused(capsys, "adapt")


def test_renamed_bones(bound, capsys):
    bound.data.bones["ankle.R"].name = "foot"
    assert "'Rig' has no bone 'ankle.R' as it was bound; undo the renaming or bind again" in refused(capsys, "adapt")


def test_an_edited_action(bound, capsys):
    action, slot = actions.assigned(bound)
    curve = next(c for c in actions.all_curves(action, slot) if "thigh.R" in c.data_path and c.array_index == 1)
    for key in curve.keyframe_points:
        key.co.y += 0.2
    curve.update()
    reason = refused(capsys, "adapt")
    assert "The motion of 'Rig' is not the one that was bound" in reason and "thigh.R" in reason


def test_a_swapped_action(bound, capsys):
    other = bound.animation_data.action.copy()
    actions.assign(bound, other, other.slots[0] if actions.HAS_SLOTS else None)
    for curve in actions.all_curves(*actions.assigned(bound)):
        for key in curve.keyframe_points:
            key.co.x += 5
        curve.update()
    assert "assign the bound action or bind again" in refused(capsys, "adapt")


def test_a_removed_action(bound, capsys):
    bound.animation_data_clear()
    assert "'Rig' has no action" in refused(capsys, "adapt")


def test_moved_keys_of_the_root_alone(bound, capsys):
    """No bone points elsewhere, but the body travels another way: that is another motion as well."""
    action, slot = actions.assigned(bound)
    for curve in actions.all_curves(action, slot):
        if curve.data_path == 'pose.bones["hips"].location':
            for key in curve.keyframe_points:
                key.co.y *= 1.5
            curve.update()
    assert "The motion of 'Rig' is not the one that was bound" in refused(capsys, "adapt")


def test_damaged_binding(bound, capsys):
    mesh = bound.motion_loom_adapt.binding
    mesh.vertices[len(mesh.vertices) // 2].co.x += 1.0
    assert "bind again" in refused(capsys, "adapt")


# ----------------------------------------------------------------------------------------------- wrong values


@pytest.mark.parametrize(
    "words, reason",
    [
        (("--mode", "Step=STICK"), "'STICK' is not a mode; give 'Step' ATTACH, AVOID or IGNORE"),
        (("--mode", "Stairs=AVOID"), "'Rig' is not bound to 'Stairs', but to Floor, Step"),
        (("--mode", "Step"), "'Step' should read NAME=VALUE"),
        (("--influence", "Step=2"), "The influence of 'Step' cannot be 2; use 0 to 1"),
        (("--influence", "Step=much"), "The influence of 'Step' cannot be much"),
        (("--influence", "Step=nan"), "cannot be nan"),
        (("--orientation", "-1"), "--orientation cannot be -1; use 0 to 1"),
        (("--scale", "0"), "--scale cannot be 0; use 0.001 to 1,000"),
        (("--scale", "-2"), "--scale cannot be -2"),
        (("--scale", "nan"), "--scale cannot be nan"),
        (("--scale", "inf"), "--scale cannot be inf"),
        (("--scale", "1e-45"), "--scale cannot be 1e-45"),
        (("--hold", "foot=2"), "'Rig' has no bone 'foot'"),
        (("--hold", "hips=-1"), "The hold of 'hips' cannot be -1"),
        (("--pin", "foot=Step:1:5"), "'Rig' has no bone 'foot'"),
        (("--pin", "wrist.L=Step:one:5"), "is no pin; write BONE=OBJECT:START:END"),
        (("--pin", f"wrist.L=Step:1:{'9' * 5000}"), f"A frame of the pin of 'wrist.L' cannot be {'9' * 30}...; use"),
        (("--pin", "wrist.L=Step:1:²"), "A frame of the pin"),
        (("--pin", "wrist.L=Steppe:1:5"), "There is no object 'Steppe' in the scene to pin 'wrist.L' to"),
        (("--pin", "wrist.L=Step:9:5"), "ends at frame 5, before it starts at 9"),
        (("--change", "/no/where.py"), "There is no script '/no/where.py'"),
        (("--name", 300 * "n"), "n' has 300 bytes"),
        (("--change", 256 * "n"), "There is no script 'nnn"),
        (("--environment", "Wall"), "There is no object or collection 'Wall'"),
        (("--output", "/no/where/out.blend"), "The folder '/no/where' does not exist"),
    ],
)  # fmt: skip
def test_wrong_values_are_named(bound, capsys, words, reason):
    assert reason in refused(capsys, "adapt", *words)


def test_strangers_to_the_binding(bound, capsys):
    scenes.add_box("Wall", (1, 0, 0), (2, 1, 1))
    reason = refused(capsys, "adapt", "--environment", "Wall")
    assert "'Rig' was bound without 'Wall'; bind it beside the others: run the bind command with --keep" in reason


@pytest.mark.parametrize("words", [("bind", "--rig", "Rig"), ("adapt",), ("adapt", "--rig", "Rig", "--scale", "big")])
def test_usage(rig, capsys, words):
    assert jobs.main(list(words)) == 2
    assert "usage:" in capsys.readouterr().err


def test_a_script_that_fails(bound, capsys, tmp_path):
    script = tmp_path / "change.py"
    script.write_text("raise KeyError('Podest')")
    assert f"The script '{script}' failed: KeyError: 'Podest'" in refused(capsys, "adapt", "--change", str(script))
    script.write_text("import sys\nsys.exit(3)")
    assert f"The script '{script}' failed" in refused(capsys, "adapt", "--change", str(script))


def test_a_script_that_cannot_be_read(bound, capsys):
    with limits.open_folder() as folder:
        for script in (folder / "closed.py", folder / "hidden" / "change.py"):
            script.parent.mkdir(exist_ok=True)
            script.write_text("")
            script.chmod(0o000)
        (folder / "hidden").chmod(0o000)
        for script, reason in (("closed.py", "cannot be read: Permission denied"), ("hidden/change.py", "be reached")):
            with limits.stopped_by_permissions():
                told = refused(capsys, "adapt", "--change", str(folder / script))
            assert str(folder / script) in told and reason in told and "choose another --change" in told


def add_feathers(rig):
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, x in (("plume", 0.02), ("feather", -0.02), ("crest", 0.0)):
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail, bone.parent = (x, 0, 1.7), (x, 0, 1.8), rig.data.edit_bones["head"]
    bpy.ops.object.mode_set(mode="OBJECT")


def test_a_bone_that_rides_is_told_apart(rig, capsys):
    add_feathers(rig)
    bind(capsys)
    solved = environment_bind.binding_store.load(rig.motion_loom_adapt.binding)[1]["names"]
    riding = next(bone.name for bone in rig.data.bones if bone.name not in solved)
    assert riding in ("plume", "feather", "crest")
    assert f"'{riding}' of 'Rig' is not solved by itself" in refused(capsys, "adapt", "--hold", f"{riding}=2")


def test_bones_added_since_bind(bound, capsys):
    add_feathers(bound)
    assert "Bone 'head' of 'Rig' has got children since it was bound; bind again" in refused(capsys, "adapt")


# ---------------------------------------------------------------------------------- what would override a result


def test_drivers_on_solved_bones(bound, capsys):
    driver = bound.pose.bones["head"].driver_add("rotation_quaternion", 1).driver
    driver.expression = "0.0"
    for reason in (refused(capsys, "adapt"), bind_refused(capsys)):
        assert "1 driven bone of 'Rig' would override a result: 'head'. Copy Deform Bones" in reason


def test_driven_influences(bound, capsys):
    copy = bound.pose.bones["head"].constraints.new("COPY_ROTATION")
    copy.target, copy.name = bpy.data.objects["Step"], 'Look "up"'
    copy.driver_add("influence").driver.expression = "0.5"
    reason = bind_refused(capsys)
    assert "1 driven constraint of 'Rig' would override a result: 'Look \"up\"' on 'head'" in reason


def test_all_that_would_override_a_result_is_counted_before_it_is_bound(rig, capsys):
    """One after the other, each of them was told of after a tick at Bind."""
    for name in ("head", "neck", "chest", "toe.L"):
        copy = rig.pose.bones[name].constraints.new("COPY_ROTATION")
        copy.target = bpy.data.objects["Step"]
        copy.driver_add("influence").driver.expression = "0.5"
    rig.pose.bones["hips"].driver_add("location", 0).driver.expression = "0.0"
    reason = bind_refused(capsys)
    assert "1 driven bone and 4 driven constraints of 'Rig' would override a result: 'hips', " in reason
    assert " and 2 more. Copy Deform Bones (copy-deform on the command line)" in reason
    assert rig.motion_loom_adapt.binding is None


def test_actions_that_are_blended_with_strips(bound, capsys):
    action, slot = actions.assigned(bound)
    add_strip(bound, action, slot, 1)
    bound.animation_data.action_blend_type = "ADD"
    assert "set the action's Blending to Replace" in bind_refused(capsys)


# -------------------------------------------------------------------------------------------------------- Esc


def steps_of(rig, command):
    context = bpy.context
    objects = [bpy.data.objects["Floor"], bpy.data.objects["Step"]]
    if command == "bind":
        return environment_bind.bind_steps(context, rig, objects)
    return adapt_run.adapt_steps(context, rig, adapt_run.AdaptRigOptions())


@pytest.mark.parametrize("command", ["bind", "adapt"])
def test_esc_at_any_moment_leaves_nothing(bound, capsys, command):
    """With a moving environment, so that the scene is on its way through the frames at some of the moments."""
    step = bpy.data.objects["Step"]
    for frame, z in ((1, 0.0), (24, 0.01)):
        step.location.z = z
        step.keyframe_insert("location", frame=frame)
    # Curves alone would be read without stepping.
    step.constraints.new("LIMIT_SCALE")
    bpy.context.scene.frame_set(7, subframe=0.25)
    bind(capsys)
    limit = bound.pose.bones["head"].constraints.new("LIMIT_ROTATION")
    limit.owner_space = "LOCAL"
    before = state()
    moments = sum(1 for _ in steps_of(bound, command))
    bound.motion_loom_adapt.result = None
    for action in [action for action in bpy.data.actions if "adapted" in action.name]:
        bpy.data.actions.remove(action)
    bound.animation_data.action = bpy.data.actions["Rig clip"]
    if actions.HAS_SLOTS:
        bound.animation_data.action_slot = bound.animation_data.action.slots[0]
    bpy.context.scene.frame_set(7, subframe=0.25)
    before = state()
    assert moments > 10
    for count in range(1, moments, 3):
        steps = steps_of(bound, command)
        for _ in range(count):
            next(steps)
        steps.close()
        assert state() == before, count


def test_esc_while_a_result_plays(bound, capsys):
    raise_step()
    adapt(capsys)
    bpy.context.scene.frame_set(20)
    before = state()
    steps = steps_of(bound, "adapt")
    for _ in range(5):
        next(steps)
    steps.close()
    bpy.context.scene.frame_set(20)
    assert state() == before


def test_a_failure_while_writing_leaves_nothing(bound, capsys, monkeypatch):
    from bl_ext.devrepo.motion_loom.solvers.core.errors import OutputError
    from bl_ext.devrepo.motion_loom.workflows.rig import action as adapt_action

    def refuse(*_args):
        raise OutputError("'Rig' refuses.")

    raise_step()
    monkeypatch.setattr(adapt_action.actions, "assign", refuse)
    assert "'Rig' refuses." in refused(capsys, "adapt")
    monkeypatch.undo()
    monkeypatch.setattr(adapt_action, "switch_off", refuse)
    assert "'Rig' refuses." in refused(capsys, "adapt")


def test_a_rig_of_one_bone_and_one_without_skin(capsys):
    pole = add_chain(("pole",), name="Rig")
    pole.keyframe_insert('pose.bones["pole"].location', frame=1)
    pole.keyframe_insert('pose.bones["pole"].location', frame=5)
    scenes.add_grid("Floor", (-1, 1), (-1, 1))
    bpy.context.view_layer.update()
    report = run(capsys, "bind", "--rig", "Rig", "--environment", "Floor")
    assert "2 joints" in report["bound"]
    bpy.data.objects["Floor"].location.z = 0.1
    assert run(capsys, "adapt", "--rig", "Rig")["unconverged_frames"] == 0


@pytest.mark.parametrize(
    "text, reason",
    [
        ("bpy.data.objects.remove(bpy.data.objects['Rig'])", "deleted the rig 'Rig' or opened another file"),
        ("bpy.ops.wm.read_homefile(use_empty=True)", "deleted the rig 'Rig' or opened another file"),
        (
            "bpy.context.scene.collection.objects.unlink(bpy.data.objects['Rig'])",
            "the rig 'Rig' is not in the scene 'Scene'; let it keep",
        ),
        ("bpy.data.objects.remove(bpy.data.objects['Step'])", "'Step'"),
        ("bpy.data.objects['Rig'].animation_data_clear()", "'Rig' has no action"),
        ("raise MemoryError", "failed: MemoryError"),
        ("def deeper():\n    deeper()\ndeeper()", "failed: RecursionError"),
    ],
)
def test_scripts_that_take_away_what_is_worked_on(bound, capsys, tmp_path, text, reason):
    script = tmp_path / "change.py"
    script.write_text(f"import bpy\n{text}")
    assert jobs.main(["adapt", "--rig", "Rig", "--change", str(script)]) == 1
    told = capsys.readouterr().err
    assert reason in told and told.count("\n") == 1 and "Traceback" not in told


def test_a_script_that_renames_the_rig(bound, capsys, tmp_path):
    script = tmp_path / "change.py"
    script.write_text("import bpy\nbpy.data.objects['Rig'].name = 'Knight'")
    assert adapt(capsys, "--change", str(script))["rig"] == "Knight"


def test_parents_within_parents_as_deep_as_they_go(rig, capsys):
    """Python's own recursion ends at a thousand levels."""
    parent = None
    for number in range(1500):
        ob = bpy.data.objects.new(f"Nest {number}", None)
        bpy.context.scene.collection.objects.link(ob)
        ob.parent, parent = parent, ob
    bpy.data.objects["Floor"].parent = parent
    bind(capsys)
    adapt(capsys)
    bpy.data.objects["Nest 0"].parent = rig
    reason = bind_refused(capsys)
    assert "'Floor' cannot be in the environment of 'Rig', which moves it (parent 'Nest 1499'," in reason
    assert len(reason) < 300


@pytest.mark.parametrize("of, name", [("surfaces", "influence"), ("bones", "factor"), (None, "clearance_distance")])
def test_numbers_that_only_a_script_can_set(bound, capsys, of, name):
    settings = bound.motion_loom_adapt
    item = settings if of is None else (getattr(settings, of)[0] if of == "surfaces" else settings.bones.add())
    setattr(item, name, float("nan"))
    label = item.bl_rna.properties[name].name
    reason = refused(capsys, "adapt")
    assert f"{label} cannot be nan; use a number" in reason
    assert of is None or f"Entry 1 of the {of}" in reason


def test_a_bone_that_is_scaled_unevenly_is_named(rig, capsys):
    """What it carries is sheared, and cannot be where it should."""
    rig.pose.bones["thigh.R"].scale = (1.0, 1.0, 0.1)
    bind(capsys)
    raise_step(0.45)
    reason = refused(capsys, "adapt")
    assert "bone 'thigh.R', which carries it, is scaled unevenly; remove that scale and bind again" in reason


def test_a_bone_that_shears_a_little_what_it_carries_is_named(rig, capsys):
    """The foot stays a joint of its own: it slides in a sheared leg, but keeps its place in that."""
    rig.pose.bones["spine"].scale = (1.0, 1.0, 0.5)
    bind(capsys)
    raise_step(0.45)
    report = adapt(capsys)
    note = next(note for note in report["notes"] if "misses its place" in note)
    assert f"by {report['write_error_mm'] / 10:.1f} cm" in note
    assert "bone 'spine', which carries it, is scaled unevenly" in note
