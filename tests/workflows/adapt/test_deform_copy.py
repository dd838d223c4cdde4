"""A flat copy of deform bones: it moves as its rig does, and Adapt keeps it whole."""

import importlib

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene.deform_tree import noted_parents
from bl_ext.devrepo.motion_loom.workflows.adapt import deform_copy
from mathutils import Matrix, Vector

from tests import adapt_scenes as scenes
from tests import rigify_scenes as rigify
from tests.rig_scenes import ODD_NAMES, add_chain, animate_at_random, fingerprint, watch
from tests.workflows.adapt.test_workflow import run

WHOLE = 1e-4  # metres: neighbours part by no more
SAME = 1e-5


def copy_of(rig, **options):
    """The copy of a rig's deform bones, and the report."""
    report = deform_copy.copy_rig(bpy.context, rig, **options)
    return bpy.data.objects[report["copy"]], report


def world(rig, names, frames=scenes.FRAMES):
    """World matrices (F, n, 4, 4) of bones by name, as Blender plays them."""
    pose, placed = watch(rig, frames)
    order = [[bone.name for bone in rig.data.bones].index(name) for name in names]
    return placed[:, None] @ pose[:, order]


def names_of(rig):
    return [bone.name for bone in rig.data.bones]


def tree_of(copy):
    """What each bone moves with, by names."""
    names = names_of(copy)
    return {name: names[at] if at >= 0 else None for name, at in zip(names, noted_parents(copy, names), strict=True)}


def parting(before, after, tree):
    """How far heads left their places in the frames of what they move with, metres; (F, B, 4, 4) each."""
    hung = np.flatnonzero(tree >= 0)

    def places(pose):
        turn = pose[:, tree[hung], :3, :3]
        turn = turn / np.linalg.norm(turn, axis=-2, keepdims=True)
        away = pose[:, hung][..., :3, 3] - pose[:, tree[hung]][..., :3, 3]
        return np.einsum("fnba,fnb->fna", turn, away)

    return np.linalg.norm(places(after) - places(before), axis=-1).max()


def bind(rig, *names):
    bpy.context.view_layer.objects.active = rig
    for name in names:
        rig.motion_loom_adapt.surfaces.add().target = bpy.data.objects[name]
    assert bpy.ops.motion_loom.fit(workflow="adapt") == {"FINISHED"}


# ------------------------------------------------------------------------------------------------------- the copy


def test_it_moves_as_the_rig_with_all_that_moves_that():
    """Constraints, odd names, every rotation mode, an object that is scaled, turned and moved by keys."""
    rig = add_chain(ODD_NAMES)
    animate_at_random(rig, scale=False)
    rig.rotation_euler, rig.scale = (0.3, -0.5, 1.0), (0.5, 0.5, 0.5)
    for frame, place in ((1, 0.0), (12, 3.0)):
        rig.location = place, 2.0, 0.0
        rig.keyframe_insert("location", frame=frame)
    limit = rig.pose.bones[ODD_NAMES[3]].constraints.new("LIMIT_LOCATION")
    limit.use_min_x, limit.min_x = True, 5.0
    rig.data.bones[ODD_NAMES[2]].use_deform = False
    frames, before = np.arange(1.0, 13.0), fingerprint(rig.animation_data.action)
    copy, report = copy_of(rig)
    assert set(names_of(copy)) == set(ODD_NAMES) - {ODD_NAMES[2]}
    assert not any(bone.parent for bone in copy.data.bones) and not any(len(b.constraints) for b in copy.pose.bones)
    names = names_of(copy)
    np.testing.assert_allclose(world(copy, names, frames), world(rig, names, frames), atol=SAME)
    assert report["error_mm"] < 0.01 and fingerprint(rig.animation_data.action) == before
    assert bpy.context.object == copy and copy.select_get() and not rig.select_get()


def test_bones_that_change_size_are_copied_too():
    rig = scenes.add_walker()
    bone = rig.pose.bones["elbow.L"]
    for frame, size in ((1, 1.0), (24, 1.5)):
        bone.scale = size, size, size
        bone.keyframe_insert("scale", frame=frame)
    copy, _ = copy_of(rig)
    names = names_of(copy)
    np.testing.assert_allclose(world(copy, names), world(rig, names), atol=SAME)


def test_what_constraints_alone_move_is_copied_over_the_scenes_range():
    rig = add_chain(("low", "high"))
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(empty)
    for frame, place in ((1, 0.0), (10, 1.0)):
        empty.location.x = place
        empty.keyframe_insert("location", frame=frame)
    rig.pose.bones["low"].constraints.new("COPY_LOCATION").target = empty
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 10
    copy, report = copy_of(rig)
    frames = np.arange(1.0, 11.0)
    assert report["frames"] == 10
    np.testing.assert_allclose(world(copy, ("low", "high"), frames), world(rig, ("low", "high"), frames), atol=SAME)


def test_what_moves_together_stays_noted(tmp_path):
    """Through new names of bones, a saved file and an appended object."""
    copy, _ = copy_of(scenes.add_walker())
    expected = {bone: above for bone, above in scenes._BODY.items() if bone in copy.data.bones}
    assert tree_of(copy) == expected
    copy.data.bones["elbow.L"].name, copy.name = "Ellbogen", "Other"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "copy.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.append(directory=str(tmp_path / "copy.blend" / "Object"), filename="Other")
    found = tree_of(bpy.data.objects["Other"])
    assert found["Ellbogen"] == "arm.L" and found["wrist.L"] == "Ellbogen" and found["hips"] is None


def test_a_note_against_a_parent_given_since_counts_for_nothing():
    copy, _ = copy_of(scenes.add_walker())
    bpy.ops.object.mode_set(mode="EDIT")
    copy.data.edit_bones["hips"].parent = copy.data.edit_bones["chest"]  # by the notes it carries the chest
    bpy.ops.object.mode_set(mode="OBJECT")
    found = tree_of(copy)
    assert [found["chest"], found["spine"]].count(None) == 1
    assert found["hips"] is None and found["neck"] == "chest"


def test_a_linked_rig_gets_a_local_copy(tmp_path):
    scenes.add_walker()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.link(directory=str(tmp_path / "rig.blend" / "Object"), filename="Rig")
    rig = bpy.context.scene.objects["Rig"]
    assert rig.library is not None
    copy, _ = copy_of(rig)
    assert copy.library is None and copy.data.library is None and copy.animation_data.action.library is None
    names = names_of(copy)
    np.testing.assert_allclose(world(copy, names), world(rig, names), atol=SAME)


def test_the_copy_of_a_rig_in_a_hidden_collection_is_seen():
    rig = scenes.add_walker()
    hidden = bpy.data.collections.new("Hidden")
    bpy.context.scene.collection.children.link(hidden)
    hidden.objects.link(rig)
    bpy.context.scene.collection.objects.unlink(rig)
    bpy.context.view_layer.layer_collection.children["Hidden"].hide_viewport = True
    copy, _ = copy_of(rig)
    names = names_of(copy)
    assert copy.visible_get()
    np.testing.assert_allclose(world(copy, names), world(rig, names), atol=SAME)


def test_the_copy_of_a_live_rig_has_its_source_motion_and_says_so():
    rig = scenes.add_scene()
    before = world(rig, names_of(rig))
    bind(rig, "Floor", "Step")
    assert bpy.ops.motion_loom.live(workflow="adapt") == {"FINISHED"}
    bpy.data.objects["Step"].location.z += 0.12
    bpy.context.view_layer.update()
    adapted = world(rig, names_of(rig))
    assert np.abs(adapted - before).max() > 0.05
    copy, report = copy_of(rig)
    np.testing.assert_allclose(world(copy, names_of(rig)), before, atol=SAME)
    assert "'Rig' is live in Adapt: the copy has its source motion, not the adapted one" in report["notes"]
    assert rig.motion_loom_adapt.live
    np.testing.assert_allclose(world(rig, names_of(rig)), adapted, atol=SAME)


def blocks():
    """Names of all that a copy adds to."""
    return [sorted(each.name for each in kind) for kind in (bpy.data.objects, bpy.data.armatures, bpy.data.actions)]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_after_an_error_nothing_has_changed(monkeypatch, error):
    rig = scenes.add_scene()
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    before = blocks()

    def fail(*_):
        raise error

    actions = importlib.import_module("bl_ext.devrepo.motion_loom.scene.actions")
    monkeypatch.setattr(actions, "assign", fail)
    with pytest.raises(error):
        copy_of(rig)
    assert blocks() == before
    assert bpy.context.object == rig and rig.mode == "POSE" and rig.select_get()


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_error_after_the_skin_has_moved_moves_it_back(monkeypatch, error):
    rig = scenes.add_walker()
    skin = scenes.add_box("Skin", (-0.1, -0.1, 0), (0.1, 0.1, 1))
    skin.modifiers.new("Armature", "ARMATURE").object = rig
    prop = scenes.add_box("Prop", (0, 0, 0), (0.1, 0.1, 0.1))
    prop.parent, prop.parent_type, prop.parent_bone = rig, "BONE", "wrist.L"
    prop.matrix_parent_inverse = Matrix.Translation((0.1, 0.2, 0.3))
    inverse, before = prop.matrix_parent_inverse.copy(), blocks()

    def fail(*_):
        assert skin.modifiers[0].object != rig and prop.parent != rig
        raise error

    monkeypatch.setattr(deform_copy, "_copy_choices", fail)
    with pytest.raises(error):
        copy_of(rig, skin=True)
    assert skin.modifiers[0].object == rig
    assert prop.parent == rig and prop.parent_bone == "wrist.L" and prop.matrix_parent_inverse == inverse
    assert blocks() == before


def test_the_skin_follows_where_it_is_asked_to():
    rig = scenes.add_walker()
    skin = scenes.add_box("Skin", (-0.1, -0.1, 0), (0.1, 0.1, 1))
    skin.modifiers.new("Armature", "ARMATURE").object = rig
    prop = scenes.add_box("Prop", (0, 0, 0), (0.1, 0.1, 0.1))
    prop.parent, prop.parent_type, prop.parent_bone = rig, "BONE", "wrist.L"
    bpy.context.scene.frame_set(12)
    bpy.context.view_layer.update()
    placed = np.array(prop.matrix_world)
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motion_loom.copy_deform_bones() == {"FINISHED"}
    assert skin.modifiers[0].object == rig and prop.parent == rig
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.motion_loom.copy_deform_bones(move_skin=True) == {"FINISHED"}
    copy = bpy.context.object
    assert skin.modifiers[0].object == copy and prop.parent == copy and prop.parent_type == "BONE"
    bpy.context.view_layer.update()
    np.testing.assert_allclose(np.array(prop.matrix_world), placed, atol=SAME)


def test_the_command(capsys):
    scenes.add_scene()
    report = run(capsys, "copy-deform", "--rig", "Rig", "--name", "Flat", "--start", "3", "--end", "9")
    assert (report["copy"], report["frames"]) == ("Flat", 7)
    assert "The skin stays with 'Rig'; Move Skin lets it follow the copy" in report["notes"]


# ------------------------------------------------------------------------------------------------ Adapt on flat rigs


@pytest.mark.parametrize("noted", [True, False])
def test_a_flat_rig_is_adapted_as_its_original_is(noted, capsys):
    """As other tools export them, and a copy that knows. Each bone was a root by itself."""
    rig = scenes.add_scene()
    copy, _ = copy_of(rig)
    if not noted:
        for bone in copy.data.bones:
            for key in list(bone.keys()):
                del bone[key]
    found = []
    for each in (rig, copy):
        run(capsys, "bind", "--rig", each.name, "--environment", "Floor", "Step")
    bpy.data.objects["Step"].location.z += 0.12
    for each in (rig, copy):
        report = run(capsys, "adapt", "--rig", each.name)
        assert report["write_error_mm"] < 0.1
        found.append(world(each, names_of(rig)))
    np.testing.assert_allclose(found[1], found[0], atol=1e-4)


def add_reversed_tail(rig):
    """Controls that lead away from the hips and swing; each carries a bone that points back."""
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    above, at = bones["hips"], bones["hips"].head.copy()
    for number in "123":
        control, bone = bones.new(f"control.{number}"), bones.new(f"tail.{number}")
        end = at + Vector((0.0, -0.2, 0.0))
        control.head, control.tail, control.parent, control.use_deform = at, end, above, False
        bone.head, bone.tail, bone.parent = end, at, control
        above, at = control, end
    bpy.ops.object.mode_set(mode="OBJECT")
    for number, frame in np.ndindex(3, 4):
        bone = rig.pose.bones[f"control.{number + 1}"]
        bone.rotation_mode, bone.rotation_euler.x = "XYZ", 0.4 * np.sin(2.0 * frame + number)
        bone.keyframe_insert("rotation_euler", frame=1 + 6 * frame)


def test_a_tail_that_points_at_the_hips_goes_along_in_one_piece():
    rig = scenes.add_scene()
    add_reversed_tail(rig)
    copy, _ = copy_of(rig)
    tree = tree_of(copy)
    assert {bone for bone, above in tree.items() if above is None} == {"hips"}
    assert [tree[f"tail.{number}"] for number in "123"] == ["hips", "tail.1", "tail.2"]
    names, lengths = names_of(copy), [bone.length for bone in copy.data.bones]
    before = world(copy, names)
    bind(copy, "Floor", "Step")
    assert not any(joint.role == "STAYS" for joint in copy.motion_loom_adapt.joints)
    bpy.data.objects["Step"].location.z += 0.12
    bpy.context.view_layer.update()
    assert bpy.ops.motion_loom.bake(workflow="adapt") == {"FINISHED"}
    baked = world(copy, names)
    assert parting(before, baked, noted_parents(copy, names)) < WHOLE
    tails = baked[..., :3, 3] + baked[..., :3, 1] * np.array(lengths)[:, None]
    for bone, above in (("tail.1", "hips"), ("tail.2", "tail.1"), ("tail.3", "tail.2")):
        assert np.linalg.norm(tails[:, names.index(bone)] - baked[:, names.index(above), :3, 3], axis=-1).max() < WHOLE
    moved = np.abs(baked - before)[..., :3, 3].max(axis=(0, 2))
    assert moved[names.index("tail.1")] > 0.02


@pytest.fixture(scope="module")
def human_file(tmp_path_factory):
    """A walking default human on a floor, generated once."""
    return rigify.save_human(tmp_path_factory.mktemp("rigify"))


@pytest.fixture
def human(human_file):
    bpy.ops.wm.open_mainfile(filepath=str(human_file))
    rig = bpy.data.objects["rig"]
    rig.motion_loom_adapt.surfaces.add().target = bpy.data.objects["Floor"]
    return rig


def wave():
    scenes.deform("Floor", lambda v: v + np.outer(0.1 * np.sin(3.0 * v[:, 1] + v[:, 0]), [0.0, 0.0, 1.0]))
    bpy.context.view_layer.update()


def test_a_default_rigify_human_walks_on_a_changed_floor_by_a_copy_of_its_deform_bones(human):
    bpy.context.view_layer.objects.active = human
    with pytest.raises(RuntimeError, match="driven constraints of .* would override a result.*Copy Deform Bones"):
        bpy.ops.motion_loom.fit(workflow="adapt")
    assert human.motion_loom_adapt.binding is None
    assert bpy.ops.motion_loom.copy_deform_bones() == {"FINISHED"}
    copy = bpy.context.object
    names, frames = names_of(copy), rigify.FRAMES
    before = world(copy, names, frames)
    np.testing.assert_allclose(before, world(human, names, frames), atol=SAME)
    tree = noted_parents(copy, names)
    assert {n: tree_of(copy)[n] for n in ("DEF-spine", "DEF-thigh.L", "DEF-shin.L", "DEF-foot.L", "DEF-hand.R")} == {
        "DEF-spine": None, "DEF-thigh.L": "DEF-spine", "DEF-shin.L": "DEF-thigh.L", "DEF-foot.L": "DEF-shin.L",
        "DEF-hand.R": "DEF-forearm.R",
    }  # fmt: skip
    bind(copy)
    assert bpy.ops.motion_loom.live(workflow="adapt") == {"FINISHED"}
    wave()
    shown = world(copy, names, frames)
    assert bpy.ops.motion_loom.bake(workflow="adapt") == {"FINISHED"}
    baked = world(copy, names, frames)
    np.testing.assert_allclose(shown, baked, atol=SAME)
    assert np.abs(baked - before)[..., :3, 3].max() > 0.05
    assert parting(before, baked, tree) < WHOLE


def test_a_half_adapted_copy_is_whole_too_also_while_it_is_dragged(human, monkeypatch):
    copy, _ = copy_of(human)
    names, frames = names_of(copy), rigify.FRAMES
    before, tree = world(copy, names, frames), noted_parents(copy, names)
    bind(copy)
    assert bpy.ops.motion_loom.live(workflow="adapt") == {"FINISHED"}
    runs = importlib.import_module("bl_ext.devrepo.motion_loom.state.live_runs").live_runs
    monkeypatch.setattr(runs, "at_once", False)  # single frames, as while something is dragged
    wave()
    for influence in (1.0, 0.5):
        copy.motion_loom_adapt.influence = influence
        dragged = world(copy, names, frames)
        assert np.abs(dragged - before)[..., :3, 3].max() > 0.02
        assert parting(before, dragged, tree) < WHOLE
    assert bpy.ops.motion_loom.bake(workflow="adapt") == {"FINISHED"}
    baked = world(copy, names, frames)
    assert parting(before, baked, tree) < WHOLE
