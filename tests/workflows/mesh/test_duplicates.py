"""Duplicates of live meshes and of their live copies are the user's: neither live, nor removed with what is."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import live_mesh

from tests import mesh_steps
from tests.mesh_steps import reopened

pytestmark = pytest.mark.usefixtures("silent")


def duplicate(ob, name, linked=False):
    mesh_steps.activate(ob)
    bpy.ops.object.duplicate(linked=linked)
    bpy.context.object.name = name
    return bpy.context.object


def toggle_active(play, ob):
    bpy.context.view_layer.objects.active = ob
    mesh_steps.press("live", workflow=play.workflow)


@pytest.mark.parametrize("linked", (False, True))
def test_a_duplicate_of_the_live_copy_is_the_users(play, ob, linked):
    """Not taken for the live copy by the next Live, nor removed with it."""
    keep = duplicate(play.copy(ob), "Keep", linked)
    play.toggle(ob)
    assert not ob.hide_viewport and not live_mesh.is_live(keep) and live_mesh.live_of(ob) is None
    keep.location.x += 5.0
    place = keep.location.copy()
    play.toggle(ob)
    assert play.copy(ob) != keep and ob.hide_viewport and ob.hide_render and play.healthy(ob)
    bpy.context.scene.frame_set(20)
    assert keep.location == place
    play.toggle(ob)
    assert bpy.data.objects.get("Keep") == keep and keep.users_scene and not ob.hide_viewport


def test_a_duplicate_from_an_older_file_is_let_go_by_live_on(play, ob):
    """It has the mark still."""
    mark = play.copy(ob)[live_mesh.LIVE_MARK].to_dict()
    keep = duplicate(play.copy(ob), "Keep")
    play.toggle(ob)
    keep[live_mesh.LIVE_MARK] = mark
    play.toggle(ob)
    assert play.copy(ob) != keep and not live_mesh.is_live(keep) and ob.hide_viewport


def test_a_duplicate_does_not_stand_in_for_a_deleted_copy(play, ob, tmp_path):
    duplicate(play.copy(ob), "Keep")
    bpy.data.objects.remove(play.copy(ob))
    assert f"live copy of '{play.target}' was deleted" in play.problem(ob)
    ob = reopened(ob, tmp_path)
    assert f"live copy of '{play.target}' was deleted" in play.problem(ob)
    toggle_active(play, bpy.data.objects["Keep"])
    assert not ob.hide_viewport and "Keep" in bpy.data.objects
    play.toggle(ob)
    assert play.healthy(ob) and play.copy(ob).name != "Keep"


@pytest.mark.parametrize("of", ("original", "copy"))
def test_a_copy_with_its_own_data_is_not_live(play, ob, of):
    before = play.followed(ob)
    one = ob if of == "original" else play.copy(ob)
    twin = one.copy()
    twin.data = one.data.copy()
    bpy.context.scene.collection.objects.link(twin)
    bpy.context.view_layer.update()
    np.testing.assert_array_equal(play.followed(ob), before)
    assert play.healthy(ob)
    play.toggle(ob)
    assert not ob.hide_viewport


@pytest.mark.parametrize("kind", ("ABSOLUTE_KEYS", "PCA_KEYS"))
def test_a_duplicate_of_a_live_target_is_not_live(play, ob, kind):
    """It can be baked, and Live makes a copy of its own; that of the other one is left alone."""
    twin, copy = ob.copy(), play.copy(ob)
    bpy.context.scene.collection.objects.link(twin)
    assert play.problem(ob) is None and play.status(twin) is None
    play.settings(twin).bake_kind = kind
    bpy.context.view_layer.objects.active = twin
    mesh_steps.press("bake", workflow=play.workflow)
    result = play.settings(twin).result
    assert result not in (None, play.settings(ob).result) and not result.hide_viewport and not result.hide_render
    toggle_active(play, twin)
    own = play.copy(twin)
    assert play.settings(twin).live and own not in (None, copy) and live_mesh.original_of(own) == twin
    assert play.healthy(twin) and play.healthy(ob) and play.copy(ob) == copy
    toggle_active(play, own)
    assert not twin.hide_viewport and not twin.hide_render and ob.hide_viewport and play.healthy(ob)


def test_a_duplicate_of_a_live_target_is_shown_when_that_is_live_no_more(play, ob):
    twin = ob.copy()
    bpy.context.scene.collection.objects.link(twin)
    play.toggle(ob)
    for one in (ob, twin):
        assert not play.settings(one).live and not one.hide_viewport and not one.hide_render
    assert play.status(twin) is None
