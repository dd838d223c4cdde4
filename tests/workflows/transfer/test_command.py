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


SETTINGS = {
    ("--components", "5"): ("components", 5),
    ("--between", "straight"): ("densify", "LINE"),
    ("--stretch", "3"): ("stretch", 3),
    ("--kernel", "squared-exponential"): ("kernel", "SQUARED_EXPONENTIAL"),
    ("--noise", "0.05"): ("noise", 0.05),
    ("--no-correct",): ("correct", False),
    ("--no-stitch",): ("stitch", False),
    ("--no-clearance",): ("keep_clearance", False),
    ("--no-above-ground",): ("hold_ground", False),
    ("--travel", "none"): ("travel", "NONE"),
    ("--travel-scale", "0.5"): ("travel_scale", 0.5),
    ("--perform-start", "3", "--perform-end", "20"): ("performed_end", 20),
    ("--bake", "pca-keys"): ("bake_kind", "PCA_KEYS"),
    ("--keys", "7"): ("bake_keys", 7),
    ("--start", "5", "--end", "15"): ("bake_start", 5),
    ("--step", "2"): ("bake_step", 2),
}
BAKE = ("transfer", "--target", "Bob", "--bake", "absolute-keys")


def reported(capfd, *words):
    assert jobs.main([*words, "--json"]) == 0, capfd.readouterr().err
    return json.loads(capfd.readouterr().out.splitlines()[-1])


def named(clip="Ann:1..40=Bob:1..40", pairs=PAIRS, perform="Ann Again"):
    """All that the line has to name where the file has nothing."""
    words = ["--source", "Ann", "--clip", clip, "--part", *(f"{part}={part}" for part in play.PARTS)]
    return [*words, "--pair", *(f"{source:g}={target:g}" for source, target in pairs), "--perform", perform]


def test_options_are_settings():
    play.add_scene()
    words = [word for option in SETTINGS for word in option]
    assert jobs.main(["transfer", "--target", "Bob", *named(), *words]) == 0
    settings = bpy.data.objects["Bob"].motion_loom_transfer
    for name, value in SETTINGS.values():
        assert getattr(settings, name) == (pytest.approx(value) if isinstance(value, float) else value), name
    assert settings.use_performed_range and settings.use_bake_range
    assert 1 < len(settings.result.data.shape_keys.key_blocks) <= 8


def test_even_time_between_pairs_and_the_other_kernel():
    play.add_trained()
    for words in (["--between", "straight"], ["--between", "pose", "--kernel", "squared-exponential"]):
        assert jobs.main([*BAKE, *words]) == 0


def test_suggested_parts(capfd):
    play.add_scene()
    words = named()
    del words[words.index("--part") : words.index("--pair")]
    assert jobs.main([*BAKE, *words, "--suggest-parts", "3", "--json"]) == 0, capfd.readouterr().err
    settings = bpy.data.objects["Bob"].motion_loom_transfer
    assert len(settings.parts) == 3 and settings.result is not None
    assert {part.target_group for part in settings.parts} <= set(bpy.data.objects["Bob"].vertex_groups.keys())


def test_learning_alone_and_reading_again(tmp_path, capfd):
    play.add_scene()
    words = ["transfer", "--target", "Bob", *named(), "--learn-only", "--output", str(tmp_path / "learnt.blend")]
    assert jobs.main([*words, "--json"]) == 0, capfd.readouterr().err
    report = json.loads(capfd.readouterr().out.splitlines()[-1])
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
    words = [*named(), "--clip", "Ann:5..40=Bob:4..40", "--pair", "2:40=40", "2:5=5", "2:20.5=22"]
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


def test_everything_is_named_on_the_line_alone(capfd):
    play.add_scene()
    commanded = shown(bpy.data.objects[reported(capfd, *BAKE, *named())["object"]], NEW)
    assert np.linalg.norm(commanded - play.followed(TRANSFER.add_live()), axis=-1).max() < 1e-5


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
    ann = bpy.data.objects["Ann"]
    play.add_clip(bob, ann, PAIRS)
    play.add_parts(bob)
    for step in ("fit", "train"):
        play.press(bob, step)
    bob.motion_loom_transfer.performed = bpy.data.objects["Ann Again"]
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
