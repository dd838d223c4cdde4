"""The transfer command: options become the target's settings; it learns, reads and bakes what the line names."""

import json
import re

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.workflows.transfer import command

from tests import transfer_play as play
from tests.mesh_steps import saved, shown
from tests.transfer_play import PAIRS, TRANSFER

pytestmark = pytest.mark.usefixtures("no_traceback")

NEW = TRANSFER.frames


BAKE = ("transfer", "--target", "Bob", "--bake", "absolute-keys")


def reported(capfd, *words):
    assert jobs.main([*words, "--json"]) == 0, capfd.readouterr().err
    return json.loads(capfd.readouterr().out.splitlines()[-1])


def test_suggested_parts(capfd):
    play.add_scene()
    words = play.words_naming_all()
    del words[words.index("--part") : words.index("--pair")]
    reported(capfd, *BAKE, *words, "--suggest-parts", "3")
    settings = bpy.data.objects["Bob"].motion_loom_transfer
    assert len(settings.parts) == 3 and settings.result is not None
    assert {part.target_group for part in settings.parts} <= set(bpy.data.objects["Bob"].vertex_groups.keys())


def test_learning_alone_and_reading_again(tmp_path, capfd):
    play.add_scene()
    words = [*play.words_naming_all(), "--learn-only", "--output", str(tmp_path / "learnt.blend")]
    report = reported(capfd, "transfer", "--target", "Bob", *words)
    assert report["target"] == "Bob" and "40 pairs" in report["learnt"]
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "learnt.blend"))
    bob = bpy.data.objects["Bob"]
    assert bob.motion_loom_transfer.result is None
    assert jobs.main([*BAKE]) == 0
    assert not re.search("Read 'Ann'|Learnt 'Bob'", capfd.readouterr().out)
    first = shown(bob.motion_loom_transfer.result, NEW)
    assert jobs.main([*BAKE, "--read"]) == 0
    out = capfd.readouterr().out
    assert "Read 'Ann' and 'Bob'" in out and "Learnt 'Bob'" in out
    np.testing.assert_allclose(shown(bob.motion_loom_transfer.result, NEW), first, atol=1e-6)


def test_pairs_of_several_clips():
    play.add_scene()
    words = [*play.words_naming_all(), "--clip", "Ann:5..40=Bob:4..40", "--pair", "2:40=40", "2:5=5", "2:20.5=22"]
    assert jobs.main([*BAKE, *words]) == 0
    clips = bpy.data.objects["Bob"].motion_loom_transfer.clips
    assert [clip.source_start for clip in clips] == [1, 5] and [len(clip.pairs) for clip in clips] == [len(PAIRS), 3]
    assert [pair.source_frame for pair in clips[1].pairs] == [5.0, 20.5, 40.0]


def test_a_file_in_which_nothing_is_chosen(capfd):
    play.add_scene()
    for missing, match in (
        ((), "Choose the source subject"),
        (("--source", "Ann"), "has no clips to learn from"),
        (("--source", "Ann", "--clip", "Ann:1..40=Bob:1..40"), "needs two pairs"),
        (("--pair", "1=1", "40=40"), "Choose the new clip"),
    ):
        assert jobs.main([*BAKE, *missing]) == 1
        assert re.search(match, capfd.readouterr().err)


@pytest.mark.parametrize("scale", (1.0, 100.0))
def test_keys_tell_their_error_in_metres(capfd, scale):
    """Also where the target's own space is another one, as glTF leaves it."""
    _, bob, _ = play.add_scene()
    parent = bpy.data.objects.new("Armature", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.scale, bob.parent = (scale, scale, scale), parent
    small = play.shapes(play.TARGET, play.warped(), 1.0)[0].astype(np.float32) / scale
    for block, shape in zip(bob.data.shape_keys.key_blocks, small, strict=True):
        block.points.foreach_set("co", shape.ravel())
    bob.data.vertices.foreach_set("co", small[0].ravel())
    bpy.context.view_layer.update()
    play.learn(bob, bpy.data.objects["Ann"], bpy.data.objects["Ann Again"])
    report = reported(capfd, "transfer", "--target", "Bob", "--bake", "pca-keys", "--keys", "2")
    near = shown(bpy.data.objects[report["object"]], NEW)
    exact = shown(play.bake(bob), NEW)
    apart = np.linalg.norm(near - exact, axis=-1)
    assert apart.max() > 0.005
    assert report["error_max"] == pytest.approx(apart.max(), rel=1e-3)
    assert report["error_rms"] == pytest.approx(np.sqrt(np.square(apart).mean()), rel=1e-3)
    within = re.search(r"shape keys within ([\d.]+) mm", command.summary(report))
    assert float(within[1]) == pytest.approx(1e3 * apart.max(), rel=0.1)


@pytest.mark.parametrize("kind", ("pca-keys", "absolute-keys", "pc2"))
def test_a_step_that_does_not_meet_the_last_frame(tmp_path, capfd, kind):
    """Shape keys have it all the same; a cache file ends before, and the report says so."""
    _, bob, _ = play.add_trained()
    saved(tmp_path)
    report = reported(capfd, *BAKE[:-1], kind, "--step", "4", "--output", str(tmp_path / "done.blend"))
    is_met, text = kind != "pc2", command.summary(report)
    assert (report["end"], report["left_out"]) == ((30, None) if is_met else (29, 30))
    assert ("steps of 4 do not meet frame 30" in text) != is_met
    bob.motion_loom_transfer.bake_step = 1
    every = shown(play.bake(bob), NEW)
    found = shown(bpy.data.objects[report["object"]], NEW)
    at = [*range(0, 29, 4), 29] if is_met else [*range(0, 29, 4)]
    np.testing.assert_allclose(found[at], every[at], atol=report["error_max"] + 1e-5)
    report = reported(capfd, *BAKE, "--step", "29")
    assert (report["frames"], report["left_out"]) == (2, None)
