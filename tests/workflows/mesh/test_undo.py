"""Undo and redo while a mesh is live, as far as a program without a window has them."""

import bpy
import numpy as np
import pytest

from tests import mesh_steps, transfer_play
from tests.map_play import MAP
from tests.mesh_play import redo, start_undo, step, undo
from tests.transfer_play import TRANSFER

pytestmark = pytest.mark.versions


@pytest.fixture(autouse=True)
def _needs_undo():
    start_undo()


def healthy(play, ob):
    bpy.context.view_layer.update()
    return play.healthy(ob)


def test_a_deleted_copy_comes_back_by_undo(play, ob):
    before = play.followed(ob)
    step("live")
    bpy.data.objects.remove(play.copy(ob))
    bpy.context.view_layer.update()
    assert play.status(ob).problem
    step("delete")
    ob = undo(play.target)
    np.testing.assert_array_equal(play.followed(ob), before)
    assert healthy(play, ob)


def test_an_edit_of_the_source_is_undone(play, ob):
    """One without keys: a place, a shape."""
    before = play.followed(ob)
    bpy.context.scene.frame_set(9)
    step("live")
    if play is MAP:
        bpy.data.objects["Dots 1"].location.z += 0.4
    else:
        bpy.data.objects["Ann Again"].data.shape_keys.key_blocks[8].points[0].co.z += 0.4
        bpy.data.objects["Ann Again"].data.shape_keys.update_tag()
    play.now(ob)
    assert play.status(ob).track == "SWEEP"
    step("edit")
    ob = undo(play.target)
    bpy.context.scene.frame_set(9)
    assert healthy(play, ob)
    np.testing.assert_array_equal(play.followed(ob), before)


def test_a_bake_is_undone(play, ob):
    before = play.followed(ob)
    step("live")
    name = play.bake(ob).name
    step("bake")
    ob = undo(play.target)
    assert play.settings(ob).result is None and name not in bpy.data.objects
    np.testing.assert_array_equal(play.followed(ob), before)


def test_learning_again_is_undone_while_live():
    ob = MAP.add_live()
    before = MAP.followed(ob)
    step("live")
    settings = ob.motion_loom_map
    settings.use_target_range, settings.target_start, settings.target_end = True, 6, 18
    MAP.press(ob, "fit")
    assert np.abs(MAP.followed(ob) - before).max() > 0.01
    step("learn")
    ob = undo("Worm")
    np.testing.assert_array_equal(MAP.followed(ob), before)
    assert healthy(MAP, ob)


def test_steps_are_undone_one_by_one():
    bob = mesh_steps.once(transfer_play.make_unread)
    step("clips")
    for button in ("fit", "densify", "train"):
        mesh_steps.press(button, workflow="transfer")
        step(button)
    settings = undo("Bob").motion_loom_transfer
    assert settings.learnt is None and settings.clips[0].picture is not None
    settings = undo("Bob").motion_loom_transfer
    assert settings.clips[0].picture is None and settings.subjects is not None
    settings = undo("Bob").motion_loom_transfer
    assert settings.subjects is None and not settings.clips[0].stored
    bob = redo("Bob", 3)
    assert bob.motion_loom_transfer.learnt is not None
    bob.motion_loom_transfer.performed = bpy.data.objects["Ann Again"]
    TRANSFER.toggle(bob)
    assert healthy(TRANSFER, bob)


def test_pairs_and_training_are_undone_while_live():
    bob = TRANSFER.add_live(transfer_play.PAIRS[:4])
    before = TRANSFER.followed(bob)
    step("live")
    settings = bob.motion_loom_transfer
    mesh_steps.activate(settings.live_copy)
    bpy.context.scene.frame_set(40)
    settings.target_frame = 40
    mesh_steps.press("transfer_add_pair")
    step("pair")
    mesh_steps.press("train", workflow="transfer")
    after = TRANSFER.followed(bob)
    step("train")
    assert np.abs(after - before).max() > 0.005
    bob = undo("Bob")
    assert len(bob.motion_loom_transfer.clips[0].pairs) == 5
    np.testing.assert_array_equal(TRANSFER.followed(bob), before)
    assert healthy(TRANSFER, bob) and "since Train" in TRANSFER.status(bob).note
    bob = undo("Bob")
    assert len(bob.motion_loom_transfer.clips[0].pairs) == 4
    np.testing.assert_array_equal(TRANSFER.followed(bob), before)
    assert healthy(TRANSFER, bob) and TRANSFER.status(bob).note is None
    bob = redo("Bob", 2)
    np.testing.assert_array_equal(TRANSFER.followed(bob), after)
    assert healthy(TRANSFER, bob)


def test_another_new_clip_is_undone_while_live():
    bob = TRANSFER.add_live()
    before = TRANSFER.followed(bob)
    step("live")
    bob.motion_loom_transfer.performed = bpy.data.objects["Ann"]
    bpy.context.view_layer.update()
    assert TRANSFER.status(bob).problem
    step("choice")
    bob = undo("Bob")
    np.testing.assert_array_equal(TRANSFER.followed(bob), before)
    assert healthy(TRANSFER, bob)
