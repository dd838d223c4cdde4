"""Undo and redo through the steps of Transfer, as far as a program without a window has them."""

import functools

import bpy
import numpy as np
import pytest

from tests import map_play, mesh_play
from tests import transfer_play as play
from tests.mesh_play import start_undo, step
from tests.transfer_play import PAIRS

NEW = np.arange(1, 31, 3)


@pytest.fixture(autouse=True)
def _needs_undo():
    start_undo()


undo, redo = (functools.partial(way, "Bob") for way in (mesh_play.undo, mesh_play.redo))


def followed(bob):
    return map_play.shown(bob.motion_loom_transfer.live_copy, NEW)


def healthy(bob):
    bpy.context.view_layer.update()
    return play.status(bob).problem is None and play.status(bob).track == "READY"


def test_live_on_is_undone_and_redone():
    _, bob, _ = play.add_trained()
    step("trained")
    play.toggle(bob)
    expected = followed(bob)
    step("live")
    bob = undo()
    settings = bob.motion_loom_transfer
    assert not settings.live and not bob.hide_viewport and play.status(bob) is None and settings.clip is None
    assert "Bob (live)" not in bpy.data.objects
    bob = redo()
    assert bob.motion_loom_transfer.live and bob.hide_viewport
    np.testing.assert_array_equal(followed(bob), expected)
    assert healthy(bob)


def test_steps_are_undone_one_by_one():
    ann, bob, _ = play.add_scene()
    play.add_clip(bob, ann, PAIRS)
    play.add_parts(bob)
    step("clips")
    for button in ("fit", "densify", "train"):
        map_play.press(button, workflow="transfer")
        step(button)
    settings = undo().motion_loom_transfer
    assert settings.learnt is None and settings.clips[0].picture is not None
    settings = undo().motion_loom_transfer
    assert settings.clips[0].picture is None and settings.subjects is not None
    settings = undo().motion_loom_transfer
    assert settings.subjects is None and not settings.clips[0].stored
    bob = redo(3)
    assert bob.motion_loom_transfer.learnt is not None
    bob.motion_loom_transfer.performed = bpy.data.objects["Ann Again"]
    play.toggle(bob)
    assert healthy(bob)


def test_pairs_and_training_are_undone_while_live():
    _, bob, _ = play.add_live(PAIRS[:4])
    before = followed(bob)
    step("live")
    settings = bob.motion_loom_transfer
    map_play.activate(settings.live_copy)
    bpy.context.scene.frame_set(40)
    settings.target_frame = 40
    map_play.press("transfer_add_pair")
    step("pair")
    map_play.press("train", workflow="transfer")
    after = followed(bob)
    step("train")
    assert np.abs(after - before).max() > 0.005
    bob = undo()
    assert len(bob.motion_loom_transfer.clips[0].pairs) == 5
    np.testing.assert_array_equal(followed(bob), before)
    assert healthy(bob) and "since Train" in play.status(bob).note
    bob = undo()
    assert len(bob.motion_loom_transfer.clips[0].pairs) == 4
    np.testing.assert_array_equal(followed(bob), before)
    assert healthy(bob) and play.status(bob).note is None
    bob = redo(2)
    np.testing.assert_array_equal(followed(bob), after)
    assert healthy(bob)


@pytest.mark.parametrize("name", ("Bob (live)", "Ann Again"))
def test_a_deletion_is_undone_while_live(name):
    _, bob, _ = play.add_live()
    before = followed(bob)
    step("live")
    bpy.data.objects.remove(bpy.data.objects[name])
    bpy.context.view_layer.update()
    assert play.status(bob).problem
    step("delete")
    bob = undo()
    np.testing.assert_array_equal(followed(bob), before)
    assert healthy(bob)


def test_an_edit_of_the_new_clip_is_undone():
    _, bob, new = play.add_live()
    before = followed(bob)
    bpy.context.scene.frame_set(10)
    step("live")
    new.data.shape_keys.key_blocks[9].points[0].co.z += 0.4
    new.data.shape_keys.update_tag()
    play.now(bob)
    assert play.status(bob).track == "SWEEP"
    step("edit")
    bob = undo()
    bpy.context.scene.frame_set(10)
    assert healthy(bob)
    np.testing.assert_array_equal(followed(bob), before)


def test_another_new_clip_is_undone_while_live():
    ann, bob, _ = play.add_live()
    before = followed(bob)
    step("live")
    bob.motion_loom_transfer.performed = ann
    bpy.context.view_layer.update()
    assert play.status(bob).problem
    step("choice")
    bob = undo()
    np.testing.assert_array_equal(followed(bob), before)
    assert healthy(bob)


def test_a_bake_is_undone():
    _, bob, _ = play.add_live()
    before = followed(bob)
    step("live")
    play.bake(bob)
    step("bake")
    bob = undo()
    assert bob.motion_loom_transfer.result is None and "Bob (transferred)" not in bpy.data.objects
    np.testing.assert_array_equal(followed(bob), before)
