"""What drives Map: points with gaps and jumps, armatures, meshes, and other ones of the same name or in their place."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.workflows.map.doubts import source_doubts
from bl_ext.devrepo.motion_loom.workflows.map.model import target_of
from mathutils import Matrix

from tests import map_play as play
from tests import mesh_steps
from tests.adapt_scenes import FRAMES as WALK
from tests.adapt_scenes import add_walker
from tests.map_play import FRAMES, MAP, PAIRS, healthy, problem
from tests.mesh_play import PLACES, says
from tests.mesh_steps import SAME, delete, edited, once, shown

pytestmark = pytest.mark.usefixtures("no_traceback")


# ------------------------------------------------------------------------------------------------------------ points


def test_points_that_are_missing_for_some_frames():
    """They are filled in between; a point that never shows is left out."""
    ob, dots = play.add_target(), play.add_dots()
    for number, frames in ((1, (10, 16)), (4, (1, 5)), (5, (36, 41))):
        play.hide_between(number, frames)
    bpy.data.objects["Dots 2"].hide_viewport = True
    play.learn(ob, dots)
    play.pair(ob, (3, 1), (12, 8), (22, 15), (38, 20))
    play.toggle(ob)
    bpy.context.scene.frame_set(1)
    step = np.linalg.norm(np.diff(MAP.follows_as_baked(ob), axis=0), axis=-1).max(axis=1)
    assert step.max() < 8 * np.median(step)


@pytest.mark.parametrize("among", ["collection", "root"])
def test_bones_that_are_not_looked_at_are_told(among):
    """The root of an imported rig, or its collection: origins alone were followed, or said to stand still."""
    ob, walker = play.add_target(), add_walker()
    root, rig = bpy.data.objects.new("Root", None), bpy.data.collections.new("Rig")
    for collection in (bpy.context.scene.collection, rig):
        collection.objects.link(root)
    bpy.context.scene.collection.children.link(rig)
    rig.objects.link(walker)
    walker.parent = root
    bpy.context.view_layer.update()
    source, told = (rig if among == "collection" else root), f"the bones of '{walker.name}' are not looked at"
    with pytest.raises(RuntimeError, match=f"{told}: choose '{walker.name}' itself"):
        play.learn(ob, source)
    play.learn(ob, walker)
    assert source_doubts(ob) == ()


def test_other_meshes_of_the_same_armature_are_told(capfd):
    """Each was mapped by itself: a body without its arms, and feet where none are."""
    ob, rig = play.add_target(), bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    ob.modifiers.new("Armature", "ARMATURE").object = rig
    play.learn(ob, play.add_dots())
    assert target_of(ob).doubts == ()
    arm = play.add_target("Arm")
    arm.parent = rig
    play.learn(ob)
    (doubt,) = target_of(ob).doubts
    assert doubt.startswith("'Rig' also moves 'Arm', which 'Worm' does not take along")
    assert "'Rig' also moves 'Arm'" in capfd.readouterr().out
    arm.hide_viewport = True
    play.learn(ob)
    assert target_of(ob).doubts == ()
    glasses = play.add_target("Glasses")
    glasses.parent = ob
    play.learn(ob)
    (doubt,) = target_of(ob).doubts
    assert doubt.startswith("'Worm' carries 'Glasses', which 'Worm' does not take along")


def test_other_meshes_of_a_source_are_told():
    """A body without its hands moved nothing of the target's hands, and no word was said."""
    ob, source = play.add_target(), play.add_target("Body")
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    for mesh in (source, play.add_target("Hands")):
        mesh.parent = rig
    play.learn(ob, source)
    (doubt,) = target_of(ob).doubts
    assert doubt.startswith("'Rig' also moves 'Hands', which tells nothing of how 'Worm' moves")
    assert "choose 'Rig' itself" in doubt


def test_points_are_hidden(both_ways, ob):
    """They keep the last place that is known, and the others go on."""
    before = play.followed(ob)
    for number in (1, 4):
        bpy.data.objects[f"Dots {number}"].hide_viewport = True
    found = play.followed(ob)
    assert np.isfinite(found).all() and problem(ob) is None
    assert np.abs(found - before).max() < 0.5


def test_a_tracker_that_jumps():
    """One frame thrown far off and one point that loses itself for a while move nothing."""
    places = play.dots()
    clean = play.learn(play.add_target("Clean"), play.add_dots("Good", places))
    broken = places.copy()
    broken[18] += 20.0
    broken[30:32, 2] = [9.0, -9.0, 9.0]
    ob = play.learn(play.add_target(), play.add_dots(places=broken))
    results = []
    for target in (clean, ob):
        play.pair(target, *PAIRS)
        results.append(shown(play.bake(target), FRAMES))
    apart = np.linalg.norm(results[1] - results[0], axis=-1).max(axis=1)
    assert np.median(apart) < 0.02 and apart.max() < 0.15
    play.activate(ob)
    mesh_steps.press("map_suggest")
    suggested = {float(word) for word in ob.motion_loom_map.suggestions.split()}
    assert not suggested & {19.0, 31.0, 32.0}


def test_a_tracker_that_gives_no_numbers():
    """Curves cannot hold them, drivers can."""
    ob, dots = play.add_target(), play.add_dots()
    driver = bpy.data.objects["Dots 3"].driver_add("location", 1).driver
    driver.expression = "frame * 0.1 if frame % 9 else (1e38 * 1e38 - 1e38 * 1e38)"
    play.learn(ob, dots)
    play.pair(ob, (3, 1), (9, 8), (22, 15))
    play.toggle(ob)
    assert np.isfinite(play.followed(ob)).all() and play.status(ob).problem is None


def test_a_point_is_unlinked(both_ways, ob):
    collection, empty = bpy.data.collections["Dots"], bpy.data.objects["Dots 1"]
    before = play.now(ob)
    collection.objects.unlink(empty)
    assert "'Dots 1'" in problem(ob)
    np.testing.assert_array_equal(play.now(ob), before)
    play.toggle(ob)
    collection.objects.link(empty)
    play.toggle(ob)
    assert problem(ob) is None


def test_the_source_collection_is_deleted(ob):
    for empty in list(bpy.data.collections["Dots"].objects):
        bpy.data.objects.remove(empty)
    bpy.data.collections.remove(bpy.data.collections["Dots"])
    assert "'Dots 0'" in problem(ob)
    play.toggle(ob)
    assert not ob.hide_viewport


def gone_and_back(empty, meanwhile=lambda: None):
    """Delete an empty and make another one of its name and motion in its collections."""
    name, action, collections = empty.name, empty.animation_data.action, empty.users_collection
    slot = getattr(empty.animation_data, "action_slot", None)
    bpy.data.objects.remove(empty)
    meanwhile()
    new = bpy.data.objects.new(name, None)
    actions.assign(new, action, slot)
    for collection in collections:
        collection.objects.link(new)
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
    return new


@pytest.mark.parametrize("number", (0, 2, 5))
def test_a_point_comes_back_under_its_name(ob, number):
    before = play.followed(ob)
    bpy.data.objects["Dots 1"].name = "renamed"  # that is known as well
    bpy.context.scene.frame_set(9)
    if number == 0:
        bpy.data.objects["Dots 5"].name = "renamed too"

    def meanwhile():
        assert f"'Dots {number}'" in problem(ob)

    gone_and_back(bpy.data.objects[f"Dots {number}"], meanwhile)
    assert healthy(ob)
    np.testing.assert_allclose(play.followed(ob), before, atol=SAME)


def test_all_points_come_back(ob):
    """With the source performed, as of a stream that begins anew."""
    before = play.followed(ob)
    for ob.motion_loom_map.live_input in (False, True):
        for empty in list(bpy.data.collections["Dots"].objects):
            gone_and_back(empty)
        assert healthy(ob)
        if not ob.motion_loom_map.live_input:
            np.testing.assert_allclose(MAP.follows_as_baked(ob), before, atol=SAME)


def test_another_object_in_the_place_of_a_point(ob):
    """It is not taken for it, nor are the others moved up."""
    bpy.data.objects.remove(bpy.data.objects["Dots 1"])
    bpy.data.collections["Dots"].objects.link(bpy.data.objects.new("Stranger", None))
    assert "'Dots 1'" in problem(ob)
    play.activate(ob.motion_loom_map.live_copy)
    ob.motion_loom_map.bake_kind = "PCA_KEYS"
    says(MAP, "bake", "'Dots 1'")


# --------------------------------------------------------------------------------------------------------- armatures


def make_rigged():
    """Worm, paired with a walker's joints."""
    ob = play.learn(play.add_target(), add_walker())
    play.pair(ob, (3, 1), (10, 8), (17, 15), (22, 20))
    return ob


@pytest.fixture
def rigged(both_ways):
    """The same, live."""
    ob = once(make_rigged)
    play.toggle(ob)
    return ob


def test_a_bone_is_posed_without_keys(rigged):
    bpy.context.scene.frame_set(12)
    before = play.now(rigged)
    bone = bpy.data.objects["Rig"].pose.bones["spine"]
    bone.rotation_mode = "QUATERNION"
    bone.rotation_quaternion = bone.rotation_quaternion.to_matrix().to_quaternion()
    bone.location.z += 0.3
    assert np.abs(play.now(rigged) - before).max() > 1e-3
    assert play.status(rigged).track == "SWEEP"


def test_a_bone_is_removed(rigged):
    bpy.context.scene.frame_set(12)
    before = play.now(rigged)
    with edited(bpy.data.objects["Rig"]):
        bones = bpy.data.armatures[0].edit_bones
        bones.remove(bones["elbow.L"])
    assert "elbow.L" in problem(rigged) and "'Rig'" in problem(rigged)
    np.testing.assert_array_equal(play.now(rigged), before)
    MAP.press(rigged, "fit")
    assert problem(rigged) is None and healthy(rigged)


@pytest.mark.parametrize("how", ("operator", "data"))
def test_the_armature_is_deleted(rigged, how):
    delete(bpy.data.objects["Rig"], how)
    assert "'Rig'" in problem(rigged) and "deleted" in problem(rigged)
    play.toggle(rigged)
    assert not rigged.hide_viewport and not rigged.motion_loom_map.live


@pytest.mark.versions
def test_the_armature_and_a_bone_are_renamed_and_it_is_hidden(rigged):
    before = play.followed(rigged, WALK)
    rig = bpy.data.objects["Rig"]
    rig.data.bones["elbow.L"].name = 'the "elbow"'
    rig.name = "Knochen / 'a'"
    np.testing.assert_array_equal(play.followed(rigged, WALK), before)
    assert healthy(rigged)
    rig.hide_viewport = True
    assert "'Knochen / 'a''" in problem(rigged) and "hidden" in problem(rigged)
    rig.hide_viewport = False
    assert problem(rigged) is None
    np.testing.assert_array_equal(MAP.follows_as_baked(rigged, WALK), before)


def test_another_source_is_chosen(rigged):
    settings = rigged.motion_loom_map
    before, rig = play.followed(rigged, WALK), settings.source
    dots, mesh, twin = play.add_dots(), play.add_target("Mesh"), add_walker("Twin")
    for source, collection in ((None, dots), (mesh, None), (bpy.data.objects["Dots 0"], None)):
        settings.source, settings.source_collection = source, collection
        assert "Learn Target" in problem(rigged)
        settings.source, settings.source_collection = rig, None
        assert problem(rigged) is None
        np.testing.assert_array_equal(play.followed(rigged, WALK), before)
    settings.source = twin  # of the same bones: it takes the other's place
    assert problem(rigged) is None
    np.testing.assert_allclose(play.followed(rigged, WALK), before, atol=SAME)


@pytest.mark.parametrize("place", ("scaled", "rotated", "mirrored"))
def test_places_of_an_armature(place):
    ob = once(make_rigged)
    rig = bpy.data.objects["Rig"]
    before = shown(play.bake(ob), WALK)
    rig.matrix_world = Matrix.Scale(2.0, 4) if place == "scaled" else PLACES[place]
    for curve in ("location", "scale", "rotation_euler"):
        rig.keyframe_insert(curve, frame=1)
    play.learn(ob)
    after = shown(play.bake(ob), WALK)
    assert np.isfinite(after).all()
    if place == "scaled":
        np.testing.assert_allclose(after, before, atol=1e-3)


# ------------------------------------------------------------------------------------------------------------ meshes


def test_a_mesh_as_source(both_ways):
    source = play.add_target("Source")
    group = source.vertex_groups.new(name="every third")
    group.add(list(range(0, 48, 3)), 1.0, "REPLACE")
    ob = play.add_target()
    ob.location.x = 2.0
    ob.motion_loom_map.source_group = "every third"
    play.learn(ob, source)
    play.pair(ob, (1, 1), (7, 7), (13, 13), (19, 19))
    play.toggle(ob)
    MAP.follows_as_baked(ob, np.arange(1, 25))
    bpy.context.scene.frame_set(4)
    source.data.shape_keys.key_blocks[3].points[0].co.z += 0.5
    source.data.shape_keys.update_tag()
    play.now(ob)
    assert play.status(ob).track == "SWEEP"


# ------------------------------------------------------------------------------------------------------- the target


def test_a_target_that_goes_flat_on_the_way():
    ob = play.add_target()
    play.write_keys(ob, "scale", [1, 20], [[1, 1, 1], [1, 1, 0]])
    play.learn(ob, play.add_dots())
    play.pair(ob, *PAIRS)
    play.bake(ob)


def test_a_target_with_keyed_travel_and_turning():
    ob = play.add_target()
    play.write_keys(ob, "location", [1, 24], [[2, 0, 0], [2, -3, 0]])
    play.write_keys(ob, "rotation_euler", [1, 24], [[0, 0, 0], [0, 0, 0.5]])
    before = shown(ob, np.arange(1, 25))
    play.learn(ob, play.add_dots())
    play.pair(ob, *PAIRS)
    play.toggle(ob)
    found = MAP.follows_as_baked(ob)
    assert np.linalg.norm(found[-1].mean(axis=0) - found[0].mean(axis=0)) > 0.5
    play.toggle(ob)
    np.testing.assert_array_equal(shown(ob, np.arange(1, 25)), before)
