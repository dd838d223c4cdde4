"""Streamed joints as empties and recordings as actions, beside objects of the user's own."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.scene.stream_empties import COLLECTION, place_empties, write_recording
from bl_ext.devrepo.motion_loom.solvers.core.errors import InputError

from tests.objects import add_object, reopen

NAMES = ("Hips", "左手", 'odd "name"\\', "x" * 63)


def places(seed=0, *shape):
    return np.random.default_rng(seed).normal(size=(*shape, len(NAMES), 3))


def at(empties):
    bpy.context.view_layer.update()
    return np.array([ob.matrix_world.translation for ob in empties])


def test_one_empty_a_joint_in_a_collection_of_their_own():
    scene = bpy.context.scene
    empties = place_empties(scene, NAMES, places())
    assert [ob.name for ob in empties] == list(NAMES)
    assert set(bpy.data.collections[COLLECTION].objects) == set(empties)
    assert all(ob.type == "EMPTY" and ob.users_scene == (scene,) for ob in empties)
    np.testing.assert_allclose(at(empties), places(), atol=1e-6)


def test_the_next_frame_moves_the_same_empties_and_a_missing_joint_stays_and_a_new_one_joins():
    scene, first, second = bpy.context.scene, places(), places(1)
    empties = place_empties(scene, NAMES, first)
    order = [2, 0, 3, 1]
    again = place_empties(scene, tuple(NAMES[k] for k in order), first[order])
    assert [again[order.index(k)] for k in range(4)] == empties
    np.testing.assert_allclose(at(empties), first, atol=1e-6)
    assert len(bpy.data.objects) == 4
    second[1, 2] = np.nan
    place_empties(scene, (*NAMES, "Tail"), np.vstack([second, np.ones((1, 3))]))
    second[1] = first[1]
    np.testing.assert_allclose(at(empties), second, atol=1e-6)
    np.testing.assert_allclose(at([bpy.data.objects["Tail"]]), [[1, 1, 1]])


def test_objects_of_the_users_are_left_alone():
    """One has a joint's name, one lies in the collection, and a collection has the stream's name."""
    scene = bpy.context.scene
    hips = add_object("Hips")
    users = bpy.data.collections.new(COLLECTION)
    scene.collection.children.link(users)
    empties = place_empties(scene, NAMES, places())
    assert not len(users.objects)
    assert hips not in empties
    empties[0].users_collection[0].objects.link(hips)
    place_empties(scene, NAMES, places(1))
    write_recording(scene, NAMES, places(2, 5), 1, "Take")
    assert at([hips]).tolist() == [[0, 0, 0]]
    assert hips.animation_data is None


def test_what_was_deleted_or_renamed_is_found_or_made_again():
    scene = bpy.context.scene
    empties = place_empties(scene, NAMES, places())
    empties[0].name = "renamed"
    bpy.data.objects.remove(empties[1])
    again = place_empties(scene, NAMES, places(1))
    assert again[0].name == "renamed"
    assert again[1].name == NAMES[1]
    for ob in again:
        bpy.data.objects.remove(ob)
    bpy.data.collections.remove(bpy.data.collections[COLLECTION])
    assert len(place_empties(scene, NAMES, places())) == 4


def test_each_scene_has_its_own():
    first = place_empties(bpy.context.scene, NAMES, places())
    second = place_empties(bpy.data.scenes.new("Other"), NAMES, places(1))
    assert not set(first) & set(second)


def test_a_recording_plays_back():
    scene = bpy.context.scene
    recorded = places(3, 20)
    made = write_recording(scene, NAMES, recorded, 11, "Take")
    assert len(made) == (1 if actions.HAS_SLOTS else 4)
    assert made[0].name == ("Take" if actions.HAS_SLOTS else "Take Hips")
    empties = [bpy.data.objects[name] for name in NAMES]
    for frame in (11, 17, 30):
        scene.frame_set(frame)
        np.testing.assert_allclose(at(empties), recorded[frame - 11], atol=1e-6)
    scene.frame_set(12, subframe=0.5)
    np.testing.assert_allclose(at(empties), recorded[1:3].mean(axis=0), atol=1e-6)
    assert all(actions.curve_count(*actions.assigned(ob)) == 3 for ob in empties)


def test_a_joint_has_no_keys_where_it_is_missing():
    recorded = places(4, 10)
    recorded[3:6, 1] = np.nan
    recorded[:, 2] = np.nan
    write_recording(bpy.context.scene, NAMES, recorded, 1, "Take")
    curves = [actions.all_curves(*actions.assigned(bpy.data.objects[name])) for name in NAMES]
    assert [sorted({len(curve.keyframe_points) for curve in of}) for of in curves] == [[10], [7], [], [10]]


def test_a_second_take_keeps_the_first(tmp_path):
    scene = bpy.context.scene
    first = write_recording(scene, NAMES, places(5, 10), 1, "Take")
    second = write_recording(scene, NAMES, places(6, 10), 1, "Take")
    assert not set(first) & set(second)
    names = [action.name for action in (*first, *second)]
    reopen(tmp_path)
    assert set(names) <= set(bpy.data.actions.keys())
    bpy.context.scene.frame_set(4)
    np.testing.assert_allclose(at([bpy.data.objects[name] for name in NAMES]), places(6, 10)[3], atol=1e-6)
    assert len(place_empties(bpy.context.scene, NAMES, places())) == len(bpy.data.objects) == 4


@pytest.mark.parametrize("shape", [(4, 2), (3, 3), (12,), (5, 3, 3), (0, 4, 3)])
def test_shapes_that_do_not_agree_and_a_name_given_twice_are_refused(shape):
    scene = bpy.context.scene
    for words, write, *given in (
        ("4 joints", place_empties, NAMES, np.zeros(shape)),
        ("4 joints", write_recording, NAMES, np.zeros(shape), 1, "Take"),
        ("twice", place_empties, ("a", "a"), np.zeros((2, 3))),
    ):
        with pytest.raises(InputError, match=words):
            write(scene, *given)
    assert not bpy.data.objects and not bpy.data.actions
