"""The new clip of Transfer: another one, edited, scaled, hidden, in another order, standing still, of one frame."""

import bpy
import numpy as np
import pytest

from tests import map_play, map_scenes, mesh_play, mesh_steps
from tests import transfer_play as play
from tests.mesh_play import put_in_reverse
from tests.mesh_steps import SAME, shown
from tests.transfer_play import AT, TRANSFER, healthy, problem

pytestmark = pytest.mark.usefixtures("silent")

NEW = TRANSFER.frames


def refused(bob, button, told):
    bob.motion_loom_transfer.bake_kind = "ABSOLUTE_KEYS"
    return mesh_play.refused(TRANSFER, bob, button, told)


def rekey(new):
    mesh_steps.write_keys(new.data.shape_keys, "eval_time", [1, 30], [290.0, 10.0])


@pytest.mark.parametrize("change", (rekey, lambda _: play.edit()))
def test_a_clip_edited_while_live_is_off(bob, new, change):
    """It is read again when live comes on, whatever is stored of it: its shapes, and their keys."""
    before = play.followed(bob)
    play.toggle(bob)
    change(new)
    play.toggle(bob)
    after = TRANSFER.follows_as_baked(bob)
    assert np.abs(after - before)[AT - 1].max() > 0.005
    play.press(bob, "live_refresh")
    np.testing.assert_array_equal(play.followed(bob), after)


def unlink(new):
    bpy.context.scene.collection.objects.unlink(new)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (mesh_steps.to_another_scene, "'Ann Again' is not in the scene 'Scene'"),
        (unlink, "'Ann Again' is in no scene: it was deleted or unlinked; undo that, link it"),
    ],
)
def test_the_new_clip_is_in_the_scene_no_more(bob, new, change, told):
    """The pose stays, and neither live nor a bake starts, until it is there again."""
    bpy.context.scene.frame_set(9)
    before = play.now(bob)
    change(new)
    assert told in problem(bob)
    np.testing.assert_array_equal(play.now(bob), before)
    play.toggle(bob)
    assert not bob.hide_viewport and not bob.motion_loom_transfer.live
    for button in ("live", "bake"):
        refused(bob, button, "'Ann Again' is not in the scene 'Scene'; link it")
    bpy.context.scene.collection.objects.link(new)
    play.toggle(bob)
    assert healthy(bob)


def test_the_new_clip_is_hidden(bob, new):
    new.hide_viewport = True
    assert "is hidden" in problem(bob) and new.name in problem(bob)
    new.hide_viewport = False
    assert problem(bob) is None


def test_another_new_clip_is_chosen(ann, bob, settings, new):
    """While live it asks for a refresh; else it is read when live comes on, edited or not."""
    before = play.followed(bob)
    other = play.add_subject("Third", play.SOURCE, 20.0 - 0.7 * np.arange(30))
    settings.performed = other
    assert "'Third'" in problem(bob) and play.status(bob).remedy == "REFRESH"
    play.press(bob, "live_refresh")
    after = TRANSFER.follows_as_baked(bob)
    assert np.abs(after - before).max() > 0.05
    play.toggle(bob)
    settings.performed = new
    play.toggle(bob)
    np.testing.assert_allclose(TRANSFER.follows_as_baked(bob), before, atol=SAME)
    settings.performed = map_play.add_target()
    assert "'Worm'" in problem(bob)
    with pytest.raises(RuntimeError, match="'Worm' has 48 vertices"):
        play.press(bob, "live_refresh")
    settings.performed = ann
    play.press(bob, "live_refresh")
    TRANSFER.follows_as_baked(bob, np.arange(1, 41))


def test_another_range_of_the_new_clip(bob, settings):
    settings.use_performed_range, settings.performed_start, settings.performed_end = True, 5, 20
    assert "press Refresh" in problem(bob)
    play.press(bob, "live_refresh")
    found = play.followed(bob)
    assert healthy(bob) and "frames 5 to 20" in settings.clip_summary
    for outside, end in ((1, 5), (30, 20)):  # the ends are held
        np.testing.assert_array_equal(found[outside - 1], found[end - 1])
    np.testing.assert_allclose(shown(play.bake(bob), np.arange(5, 21)), found[4:20], atol=SAME)


def test_the_new_clip_has_no_numbers(bob):
    before = play.followed(bob)
    bpy.context.scene.frame_set(AT)
    old = play.set_shape(np.full(3 * 136, np.nan))
    assert "'Ann Again' has vertices that are not numbers" in problem(bob)
    play.set_shape(old)
    assert problem(bob) is None
    np.testing.assert_array_equal(play.followed(bob), before)


def test_the_new_clip_is_subdivided(bob, new):
    """Modifiers after what deforms it do not count; its edits are not seen behind them, which is told."""
    before = play.followed(bob)
    new.modifiers.new("Subdivision", "SUBSURF")
    np.testing.assert_array_equal(play.followed(bob), before)
    assert healthy(bob) and "press Refresh" in play.status(bob).note
    np.testing.assert_allclose(TRANSFER.follows_as_baked(bob), before, atol=SAME)
    new.modifiers.clear()
    assert problem(bob) is None and play.status(bob).note is None


def test_the_new_clip_in_edit_mode(bob, new):
    with mesh_steps.edited(new):
        bpy.context.scene.frame_set(AT)
    assert problem(bob) is None


def test_a_subframe_of_an_edited_clip(bob, new):
    bpy.context.scene.frame_set(AT)
    play.edit()
    play.now(bob)
    at = play.now(bob)
    bpy.context.scene.frame_set(AT, subframe=0.05)
    near = play.now(bob)
    assert play.status(bob).track == "SWEEP" and np.abs(near - at).max() < 0.1


@pytest.mark.parametrize("is_live", (False, True))
def test_a_new_clip_in_another_order(ann, bob, new, is_live):
    """Whether its subject is in that order too does not matter: what was read is not."""
    before = play.followed(bob)
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
    np.testing.assert_allclose(play.followed(bob), before, atol=SAME)


@pytest.mark.parametrize("scale", (3.0, 0.01))
@pytest.mark.parametrize("is_applied", (False, True))
def test_a_clip_of_another_size_is_performed_all_the_same(bob, new, scale, is_applied):
    """Poses, travel and heights are those of the clip in the subject's size."""
    before = play.followed(bob)
    play.toggle(bob)
    if is_applied:
        for block in new.data.shape_keys.key_blocks:
            block.points.foreach_set("co", (map_scenes.positions(block) * np.float32(scale)).ravel())
        new.data.shape_keys.update_tag()  # as what edits by hand does
    else:
        new.scale = (scale,) * 3
    play.toggle(bob)
    settings = bob.motion_loom_transfer
    assert healthy(bob) and f"{scale:g} times the subject's size" in settings.clip_summary
    size = np.ptp(before[0], axis=0).max()
    np.testing.assert_allclose(play.followed(bob), before, atol=0.01 * size)
    np.testing.assert_allclose(shown(play.bake(bob), NEW), play.followed(bob), atol=1e-5)
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


def test_a_clip_of_the_same_size_is_read_exactly(bob, new):
    new.location, new.rotation_euler = (3.0, -2.0, 0.0), (0.0, 0.0, 1.0)
    play.press(bob, "live_refresh")
    assert healthy(bob) and "size" not in bob.motion_loom_transfer.clip_summary


@pytest.mark.parametrize("kind", ("ABSOLUTE_KEYS", "PCA_KEYS", "PC2"))
def test_a_new_clip_that_holds_one_pose(kind, tmp_path):
    """It is held, as it is where the moving clip has it; and told."""
    bob = play.add_trained()[1]
    settings = bob.motion_loom_transfer
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "held.blend"))
    still = map_play.add_target("Still", play.shapes(play.SOURCE, [16.6])[0], play.shapes(play.SOURCE, [16.6])[1])
    settings.performed = still
    settings.use_performed_range, settings.performed_start, settings.performed_end = True, 1, 5
    result = shown(play.bake(bob, kind), (1, 3, 5))
    assert np.ptp(result, axis=0).max() < 1e-5
    assert settings.clip_summary == "'Still', frames 1 to 5, one pose that is held"
    truth = play.shapes(play.TARGET, [16.6], 1.0)[0][0]
    away = (result[0] - result[0].mean(axis=0)) - (truth - truth.mean(axis=0))
    assert np.sqrt(np.square(away).sum(axis=1).mean()) < 0.05 * np.ptp(truth, axis=0).max()


@pytest.mark.parametrize("kind", ("ABSOLUTE_KEYS", "PCA_KEYS", "PC2"))
def test_a_new_clip_of_a_single_frame(kind, tmp_path):
    bob = play.add_trained()[1]
    settings = bob.motion_loom_transfer
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "frame.blend"))
    settings.use_performed_range, settings.performed_start, settings.performed_end = True, 9, 9
    baked = shown(play.bake(bob, kind), (9, 12))
    assert np.ptp(baked, axis=0).max() < 1e-5
    play.toggle(bob)
    live = shown(settings.live_copy, (2, 9, 30))
    assert play.status(bob).problem is None and np.ptp(live, axis=0).max() < 1e-5
    np.testing.assert_allclose(live[1], baked[0], atol=1e-4)


def test_a_pose_that_is_carried_about():
    """What stands still in itself goes where its object goes."""
    bob = play.add_trained()[1]
    settings = bob.motion_loom_transfer
    vertices, faces = play.shapes(play.SOURCE, [16.6])
    still = map_play.add_target("Still", vertices, faces)
    for frame, place in ((1, 0.0), (21, 2.0)):
        still.location.x = place
        still.keyframe_insert("location", frame=frame)
    settings.performed = still
    found = shown(play.bake(bob), (1, 11, 21))
    middles = found.mean(axis=1)
    assert np.ptp(found - middles[:, None], axis=0).max() < 1e-4
    gone = np.linalg.norm(np.diff(middles, axis=0)[:, :2], axis=1)
    assert gone.min() > 0.5
