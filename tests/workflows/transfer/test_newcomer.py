"""What somebody new to Transfer came upon: meshes put in another order, duplicates of live copies, stale and scaled
clips, copies that are gone."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import live_mesh

from tests import map_play, mesh_play
from tests import transfer_play as play
from tests.mesh_play import put_in_reverse
from tests.transfer_play import healthy, press, problem

pytestmark = pytest.mark.usefixtures("silent")

SAME = 1e-6
NEW = np.arange(1, 31, 4)


def followed(bob, frames=NEW):
    return map_play.shown(bob.motion_loom_transfer.live_copy, frames)


def refused(bob, button, match):
    bob.motion_loom_transfer.bake_kind = "ABSOLUTE_KEYS"
    return mesh_play.refused(bob, "motion_loom_transfer", button, match, workflow="transfer")


# ---------------------------------------------------------------------------------------------- vertices out of order


def test_a_target_in_another_order_is_refused():
    _, bob, _ = play.add_trained()
    put_in_reverse(bob)
    text = "The vertices or faces of 'Bob' are in another order than when its clips were read; undo that or press Read"
    for button in ("live", "bake"):
        refused(bob, button, text)
    put_in_reverse(bob)
    play.toggle(bob)
    assert healthy(bob)


def test_a_target_gets_another_order_while_live():
    """By another object that has the same mesh: the target itself is hidden."""
    _, bob, _ = play.add_live()
    before = play.now(bob)
    twin = bpy.data.objects.new("Twin", bob.data)
    bpy.context.scene.collection.objects.link(twin)
    put_in_reverse(twin)
    assert "'Bob' are in another order" in problem(bob) and play.status(bob).remedy == "BIND"
    np.testing.assert_array_equal(play.now(bob), before)
    for button in ("live_refresh", "bake"):
        refused(bob, button, "'Bob' are in another order")
    put_in_reverse(twin)
    assert problem(bob) is None
    np.testing.assert_array_equal(play.now(bob), before)


def test_a_target_in_edit_mode_is_not_looked_at():
    _, bob, _ = play.add_live()
    twin = bpy.data.objects.new("Twin", bob.data)
    bpy.context.scene.collection.objects.link(twin)
    map_play.activate(twin)
    bpy.ops.object.mode_set(mode="EDIT")
    assert problem(bob) is None
    bpy.ops.object.mode_set(mode="OBJECT")
    assert problem(bob) is None


def test_reading_again_takes_the_other_order():
    _, bob, _ = play.add_live()
    before = followed(bob)
    play.toggle(bob)
    put_in_reverse(bob)
    press(bob, "fit")
    press(bob, "train")
    play.toggle(bob)
    assert healthy(bob)
    np.testing.assert_allclose(followed(bob)[:, ::-1], before, atol=1e-3)


@pytest.mark.parametrize("is_live", (False, True))
def test_a_new_clip_in_another_order(is_live):
    """Whether its subject is in that order too does not matter: what was read is not."""
    ann, bob, new = play.add_live()
    before = followed(bob)
    if not is_live:
        play.toggle(bob)
    put_in_reverse(ann)
    put_in_reverse(new)
    for button in ("live_refresh", "bake") if is_live else ("live", "bake"):
        refused(bob, button, "'Ann Again' has other faces than the source subject")
    if is_live:
        assert "'Ann Again' has other faces" in problem(bob) and "undo that" in problem(bob)
    put_in_reverse(new)
    if not is_live:
        play.toggle(bob)
    assert problem(bob) is None and healthy(bob)
    np.testing.assert_allclose(followed(bob), before, atol=SAME)


# -------------------------------------------------------------------------------------------- duplicates of live copies


def duplicate(ob, name, linked=False):
    map_play.activate(ob)
    bpy.ops.object.duplicate(linked=linked)
    bpy.context.object.name = name
    return bpy.context.object


@pytest.mark.parametrize("linked", (False, True))
def test_a_duplicate_of_the_live_copy_is_the_users(linked):
    """Not taken for the live copy by the next Live, nor removed with it."""
    _, bob, _ = play.add_live()
    keep = duplicate(bob.motion_loom_transfer.live_copy, "Keep", linked)
    play.toggle(bob)
    assert not bob.hide_viewport and not live_mesh.is_live(keep) and live_mesh.live_of(bob) is None
    keep.location.x += 5.0
    place = keep.location.copy()
    play.toggle(bob)
    copy = bob.motion_loom_transfer.live_copy
    assert copy != keep and bob.hide_viewport and bob.hide_render and healthy(bob)
    bpy.context.scene.frame_set(20)
    assert keep.location == place
    play.toggle(bob)
    assert bpy.data.objects.get("Keep") == keep and keep.users_scene and not bob.hide_viewport


def test_a_duplicate_from_an_older_file_is_let_go_by_live_on():
    """It has the mark still."""
    _, bob, _ = play.add_live()
    copy = bob.motion_loom_transfer.live_copy
    mark = copy[live_mesh.LIVE_MARK].to_dict()
    keep = duplicate(copy, "Keep")
    play.toggle(bob)
    keep[live_mesh.LIVE_MARK] = mark
    play.toggle(bob)
    assert bob.motion_loom_transfer.live_copy != keep and not live_mesh.is_live(keep) and bob.hide_viewport


def test_a_duplicate_does_not_stand_in_for_a_deleted_copy(tmp_path):
    _, bob, _ = play.add_live()
    duplicate(bob.motion_loom_transfer.live_copy, "Keep")
    bpy.data.objects.remove(bob.motion_loom_transfer.live_copy)
    assert "live copy of 'Bob' was deleted" in problem(bob)
    path = str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    bob = bpy.data.objects["Bob"]
    assert "live copy of 'Bob' was deleted" in problem(bob)
    map_play.activate(bpy.data.objects["Keep"])
    map_play.press("live", workflow="transfer")
    assert not bob.hide_viewport and "Keep" in bpy.data.objects
    play.toggle(bob)
    assert healthy(bob) and bob.motion_loom_transfer.live_copy.name != "Keep"


def test_a_duplicate_of_a_live_target_is_not_live():
    """Live makes a copy of its own; that of the other one is left alone."""
    _, bob, _ = play.add_live()
    twin, copy = bob.copy(), bob.motion_loom_transfer.live_copy
    bpy.context.scene.collection.objects.link(twin)
    assert problem(bob) is None and play.status(twin) is None
    bpy.context.view_layer.objects.active = twin
    map_play.press("live", workflow="transfer")
    own = twin.motion_loom_transfer.live_copy
    assert twin.motion_loom_transfer.live and own not in (None, copy) and live_mesh.original_of(own) == twin
    assert healthy(twin) and healthy(bob) and bob.motion_loom_transfer.live_copy == copy
    map_play.activate(own)
    map_play.press("live", workflow="transfer")
    assert not twin.hide_viewport and not twin.hide_render and bob.hide_viewport and healthy(bob)


def test_a_duplicate_of_a_live_target_is_shown_when_that_is_live_no_more():
    _, bob, _ = play.add_live()
    twin = bob.copy()
    bpy.context.scene.collection.objects.link(twin)
    play.toggle(bob)
    for ob in (bob, twin):
        assert not ob.motion_loom_transfer.live and not ob.hide_viewport and not ob.hide_render
    assert play.status(twin) is None


def test_a_duplicate_of_a_live_target_of_map():
    worm = map_play.add_live()
    twin = worm.copy()
    bpy.context.scene.collection.objects.link(twin)
    bpy.context.view_layer.update()
    assert map_play.healthy(worm) and map_play.status(twin) is None
    twin.motion_loom_map.bake_kind = "ABSOLUTE_KEYS"
    bpy.context.view_layer.objects.active = twin
    map_play.press("bake", workflow="map")
    assert twin.motion_loom_map.result is not None
    bpy.context.view_layer.objects.active = twin
    map_play.press("live", workflow="map")
    own = twin.motion_loom_map.live_copy
    assert live_mesh.original_of(own) == twin and own != worm.motion_loom_map.live_copy
    assert map_play.healthy(worm) and map_play.healthy(twin)


@pytest.mark.parametrize("kind", ("ABSOLUTE_KEYS", "PCA_KEYS"))
def test_a_duplicate_of_a_live_target_can_be_baked(kind):
    _, bob, _ = play.add_live()
    twin = bob.copy()
    bpy.context.scene.collection.objects.link(twin)
    bpy.context.view_layer.update()
    twin.motion_loom_transfer.bake_kind = kind
    bpy.context.view_layer.objects.active = twin
    map_play.press("bake", workflow="transfer")
    result = twin.motion_loom_transfer.result
    assert result is not None and result != bob.motion_loom_transfer.result
    assert not result.hide_viewport and not result.hide_render
    assert healthy(bob)


# ----------------------------------------------------------------------------------------- a new clip that is otherwise


def test_live_on_reads_a_clip_whose_keys_were_changed():
    _, bob, new = play.add_live()
    before = followed(bob)
    play.toggle(bob)
    map_play.write_keys(new.data.shape_keys, "eval_time", [1, 30], [290.0, 10.0])
    play.toggle(bob)
    assert healthy(bob)
    after = followed(bob)
    assert np.abs(after - before).max() > 0.05
    press(bob, "live_refresh")
    np.testing.assert_array_equal(followed(bob), after)


def test_live_on_refuses_what_refresh_refuses():
    _, bob, new = play.add_live()
    play.toggle(bob)
    bpy.context.scene.collection.objects.unlink(new)
    for button in ("live", "bake"):
        refused(bob, button, "'Ann Again' is not in the scene 'Scene'; link it")
    bpy.context.scene.collection.objects.link(new)
    play.toggle(bob)
    assert healthy(bob)
    play.toggle(bob)
    map_play.activate(new)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide()
    bpy.ops.object.mode_set(mode="OBJECT")
    for button in ("live", "bake"):
        refused(bob, button, "'Ann Again' has .* vertices and the source subject has 136")


def test_an_unlinked_clip_is_not_called_deleted():
    _, bob, new = play.add_live()
    bpy.context.scene.collection.objects.unlink(new)
    assert "'Ann Again' is in no scene: it was deleted or unlinked; undo that, link it" in problem(bob)
    bpy.context.scene.collection.objects.link(new)
    assert problem(bob) is None


# ------------------------------------------------------------------------------------------------------- scaled clips


@pytest.mark.parametrize("scale", (3.0, 0.01))
@pytest.mark.parametrize("is_applied", (False, True))
def test_a_clip_of_another_size_is_performed_all_the_same(scale, is_applied):
    """Poses, travel and heights are those of the clip in the subject's size."""
    _, bob, new = play.add_live()
    before = followed(bob)
    play.toggle(bob)
    if is_applied:
        for block in new.data.shape_keys.key_blocks:
            points = np.empty(3 * len(block.points), np.float32)
            block.points.foreach_get("co", points)
            block.points.foreach_set("co", points * np.float32(scale))
        new.data.shape_keys.update_tag()  # as what edits by hand does
    else:
        new.scale = (scale,) * 3
    play.toggle(bob)
    settings = bob.motion_loom_transfer
    assert healthy(bob) and f"{scale:g} times the subject's size" in settings.clip_summary
    size = np.ptp(before[0], axis=0).max()
    np.testing.assert_allclose(followed(bob), before, atol=0.01 * size)
    np.testing.assert_allclose(map_play.shown(play.bake(bob), NEW), followed(bob), atol=1e-5)
    settings.travel_scale = 2.0
    assert healthy(bob)


def test_a_pose_of_a_scaled_clip_is_edited():
    """It is taken in the same size, until it is read again."""
    _, bob, new = play.add_trained()
    new.scale = (3.0,) * 3
    play.toggle(bob)
    bpy.context.scene.frame_set(12)
    before = play.now(bob)
    new.data.shape_keys.key_blocks[11].points[0].co.z += 0.05
    new.data.shape_keys.update_tag()
    bpy.context.view_layer.update()
    assert play.status(bob).track == "SWEEP"
    assert np.abs(play.now(bob) - before).max() < 0.2


def test_a_clip_of_the_same_size_is_read_exactly():
    _, bob, new = play.add_live()
    new.location, new.rotation_euler = (3.0, -2.0, 0.0), (0.0, 0.0, 1.0)
    press(bob, "live_refresh")
    assert healthy(bob) and "size" not in bob.motion_loom_transfer.clip_summary


# --------------------------------------------------------------------------------------------------- the copy is gone


@pytest.mark.parametrize("how", ("data", "operator"))
@pytest.mark.parametrize("button", ("live_refresh", "bake", "fit"))
def test_a_deleted_copy_is_told_by_every_button(button, how):
    _, bob, _ = play.add_live()
    copy = bob.motion_loom_transfer.live_copy
    if how == "data":
        bpy.data.objects.remove(copy)
    else:
        map_play.activate(copy)
        bpy.ops.object.delete()
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = bob
    bob.motion_loom_transfer.bake_kind = "ABSOLUTE_KEYS"
    with pytest.raises(RuntimeError, match="live copy of 'Bob' was deleted; undo that, or switch Live off and on"):
        getattr(bpy.ops.motion_loom, button)(workflow="transfer")
    map_play.press("live", workflow="transfer")
    play.toggle(bob)
    assert healthy(bob)


def exchanged(settings):
    first, second = settings.parts[1], settings.parts[2]
    first.target_group, second.target_group = second.target_group, first.target_group


def fewer_numbers(settings):
    settings.components = 2


def one_part_more(settings):
    settings.parts.add()


@pytest.mark.parametrize("change", (exchanged, fewer_numbers, one_part_more))
def test_changed_parts_are_to_be_read_before_they_are_learnt(change):
    _, bob, _ = play.add_trained()
    settings = bob.motion_loom_transfer
    map_play.press("live", workflow="transfer")
    assert play.status(bob).note is None
    change(settings)
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(5)
    for step in ("densify", "train"):
        with pytest.raises(RuntimeError, match="Parts or Components were changed since the clips were read"):
            getattr(bpy.ops.motion_loom, step)(workflow="transfer")
    assert "changed since Train" in play.status(bob).note
