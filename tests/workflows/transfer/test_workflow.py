"""Transfer between two small bodies: read, pair, train; live shows what every kind of bake and the command write."""

import json

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.workflows.core import registry
from bl_ext.devrepo.motion_loom.workflows.transfer.model import dense_of

from tests import map_play
from tests import transfer_play as play
from tests.mesh_play import saved
from tests.transfer_play import FRAMES, PAIRS, healthy

pytestmark = pytest.mark.usefixtures("silent")

SAME = 1e-6
NEW = np.arange(1, 31)


def reopened(path):
    bpy.ops.wm.open_mainfile(filepath=path)
    return bpy.data.objects["Bob"]


def wanted():
    """World vertices (30, V, 3) of Bob, were he to do himself what Ann does in her new clip."""
    return play.shapes(play.TARGET, 7.0 + 1.2 * np.arange(30), 1.0)[0]


def size():
    return np.ptp(wanted()[0], axis=0).max()


def aligned_error(found, truth):
    """(F,) RMS distance, each frame moved onto its truth: poses alone."""
    poses = [clip - clip.mean(axis=1, keepdims=True) for clip in (found, truth)]
    return np.sqrt(np.square(poses[0] - poses[1]).sum(axis=-1).mean(axis=1))


def test_the_target_does_it_in_its_own_way():
    _, bob, _ = play.add_live()
    found = map_play.shown(bob.motion_loom_transfer.live_copy, NEW)
    assert healthy(bob)
    assert aligned_error(found, wanted()).mean() < 0.015 * size()
    # What lies between would be the source's own style.
    plain = play.shapes(play.TARGET, 7.0 + 1.2 * np.arange(30), 0.0)[0]
    assert aligned_error(found, wanted()).mean() < 0.5 * aligned_error(plain, wanted()).mean()


def test_it_goes_where_it_should():
    _, bob, _ = play.add_live()
    found, truth = map_play.shown(bob.motion_loom_transfer.live_copy, NEW), wanted()
    way, true_way = (clip[-1].mean(0) - clip[0].mean(0) for clip in (found, truth))
    assert np.linalg.norm(way - true_way) < 0.1 * np.linalg.norm(true_way)
    assert np.abs(found[..., 2].mean(1) - truth[..., 2].mean(1)).max() < 0.05 * size()


def test_densifying_finds_the_times_between_pairs():
    _, bob, _ = play.add_read()
    [(used, pairs)] = dense_of(bob)
    truth = np.interp(pairs.source_rows, play.warped(), np.arange(FRAMES))
    assert np.abs(pairs.target_rows - truth).mean() < 0.5
    assert len(pairs.source_rows) == FRAMES


def test_a_frame_is_the_same_however_it_is_reached():
    _, bob, _ = play.add_live()
    copy = bob.motion_loom_transfer.live_copy
    played = map_play.shown(copy, NEW)
    order = np.random.default_rng(0).permutation(len(NEW))
    assert np.array_equal(map_play.shown(copy, NEW[order])[np.argsort(order)], played)


@pytest.mark.parametrize("kind", ("PC2", "PCA_KEYS", "ABSOLUTE_KEYS"))
def test_live_is_bake_is_command(tmp_path, capfd, kind):
    _, bob, _ = play.add_live()
    bob.motion_loom_transfer.bake_kind = kind
    followed = map_play.shown(bob.motion_loom_transfer.live_copy, NEW)
    path = saved(tmp_path)
    before = map_play.everything()
    baked = map_play.shown(play.bake(bob, kind), NEW)
    after = map_play.everything()
    assert {name: after[name] for name in before if name not in ("active", "actions")} == {
        name: value for name, value in before.items() if name not in ("active", "actions")
    }
    assert bob.motion_loom_transfer.live and healthy(bob)
    reopened(path)
    assert jobs.main(["transfer", "--target", "Bob", "--output", str(tmp_path / "done.blend"), "--json"]) == 0
    report = json.loads(capfd.readouterr().out.splitlines()[-1])
    assert (report["frames"], report["kind"], report["trained_as_set"]) == (len(NEW), kind, True)
    commanded = map_play.shown(bpy.data.objects[report["object"]], NEW)
    allowed = SAME + report["error_max"]
    assert (report["error_max"] > 0) == (kind == "PCA_KEYS") and report["error_max"] < 0.01
    assert np.linalg.norm(baked - followed, axis=-1).max() < allowed
    assert np.linalg.norm(commanded - followed, axis=-1).max() < allowed


def test_a_reopened_file_goes_on_without_training(tmp_path):
    _, bob, _ = play.add_live()
    followed = map_play.shown(bob.motion_loom_transfer.live_copy, NEW)
    bob = reopened(saved(tmp_path))
    assert healthy(bob) and play.status(bob).note is None
    again = map_play.shown(bob.motion_loom_transfer.live_copy, NEW)
    assert np.abs(again - followed).max() < SAME


def test_live_off_leaves_all_as_it_was():
    _, bob, _ = play.add_trained()
    before = map_play.everything()
    play.toggle(bob)
    play.toggle(bob)
    assert map_play.everything() == before


def test_everything_by_the_command_line(tmp_path, capfd):
    """Subjects, clips, parts and pairs named on the line alone."""
    play.add_scene()
    path = saved(tmp_path)
    pairs = [f"{source:g}={target:g}" for source, target in PAIRS]
    words = [
        "transfer", "--target", "Bob", "--source", "Ann", "--clip", "Ann:1..40=Bob:1..40", "--pair", *pairs, "--part",
        *(f"{part}={part}" for part in play.PARTS), "--perform", "Ann Again", "--bake", "absolute-keys",
        "--output", str(tmp_path / "done.blend"), "--json",
    ]  # fmt: skip
    reopened(path)
    assert jobs.main(words) == 0, capfd.readouterr().err
    report = json.loads(capfd.readouterr().out.splitlines()[-1])
    commanded = map_play.shown(bpy.data.objects[report["object"]], NEW)
    bpy.ops.wm.read_homefile(use_empty=True)
    _, bob, _ = play.add_live()
    followed = map_play.shown(bob.motion_loom_transfer.live_copy, NEW)
    assert np.linalg.norm(commanded - followed, axis=-1).max() < 1e-5


def test_without_parts_the_body_is_one():
    ann, bob, new = play.add_scene()
    play.add_clip(bob, ann, PAIRS)
    map_play.press("fit", workflow="transfer")
    map_play.press("train", workflow="transfer")
    bob.motion_loom_transfer.performed = new
    play.toggle(bob)
    found = map_play.shown(bob.motion_loom_transfer.live_copy, NEW)
    assert healthy(bob) and aligned_error(found, wanted()).mean() < 0.03 * size()


def test_correction_and_stitching_can_be_switched_off_while_live():
    _, bob, _ = play.add_live()
    settings, found = bob.motion_loom_transfer, []
    for settings.correct, settings.stitch in ((True, True), (False, True), (True, False), (False, False)):
        bpy.context.view_layer.update()
        found.append(play.now(bob))
    for first in range(4):
        for second in range(first):
            assert np.abs(found[first] - found[second]).max() > 1e-6


def test_densify_paints_a_picture():
    _, bob, _ = play.add_read()
    map_play.press("densify", workflow="transfer")
    image = bob.motion_loom_transfer.clips[0].picture
    assert image is not None and min(image.size) >= 40
    map_play.press("densify", workflow="transfer")
    assert bob.motion_loom_transfer.clips[0].picture == image


def test_parts_are_shown_on_both_subjects():
    _, bob, _ = play.add_scene()
    play.add_clip(bob, bpy.data.objects["Ann"])
    play.add_parts(bob)
    bob.motion_loom_transfer.show_parts = True
    shown = registry.by_id("transfer").overlay(bpy.context, bob)
    counts = [len(bpy.data.objects[name].data.vertices) for name in ("Ann", "Bob")]
    assert len(shown.points) == sum(counts) and len(np.unique(shown.point_colours, axis=0)) == len(play.PARTS) + 1
    bob.motion_loom_transfer.show_parts = False
    assert registry.by_id("transfer").overlay(bpy.context, bob) is None


def test_while_live_parts_are_shown_on_the_copy():
    ann, bob, _ = play.add_live()
    settings = bob.motion_loom_transfer
    settings.show_parts = True
    bpy.context.scene.frame_set(12)
    shown = registry.by_id("transfer").overlay(bpy.context, settings.live_copy).points
    assert np.allclose(shown[len(ann.data.vertices) :], play.now(bob), atol=1e-4)


def test_pair_and_path_are_shown():
    _, bob, _ = play.add_read()
    shown = registry.by_id("transfer").overlay(bpy.context, bob)
    assert len(shown.triangles) and len(shown.screen_triangles) and len(shown.screen_lines)
    assert np.isfinite(shown.triangles).all() and np.isfinite(shown.screen_lines).all()
    bob.motion_loom_transfer.show_pair = bob.motion_loom_transfer.show_path = False
    assert registry.by_id("transfer").overlay(bpy.context, bob) is None


def test_a_range_that_is_changed_and_put_back_is_read_still():
    _, bob, _ = play.add_read()
    clip = bob.motion_loom_transfer.clips[0]
    clip.source_end = 30
    assert not clip.stored
    clip.source_end = FRAMES
    assert clip.stored
    clip.source = bpy.data.objects["Ann Again"]
    assert not clip.stored


def test_reading_again_while_live_says_what_to_press():
    ann, bob, _ = play.add_live()
    map_play.activate(bob.motion_loom_transfer.live_copy)
    before = play.now(bob)
    map_play.press("fit", workflow="transfer")
    bpy.context.view_layer.update()
    assert play.status(bob).remedy == "TRAIN" and "Train" in play.status(bob).problem
    map_play.press("train", workflow="transfer")
    bpy.context.view_layer.update()
    assert play.status(bob).remedy == "REFRESH" and "read anew" in play.status(bob).problem
    map_play.press("live_refresh", workflow="transfer")
    assert healthy(bob) and np.abs(play.now(bob) - before).max() < SAME


def test_parts_are_suggested_while_live():
    ann, bob, _ = play.add_live()
    bob.motion_loom_transfer.part_count = 3
    map_play.press("transfer_suggest_parts")
    assert [part.name for part in bob.motion_loom_transfer.parts] == ["Torso", "Limb 1", "Limb 2"]
    assert bob.hide_viewport and healthy(bob)


def test_the_chosen_pose_and_that_of_the_active_pair_are_where_the_target_was():
    _, bob, _ = play.add_read()
    settings = bob.motion_loom_transfer
    settings.show_path = False
    settings.clips[0].active_pair, settings.target_frame = 2, 5.0

    def shown():
        return registry.by_id("transfer").overlay(bpy.context, bob).triangles.reshape(-1, 3)

    was = play.shapes(play.TARGET, play.warped(), 1.0)[0]
    both = shown()
    for half, frame in ((both[len(both) // 2 :], 5), (both[: len(both) // 2], int(PAIRS[2][1]))):
        assert np.abs(half.min(axis=0) - was[frame - 1].min(axis=0)).max() < 0.02
        assert np.abs(half.max(axis=0) - was[frame - 1].max(axis=0)).max() < 0.02
    settings.target_frame = PAIRS[2][1]
    assert len(shown()) == len(both) // 2


def test_what_is_told_of_travel_rate_and_error(capfd):
    _, bob, new = play.add_trained()
    assert "m a metre" in bob.motion_loom_transfer.learnt_summary
    assert "guessed" not in bob.motion_loom_transfer.learnt_summary  # Ann walks 1.2 m
    bpy.context.scene.render.fps = 60
    bob.motion_loom_transfer.bake_step = 7
    play.bake(bob, "PCA_KEYS")
    told = capfd.readouterr().out
    assert "the frame rate was changed since the clips were read" in told and "at the stored frames" in told


def test_clips_on_the_spot_tell_no_way():
    ann, bob, _ = play.add_scene()
    for ob in (ann, bob):
        for block in ob.data.shape_keys.key_blocks:
            shape = np.empty(3 * len(block.points), np.float32)
            block.points.foreach_get("co", shape)
            shape = shape.reshape(-1, 3)
            shape -= [0.0, shape[:, 1].mean(), 0.0]
            block.points.foreach_set("co", shape.ravel())
    play.add_clip(bob, ann, PAIRS)
    play.add_parts(bob)
    map_play.press("fit", workflow="transfer")
    map_play.press("train", workflow="transfer")
    assert "guessed from sizes as no clip travels" in bob.motion_loom_transfer.learnt_summary
