"""Adapt on what it cannot use: the reason names the culprit and the way out, and nothing is changed."""

import bpy
import pytest
from bl_ext.devrepo.motion_loom.scene import actions

from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests import commands, limits
from tests.adapt_commands import bind_refused, refused
from tests.adapt_scenes import raise_step
from tests.commands import adapt, bind
from tests.objects import add_object, into_collection
from tests.rig_scenes import add_chain, add_strip

# ---------------------------------------------------------------------------------- binding, and what is bound since


def floor():
    return bpy.data.objects["Floor"]


def step():
    return bpy.data.objects["Step"]


def mute_all(rig):
    for curve in actions.all_curves(*actions.assigned(rig)):
        curve.mute = True


def move_keys(rig, path, index, edit):
    for curve in actions.all_curves(*actions.assigned(rig)):
        if path in curve.data_path and index in (None, curve.array_index):
            for key in curve.keyframe_points:
                edit(key.co)
            curve.update()


def swap_for_later_keys(rig):
    other = rig.animation_data.action.copy()
    actions.assign(rig, other, play.slot_of(other))
    move_keys(rig, "", None, lambda co: setattr(co, "x", co.x + 5))


def exclude_step(_rig):
    into_collection(step()).exclude = True


def build_step(_rig):
    modifier = step().modifiers.new("Build", "BUILD")
    modifier.frame_start, modifier.frame_duration = 1, 20


def sink_all(_rig):
    floor().location.z = step().location.z = -50


def blend_with_a_strip(rig):
    add_strip(rig, *actions.assigned(rig), 1)
    rig.animation_data.action_blend_type = "ADD"


def damage(rig):
    words = rig.motion_loom_adapt.binding["data"]
    words[len(words) // 2] ^= 1


def lock(rig):
    """Leave nothing that could be keyed instead of what is overridden."""
    for bone in rig.pose.bones:
        bone.lock_location = bone.lock_rotation = (True, True, True)


def drive_the_head(rig):
    rig.pose.bones["head"].driver_add("rotation_quaternion", 1).driver.expression = "0.0"
    lock(rig)


HIDDEN = "'Step' is hidden, excluded or not in this view layer"
OTHER_MOTION = "The motion of 'Rig' is not the one that was bound"
OVERRIDES = "1 driven bone of 'Rig' would override a result: 'head'. Copy Deform Bones"


@pytest.mark.parametrize(
    ("spoil", "reasons"),
    [
        (lambda rig: rig.animation_data_clear(), ["'Rig' has no action"]),
        (mute_all, ["has only muted curves"]),
        (sink_all, ["No joint comes within"]),
        (lambda rig: setattr(step(), "hide_viewport", True), [HIDDEN]),
        (exclude_step, [HIDDEN]),
        (lambda rig: setattr(rig, "scale", (0, 0, 0)), ["'Rig'", "zero", "Ctrl+A"]),
        (lambda rig: setattr(rig, "scale", (-1, 1, 1)), ["'Rig'", "negative", "Ctrl+A"]),
        (lambda rig: setattr(rig, "scale", (1, 1, 2)), ["'Rig'", "unevenly", "Ctrl+A"]),
        (lambda rig: setattr(step(), "scale", (1, 1, 0)), ["'Step' has a scale of zero"]),
        (lambda rig: setattr(rig.data, "pose_position", "REST"), ["shows its rest position"]),
        (lambda rig: bpy.ops.object.mode_set(mode="EDIT"), ["is being edited"]),
        (build_step, ["'Step'"]),
        (drive_the_head, [OVERRIDES, "All channels of the controls of 'Rig' are locked"]),
        (blend_with_a_strip, ["set the action's Blending to Replace"]),
    ],
)
def test_what_cannot_be_bound(rig, capsys, spoil, reasons):
    spoil(rig)
    told = bind_refused(capsys)
    assert all(reason in told for reason in reasons), told


@pytest.mark.parametrize(
    ("spoil", "reasons"),
    [
        (lambda rig: step().modifiers.new("Bevel", "BEVEL"), ["'Step' had 8 vertices at bind, ", "bind --keep"]),
        (lambda rig: bpy.data.objects.remove(step()), ["'Step', which 'Rig' is bound to, was deleted"]),
        (
            lambda rig: rig.motion_loom_adapt.surfaces.remove(1),
            ["'Step', which 'Rig' is bound to, was taken off the list after bind"],
        ),
        # Deleting in the viewport unlinks; the binding's pointer keeps the datablock alive.
        (lambda rig: bpy.context.scene.collection.objects.unlink(step()), ["'Step'"]),
        (lambda rig: setattr(step(), "hide_viewport", True), [HIDDEN]),
        (
            lambda rig: setattr(rig.data.bones["ankle.R"], "name", "foot"),
            ["'Rig' has no bone 'ankle.R' as it was bound; undo the renaming or bind again"],
        ),
        (
            lambda rig: move_keys(rig, "thigh.R", 1, lambda co: setattr(co, "y", co.y + 0.2)),
            [OTHER_MOTION, "thigh.R"],
        ),
        # No bone points elsewhere, but the body travels another way: that is another motion as well.
        (
            lambda rig: move_keys(rig, '["hips"].location', None, lambda co: setattr(co, "y", 1.5 * co.y)),
            [OTHER_MOTION],
        ),
        (swap_for_later_keys, ["assign the bound action or bind again"]),
        (lambda rig: rig.animation_data_clear(), ["'Rig' has no action"]),
        (damage, ["bind again"]),
        (drive_the_head, [OVERRIDES]),
        (lambda rig: add_feathers(rig), ["Bone 'head' of 'Rig' has got children since it was bound; bind again"]),
    ],
)
def test_what_has_changed_since_bind(bound, capsys, spoil, reasons):
    spoil(bound)
    told = refused(capsys, "adapt")
    assert all(reason in told for reason in reasons), told


@pytest.mark.parametrize(
    ("words", "reasons"),
    [
        ("--start 9 --end 3", ["is empty; the animation of 'Rig' runs from 1 to 24"]),
        ("--start 99", ["is empty; the animation of 'Rig' runs from 1 to 24"]),
        ("--end -5", ["is empty; the animation of 'Rig' runs from 1 to 24"]),
        ("--end 2e5", ["The range of 'Rig', 1 to 200,000, has more than the 100,000"]),
        ("--start=nan", ["The range of 'Rig', ", "is endless or"]),
        ("--start=-inf", ["The range of 'Rig', ", "is endless or"]),
        ("--start=1e300", ["The range of 'Rig', ", "goes beyond the frames"]),
        ("--start=-1048575", ["The range of 'Rig', ", "goes beyond the frames"]),
    ],
)
def test_ranges_that_make_no_sense(rig, capsys, words, reasons):
    told = bind_refused(capsys, *words.split())
    assert all(reason in told for reason in reasons), told


def test_environments_without_faces_or_surface(rig, capsys):
    scenes.add_mesh("Points", [(0, 0, 0), (1, 0, 0)], [])
    scenes.add_mesh("Line", [(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)])
    add_object("Empty")
    scenes.add_collection("Nothing")
    for name, reason in (
        ("Points", "'Points' has no faces"),
        ("Line", "No triangle of 'Line' has any area"),
        ("Empty", "'Empty' is of type EMPTY and has no surface"),
        ("Nothing", "'Nothing' holds no object with a surface"),
        ("Flor", "did you mean 'Floor'?"),
        ("Rig", "'Rig' is of type ARMATURE and has no surface"),
    ):
        assert reason in bind_refused(capsys, environment=(name,))


def test_a_linked_rig(rig, capsys, tmp_path):
    play.brought(play.save(tmp_path / "library.blend"), "Rig", "Floor", "Step", link=True)
    for told in (bind_refused(capsys), refused(capsys, "adapt")):
        assert "make a library override or a local copy" in told


def test_what_the_rig_moves_is_no_environment(rig, capsys):
    """It would collide with itself, and a result would move what it is fitted to."""
    skin = scenes.add_box("Skin", (-0.2, -0.1, 0), (0.2, 0.1, 1.7))
    skin.modifiers.new("Deform", "ARMATURE").object = rig
    sword = scenes.add_box("Sword", (0, 0, 0), (0.1, 0.1, 1))
    sword.parent, sword.parent_type, sword.parent_bone = rig, "BONE", "wrist.R"
    gem = scenes.add_box("Gem", (0, 0, 0), (0.1, 0.1, 0.1))
    gem.constraints.new("COPY_LOCATION").target = sword
    for names, by in ((("Floor", "Skin"), "Deform"), (("Floor", "Sword"), ""), (("Gem",), "'Sword', parent")):
        told = bind_refused(capsys, environment=names)
        assert f"'{names[-1]}' cannot be in the environment of 'Rig', which moves it" in told and by in told


def test_parents_within_parents_as_deep_as_they_go(rig, capsys):
    """Python's own recursion ends at a thousand levels."""
    parent = None
    for number in range(1500):
        ob = add_object(f"Nest {number}")
        ob.parent, parent = parent, ob
    floor().parent = parent
    bind(capsys)
    adapt(capsys)
    bpy.data.objects["Nest 0"].parent = rig
    reason = bind_refused(capsys)
    assert "'Floor' cannot be in the environment of 'Rig', which moves it (parent 'Nest 1499'," in reason
    assert len(reason) < 300


def test_all_that_would_override_a_result_is_counted_before_it_is_bound(rig, capsys):
    """One after the other, each of them was told of after a tick at Bind."""
    lock(rig)
    for name in ("head", "neck", "chest", "toe.L"):
        copy = rig.pose.bones[name].constraints.new("COPY_ROTATION")
        copy.target, copy.name = step(), 'Look "up"'
        copy.driver_add("influence").driver.expression = "0.5"
        if name == "head":
            told = bind_refused(capsys)
            assert "1 driven constraint of 'Rig' would override a result: 'Look \"up\"' on 'head'" in told
    rig.pose.bones["hips"].driver_add("location", 0).driver.expression = "0.0"
    reason = bind_refused(capsys)
    assert "1 driven bone and 4 driven constraints of 'Rig' would override a result: 'hips', " in reason
    assert " and 2 more. Copy Deform Bones (copy-deform on the command line)" in reason


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
)
def test_wrong_values_are_named(bound, capsys, words, reason):
    assert reason in refused(capsys, "adapt", *words)


def test_not_bound_to_anything_or_to_that(rig, capsys):
    assert "name its --environment, or run the bind command first" in refused(capsys, "adapt")
    bind(capsys)
    scenes.add_box("Wall", (1, 0, 0), (2, 1, 1))
    reason = refused(capsys, "adapt", "--environment", "Wall")
    assert "'Rig' was bound without 'Wall'; bind it beside the others: run the bind command with --keep" in reason


@pytest.mark.parametrize("words", [("bind", "--rig", "Rig"), ("adapt",), ("adapt", "--rig", "Rig", "--scale", "big")])
def test_usage(rig, capsys, words):
    assert "usage:" in commands.refused(capsys, *words, code=2)


@pytest.mark.parametrize("of, name", [("surfaces", "influence"), ("bones", "factor"), (None, "clearance_distance")])
def test_numbers_that_only_a_script_can_set(bound, capsys, of, name):
    settings = bound.motion_loom_adapt
    item = {"surfaces": lambda: settings.surfaces[0], "bones": settings.bones.add, None: lambda: settings}[of]()
    setattr(item, name, float("nan"))
    label = item.bl_rna.properties[name].name
    reason = refused(capsys, "adapt")
    assert f"{label} cannot be nan; use a number" in reason
    assert of is None or f"Entry 1 of the {of}" in reason


def add_feathers(rig):
    play.activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for name, x in (("plume", 0.02), ("feather", -0.02), ("crest", 0.0)):
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail, bone.parent = (x, 0, 1.7), (x, 0, 1.8), rig.data.edit_bones["head"]
    bpy.ops.object.mode_set(mode="OBJECT")


def test_a_bone_that_rides_is_told_apart(rig, capsys):
    add_feathers(rig)
    (riding, *_) = bind(capsys)["riding"]
    assert riding in ("plume", "feather", "crest")
    assert f"'{riding}' of 'Rig' is not solved by itself" in refused(capsys, "adapt", "--hold", f"{riding}=2")


@pytest.mark.parametrize(
    ("name", "size"), [("thigh.R", 0.1), ("spine", 0.5)], ids=["by far, which is refused", "by a little"]
)
def test_a_bone_that_is_scaled_unevenly_is_named(rig, capsys, name, size):
    """What it carries is sheared, and cannot be where it should; a foot in a leg that hardly is keeps its place."""
    rig.pose.bones[name].scale = (1.0, 1.0, size)
    bind(capsys)
    raise_step(0.45)
    if name == "thigh.R":
        reason = refused(capsys, "adapt")
        assert "bone 'thigh.R', which carries it, is scaled unevenly; remove that scale and bind again" in reason
        return
    report = adapt(capsys)
    note = next(note for note in report["notes"] if "misses its place" in note)
    assert f"by {report['write_error_mm'] / 10:.1f} cm" in note
    assert "bone 'spine', which carries it, is scaled unevenly" in note


def test_a_rig_of_one_bone_and_one_without_skin(capsys):
    pole = add_chain(("pole",), name="Rig")
    for frame in (1, 5):
        pole.keyframe_insert('pose.bones["pole"].location', frame=frame)
    scenes.add_grid("Floor", (-1, 1), (-1, 1))
    bpy.context.view_layer.update()
    report = commands.run(capsys, "bind", "--rig", "Rig", "--environment", "Floor")
    assert "2 joints" in report["bound"]
    floor().location.z = 0.1
    assert adapt(capsys)["unconverged_frames"] == 0


# -------------------------------------------------------------------------------------------------------- scripts


@pytest.fixture
def script(tmp_path):
    """script(text): its path."""

    def write(text):
        path = tmp_path / "change.py"
        path.write_text(f"import bpy, sys\n{text}")
        return str(path)

    return write


@pytest.mark.parametrize(
    ("text", "reason"), [("raise KeyError('Podest')", " failed: KeyError: 'Podest'"), ("sys.exit(3)", " failed")]
)
def test_a_script_that_fails(bound, capsys, script, text, reason):
    path = script(text)
    assert f"The script '{path}'{reason}" in refused(capsys, "adapt", "--change", path)


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
def test_scripts_that_take_away_what_is_worked_on(bound, capsys, script, text, reason):
    told = commands.refused(capsys, "adapt", "--rig", "Rig", "--change", script(text))
    assert reason in told and told.count("\n") == 1


def test_a_script_that_renames_the_rig(bound, capsys, script):
    assert adapt(capsys, "--change", script("bpy.data.objects['Rig'].name = 'Knight'"))["rig"] == "Knight"


def test_a_script_that_cannot_be_read(bound, capsys):
    with limits.closed_files("change.py") as files:
        for path, reason in files.items():
            with limits.stopped_by_permissions():
                told = refused(capsys, "adapt", "--change", str(path))
            assert str(path) in told and reason in told and "choose another --change" in told
