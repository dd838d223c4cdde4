"""Undo and redo through the steps of Map, as far as a program without a window has them."""

import functools

import bpy
import numpy as np
import pytest

from tests import map_play as play
from tests import mesh_play
from tests.map_play import PAIRS
from tests.mesh_play import start_undo, step


@pytest.fixture(autouse=True)
def _needs_undo():
    start_undo()


undo, redo = (functools.partial(way, "Worm") for way in (mesh_play.undo, mesh_play.redo))


def healthy(ob):
    bpy.context.view_layer.update()
    return play.status(ob).problem is None and play.status(ob).track == "READY"


def test_live_on_is_undone_and_redone():
    ob = play.add_ready()
    step("ready")
    play.toggle(ob)
    followed = play.shuffled(ob)
    step("live")
    ob = undo()
    assert not ob.motion_loom_map.live and not ob.hide_viewport and play.status(ob) is None
    assert "Worm (live)" not in bpy.data.objects
    ob = redo()
    assert ob.motion_loom_map.live and ob.hide_viewport
    np.testing.assert_array_equal(play.shuffled(ob), followed)
    assert healthy(ob)


def test_pairs_are_undone_while_live():
    ob = play.add_live(PAIRS[:3])
    before = play.shuffled(ob)
    step("live")
    play.pair(ob, PAIRS[3])
    ob.motion_loom_map.pairs[1].target_frame = 2
    after = play.shuffled(ob)
    step("pair")
    assert np.abs(after - before).max() > 0.01
    ob = undo()
    assert len(ob.motion_loom_map.pairs) == 3
    np.testing.assert_array_equal(play.shuffled(ob), before)
    ob = redo()
    np.testing.assert_array_equal(play.shuffled(ob), after)
    assert healthy(ob)


def test_learning_again_is_undone_while_live():
    ob = play.add_live()
    before = play.shuffled(ob)
    step("live")
    settings = ob.motion_loom_map
    settings.use_target_range, settings.target_start, settings.target_end = True, 6, 18
    play.activate(settings.live_copy)
    play.press("fit", workflow="map")
    assert np.abs(play.shuffled(ob) - before).max() > 0.01
    step("learn")
    ob = undo()
    np.testing.assert_array_equal(play.shuffled(ob), before)
    assert healthy(ob)


@pytest.mark.parametrize("name", ("Worm (live)", "Dots 2"))
def test_a_deletion_is_undone_while_live(name):
    ob = play.add_live()
    before = play.shuffled(ob)
    step("live")
    bpy.data.objects.remove(bpy.data.objects[name])
    bpy.context.view_layer.update()
    assert play.status(ob).problem
    step("delete")
    ob = undo()
    np.testing.assert_array_equal(play.shuffled(ob), before)
    assert healthy(ob)


def test_an_edit_of_the_source_is_undone():
    ob = play.add_live()
    before = play.shuffled(ob)
    bpy.context.scene.frame_set(9)
    step("live")
    bpy.data.objects["Dots 1"].location.z += 0.4
    play.now(ob)
    assert play.status(ob).track == "SWEEP"
    step("edit")
    ob = undo()
    bpy.context.scene.frame_set(9)
    assert healthy(ob)
    np.testing.assert_array_equal(play.shuffled(ob), before)


def test_a_bake_is_undone():
    ob = play.add_live()
    followed = play.shuffled(ob)
    step("live")
    play.bake(ob)
    step("bake")
    ob = undo()
    assert ob.motion_loom_map.result is None and "Worm (mapped)" not in bpy.data.objects
    np.testing.assert_array_equal(play.shuffled(ob), followed)
