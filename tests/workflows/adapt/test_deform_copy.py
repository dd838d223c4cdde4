"""A flat copy of deform bones: it moves as its rig does, and Adapt keeps it whole."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.scene.deform_tree import noted_parents
from bl_ext.devrepo.motion_loom.workflows.adapt import deform_copy
from mathutils import Matrix, Vector

from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests import rigify_scenes as rigify
from tests.adapt_play import bind
from tests.adapt_rigs import edit_bones
from tests.adapt_scenes import bones_of, raise_step
from tests.adapt_walk import BODY
from tests.commands import run
from tests.objects import add_object, into_collection, key
from tests.rig_scenes import ODD_NAMES, add_chain, animate_at_random, fingerprint, watch

WHOLE = 1e-4  # metres: neighbours part by no more
SAME = 1e-5


def copy_of(rig, **options):
    """The copy of a rig's deform bones, and the report."""
    report = deform_copy.copy_rig(bpy.context, rig, **options)
    return bpy.data.objects[report["copy"]], report


def world(rig, names, frames=scenes.FRAMES):
    """World matrices (F, n, 4, 4) of bones by name, as Blender plays them."""
    pose, placed = watch(rig, frames)
    order = [rig.data.bones.find(name) for name in names]
    return placed[:, None] @ pose[:, order]


def assert_moves_alike(copy, rig, frames=scenes.FRAMES):
    names = bones_of(copy)
    np.testing.assert_allclose(world(copy, names, frames), world(rig, names, frames), atol=SAME)


def tree_of(copy):
    """What each bone moves with, by names."""
    names = bones_of(copy)
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


# ------------------------------------------------------------------------------------------------------- the copy


def test_it_moves_as_the_rig_with_all_that_moves_that():
    """Constraints, odd names, every rotation mode, an object that is scaled, turned and moved by keys."""
    rig = add_chain(ODD_NAMES)
    animate_at_random(rig, scale=False)
    rig.rotation_euler, rig.scale = (0.3, -0.5, 1.0), (0.5, 0.5, 0.5)
    key(rig, "location", {1: (0, 2, 0), 12: (3, 2, 0)})
    limit = rig.pose.bones[ODD_NAMES[3]].constraints.new("LIMIT_LOCATION")
    limit.use_min_x, limit.min_x = True, 5.0
    rig.data.bones[ODD_NAMES[2]].use_deform = False
    frames, before = np.arange(1.0, 13.0), fingerprint(rig.animation_data.action)
    copy, report = copy_of(rig)
    assert set(bones_of(copy)) == set(ODD_NAMES) - {ODD_NAMES[2]}
    assert not any(bone.parent for bone in copy.data.bones) and not any(len(b.constraints) for b in copy.pose.bones)
    assert_moves_alike(copy, rig, frames)
    assert report["error_mm"] < 0.01 and fingerprint(rig.animation_data.action) == before
    assert bpy.context.object == copy and copy.select_get() and not rig.select_get()


def test_bones_that_change_size_are_copied_too():
    rig = scenes.add_walker()
    key(rig.pose.bones["elbow.L"], "scale", {1: (1, 1, 1), 24: (1.5, 1.5, 1.5)})
    copy, _ = copy_of(rig)
    assert_moves_alike(copy, rig)


def test_what_constraints_alone_move_is_copied_over_the_scenes_range():
    rig = add_chain(("low", "high"))
    empty = add_object("Empty")
    key(empty, "location", {1: 0.0, 10: 1.0}, index=0)
    rig.pose.bones["low"].constraints.new("COPY_LOCATION").target = empty
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 10
    copy, report = copy_of(rig)
    assert report["frames"] == 10
    assert_moves_alike(copy, rig, np.arange(1.0, 11.0))


def test_what_moves_together_stays_noted(tmp_path):
    """Through new names of bones, a saved file and an appended object."""
    copy, _ = copy_of(scenes.add_walker())
    expected = {bone: above for bone, above in BODY.items() if bone in copy.data.bones}
    assert tree_of(copy) == expected
    copy.data.bones["elbow.L"].name, copy.name = "Ellbogen", "Other"
    found = tree_of(*play.brought(play.save(tmp_path / "copy.blend"), "Other"))
    assert found["Ellbogen"] == "arm.L" and found["wrist.L"] == "Ellbogen" and found["hips"] is None


def test_a_note_against_a_parent_given_since_counts_for_nothing():
    copy, _ = copy_of(scenes.add_walker())
    # By the notes it carries the chest.
    edit_bones(copy, lambda bones: setattr(bones["hips"], "parent", bones["chest"]))
    found = tree_of(copy)
    assert [found["chest"], found["spine"]].count(None) == 1
    assert found["hips"] is None and found["neck"] == "chest"


def test_a_linked_rig_gets_a_local_copy(tmp_path):
    scenes.add_walker()
    (rig,) = play.brought(play.save(tmp_path / "rig.blend"), "Rig", link=True)
    assert rig.library is not None
    copy, _ = copy_of(rig)
    assert copy.library is None and copy.data.library is None and copy.animation_data.action.library is None
    assert_moves_alike(copy, rig)


def test_the_copy_of_a_rig_in_a_hidden_collection_is_seen():
    rig = scenes.add_walker()
    into_collection(rig).hide_viewport = True
    copy, _ = copy_of(rig)
    names = bones_of(copy)
    assert copy.visible_get()
    np.testing.assert_allclose(world(copy, names), world(rig, names), atol=SAME)


def test_the_copy_of_a_live_rig_has_its_source_motion_and_says_so(rig):
    before = world(rig, bones_of(rig))
    bind(rig)
    play.press(rig)
    raise_step()
    adapted = world(rig, bones_of(rig))
    assert np.abs(adapted - before).max() > 0.05
    copy, report = copy_of(rig)
    np.testing.assert_allclose(world(copy, bones_of(rig)), before, atol=SAME)
    said = "'Rig' is live in Adapt to Environment: the copy has its source motion, not the adapted one"
    assert said in report["notes"]
    assert rig.motion_loom_adapt.live
    np.testing.assert_allclose(world(rig, bones_of(rig)), adapted, atol=SAME)


def blocks():
    """Names of all that a copy adds to."""
    return [sorted(each.name for each in kind) for kind in (bpy.data.objects, bpy.data.armatures, bpy.data.actions)]


def add_skinned():
    """A walker, its skin and a prop in its hand."""
    rig = scenes.add_walker()
    skin = scenes.add_box("Skin", (-0.1, -0.1, 0), (0.1, 0.1, 1))
    skin.modifiers.new("Armature", "ARMATURE").object = rig
    prop = scenes.add_box("Prop", (0, 0, 0), (0.1, 0.1, 0.1))
    prop.parent, prop.parent_type, prop.parent_bone = rig, "BONE", "wrist.L"
    return rig, skin, prop


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize(("holder", "name"), [(actions, "assign"), (deform_copy, "_copy_choices")])
def test_after_an_error_nothing_has_changed(monkeypatch, error, holder, name):
    """Before the skin has moved, and after."""
    rig, skin, prop = add_skinned()
    prop.matrix_parent_inverse = Matrix.Translation((0.1, 0.2, 0.3))
    inverse = prop.matrix_parent_inverse.copy()
    play.activate(rig)
    bpy.ops.object.mode_set(mode="POSE")
    before = blocks()

    def fail(*_):
        moved = name == "_copy_choices"
        assert (skin.modifiers[0].object != rig) == (prop.parent != rig) == moved
        raise error

    monkeypatch.setattr(holder, name, fail)
    with pytest.raises(error):
        copy_of(rig, skin=True)
    assert skin.modifiers[0].object == rig
    assert prop.parent == rig and prop.parent_bone == "wrist.L" and prop.matrix_parent_inverse == inverse
    assert blocks() == before
    assert bpy.context.object == rig and rig.mode == "POSE" and rig.select_get()


def test_the_skin_follows_where_it_is_asked_to():
    rig, skin, prop = add_skinned()
    bpy.context.scene.frame_set(12)
    bpy.context.view_layer.update()
    placed = np.array(prop.matrix_world)
    for moves in (False, True):
        play.activate(rig)
        assert bpy.ops.motion_loom.copy_deform_bones(move_skin=moves) == {"FINISHED"}
        owner = bpy.context.object if moves else rig
        assert skin.modifiers[0].object == owner and prop.parent == owner and prop.parent_type == "BONE"
    bpy.context.view_layer.update()
    np.testing.assert_allclose(np.array(prop.matrix_world), placed, atol=SAME)


def test_the_command(rig, capsys):
    report = run(capsys, "copy-deform", "--rig", "Rig", "--name", "Flat", "--start", "3", "--end", "9")
    assert (report["copy"], report["frames"]) == ("Flat", 7)
    assert "The skin stays with 'Rig'; Move Skin lets it follow the copy" in report["notes"]


# ------------------------------------------------------------------------------------------------ Adapt on flat rigs


@pytest.mark.parametrize("noted", [True, False])
def test_a_flat_rig_is_adapted_as_its_original_is(rig, noted, capsys):
    """As other tools export them, and a copy that knows. Each bone was a root by itself."""
    copy, _ = copy_of(rig)
    if not noted:
        for bone in copy.data.bones:
            for key in list(bone.keys()):
                del bone[key]
    found = []
    for each in (rig, copy):
        run(capsys, "bind", "--rig", each.name, "--environment", "Floor", "Step")
    raise_step()
    for each in (rig, copy):
        report = run(capsys, "adapt", "--rig", each.name)
        assert report["write_error_mm"] < 0.1
        found.append(world(each, bones_of(rig)))
    np.testing.assert_allclose(found[1], found[0], atol=1e-4)


def add_reversed_tail(rig):
    """Controls that lead away from the hips and swing; each carries a bone that points back."""

    def add(bones):
        above, at = bones["hips"], bones["hips"].head.copy()
        for number in "123":
            control, bone = bones.new(f"control.{number}"), bones.new(f"tail.{number}")
            end = at + Vector((0.0, -0.2, 0.0))
            control.head, control.tail, control.parent, control.use_deform = at, end, above, False
            bone.head, bone.tail, bone.parent = end, at, control
            above, at = control, end

    edit_bones(rig, add)
    for number, frame in np.ndindex(3, 4):
        bone = rig.pose.bones[f"control.{number + 1}"]
        bone.rotation_mode, bone.rotation_euler.x = "XYZ", 0.4 * np.sin(2.0 * frame + number)
        bone.keyframe_insert("rotation_euler", frame=1 + 6 * frame)


def test_a_tail_that_points_at_the_hips_goes_along_in_one_piece(rig):
    add_reversed_tail(rig)
    copy, _ = copy_of(rig)
    tree = tree_of(copy)
    assert {bone for bone, above in tree.items() if above is None} == {"hips"}
    assert [tree[f"tail.{number}"] for number in "123"] == ["hips", "tail.1", "tail.2"]
    names, lengths = bones_of(copy), [bone.length for bone in copy.data.bones]
    before = world(copy, names)
    bind(copy)
    assert not any(joint.role == "STAYS" for joint in copy.motion_loom_adapt.joints)
    raise_step()
    play.press(copy, "bake")
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
    return bpy.data.objects["rig"]


def wave():
    scenes.deform("Floor", lambda v: v + np.outer(0.1 * np.sin(3.0 * v[:, 1] + v[:, 0]), [0.0, 0.0, 1.0]))
    bpy.context.view_layer.update()


def test_a_default_rigify_human_walks_on_a_changed_floor_by_a_copy_of_its_deform_bones(human):
    human.motion_loom_adapt.surfaces.add().target = bpy.data.objects["Floor"]
    bpy.context.view_layer.objects.active = human
    assert bpy.ops.motion_loom.copy_deform_bones() == {"FINISHED"}
    copy = bpy.context.object
    names, frames = bones_of(copy), rigify.FRAMES
    before = world(copy, names, frames)
    np.testing.assert_allclose(before, world(human, names, frames), atol=SAME)
    tree = noted_parents(copy, names)
    assert {n: tree_of(copy)[n] for n in ("DEF-spine", "DEF-thigh.L", "DEF-shin.L", "DEF-foot.L", "DEF-hand.R")} == {
        "DEF-spine": None, "DEF-thigh.L": "DEF-spine", "DEF-shin.L": "DEF-thigh.L", "DEF-foot.L": "DEF-shin.L",
        "DEF-hand.R": "DEF-forearm.R",
    }  # fmt: skip
    bind(copy, ("Floor",))
    play.press(copy)
    wave()
    shown = world(copy, names, frames)
    play.press(copy, "bake")
    baked = world(copy, names, frames)
    np.testing.assert_allclose(shown, baked, atol=SAME)
    assert np.abs(baked - before)[..., :3, 3].max() > 0.05
    assert parting(before, baked, tree) < WHOLE


def test_a_half_adapted_copy_is_whole_too_also_while_it_is_dragged(human):
    copy, _ = copy_of(human)
    names, frames = bones_of(copy), rigify.FRAMES
    before, tree = world(copy, names, frames), noted_parents(copy, names)
    bind(copy, ("Floor",))
    play.press(copy)
    with play.interactive():
        wave()
        for influence in (1.0, 0.5):
            copy.motion_loom_adapt.influence = influence
            dragged = world(copy, names, frames)
            assert np.abs(dragged - before)[..., :3, 3].max() > 0.02
            assert parting(before, dragged, tree) < WHOLE
        play.press(copy, "bake")
    assert parting(before, world(copy, names, frames), tree) < WHOLE
