"""Options of the transfer command become the target's settings; what cannot be is refused before anything is made."""

import json
import re
import shlex

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.workflows.transfer import command

from tests import map_play
from tests import transfer_play as play
from tests.transfer_play import PAIRS

pytestmark = pytest.mark.usefixtures("no_traceback")

NEW = np.arange(1, 31)
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


@pytest.fixture(scope="module")
def trained_file(tmp_path_factory):
    """A file with Ann and Bob, trained, and a camera."""
    bpy.ops.wm.read_homefile(use_empty=True)
    play.add_trained()
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")))
    path = str(tmp_path_factory.mktemp("transfer") / "trained.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    return path


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
    first = map_play.shown(bob.motion_loom_transfer.result, NEW)
    assert jobs.main([*BAKE, "--read"]) == 0
    out = capfd.readouterr().out
    assert "Read 'Ann' and 'Bob'" in out and "Learnt 'Bob'" in out
    np.testing.assert_allclose(map_play.shown(bob.motion_loom_transfer.result, NEW), first, atol=1e-6)


def test_pairs_of_several_clips():
    play.add_scene()
    words = [*named(), "--clip", "Ann:5..40=Bob:4..40", "--pair", "2:40=40", "2:5=5", "2:20.5=22"]
    assert jobs.main([*BAKE, *words]) == 0
    clips = bpy.data.objects["Bob"].motion_loom_transfer.clips
    assert [clip.source_start for clip in clips] == [1, 5] and [len(clip.pairs) for clip in clips] == [len(PAIRS), 3]
    assert [pair.source_frame for pair in clips[1].pairs] == [5.0, 20.5, 40.0]


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["--target", "Nobody"], "no object 'Nobody'"),
        (["--target", "Camera"], "'Camera' is of type CAMERA; the target must be a mesh"),
        (["--source", "Nobody"], "--source: there is no object 'Nobody'"),
        (["--source", "Camera"], "'Camera' is of type CAMERA"),
        (["--source", "Bob"], "'Bob' cannot be its own source"),
        (["--perform", "Nobody"], "--perform: there is no object 'Nobody'"),
        (["--perform", "Bob"], "'Bob' cannot be its own new clip"),
        (["--clip", "Ann"], "'Ann' is not a clip; write NAME:START"),
        (["--clip", "Ann:1..40"], "is not a clip"),
        (["--clip", "Ann:1..40=Nobody:1..40"], "--clip: there is no object 'Nobody'"),
        (["--clip", "Ann:9..3=Bob:1..40"], "Clip 1, source: the range 9 to 3 is empty; let it end"),
        (["--clip", "Ann:1..99999999999=Bob:1..40"], "A frame of .Ann. in --clip cannot be 9*; use"),
        (["--clip", "Ann:1..40=Bob:1..40"], "Clip 1 of 'Bob' needs two pairs or more"),
        (["--pair", "3"], "'3' is not a pair"),
        (["--pair", "a=b"], "is not a pair"),
        (["--pair", "nan=1", "2=3"], "is not a pair"),
        (["--pair", "7:1=1"], "'7:1=1': there is no clip 7; there are 1"),
        (["--pair", "0:1=1"], "there is no clip 0"),
        (["--pair", "1=1"], "needs two pairs or more"),
        (["--pair", "1=9", "9=1"], "1=9 and 9=1 are out of order"),
        (["--pair", "1=1", "50=40"], "pair 50=40: frame 50 is outside"),
        (["--pair", "1=1", "1e300=40"], "outside|not a pair"),
        (["--part", "Left"], "'Left' is not a part; write NAME=GROUP"),
        (["--part", "Torso=Nothing"], "Part 'Torso': 'Ann' has no vertex group 'Nothing'"),
        (["--part", "Torso=Torso,Nothing"], "'Bob' has no vertex group 'Nothing'"),
        (["--suggest-parts", "1"], "Parts cannot be 1; use 2 to 12"),
        (["--components", "0"], "Components cannot be 0"),
        (["--noise", "nan"], "Noise cannot be nan"),
        (["--noise", "0"], "Noise cannot be 0"),
        (["--stretch", "0"], "Stretch cannot be 0"),
        (["--travel-scale", "nan"], "Travel Scale cannot be nan"),
        (["--perform-start", "3"], "Give both --perform-start and --perform-end"),
        (["--perform-start", "9", "--perform-end", "3"], "range of the new clip, 9 to 3"),
        (["--perform-start", "9", "--perform-end", "99999999999"], "End cannot be 1e.11; use a smaller"),
        (["--start", "3"], "both --start and --end"),
        (["--start", "9", "--end", "3"], "9 to 3 is empty"),
        (["--step", "0"], "Frame Step"),
        (["--bake", "pc2"], "saved"),
    ],
)
def test_command_lines_that_cannot_be_done(trained_file, capfd, words, match):
    bpy.ops.wm.open_mainfile(filepath=trained_file)
    bob, objects = bpy.data.objects["Bob"], set(bpy.data.objects.keys())
    capfd.readouterr()
    target = [] if "--target" in words else ["--target", "Bob"]
    assert jobs.main(["transfer", *target, "--bake", "absolute-keys", *words]) == 1
    error = capfd.readouterr().err
    assert error.startswith("motion_loom transfer: ") and error.count("\n") == 1
    assert re.search(match, error), error
    assert set(bpy.data.objects.keys()) == objects and bob.motion_loom_transfer.result is None


def test_too_few_pairs_are_found_before_the_clips_are_read(trained_file, monkeypatch, capfd):
    """And before it is said that nothing would play the cache file."""
    bpy.ops.wm.open_mainfile(filepath=trained_file)

    def reading(*_):
        yield 0.0, "Checking"
        yield 0.1, "Reading"
        pytest.fail("it read first")

    monkeypatch.setattr(command, "read_steps", reading)
    assert jobs.main(["transfer", "--target", "Bob", "--read", "--pair", "1=1"]) == 1
    assert "Clip 1 of 'Bob' needs two pairs or more" in capfd.readouterr().err


@pytest.mark.parametrize("words", (["--travel", "by train"], ["--kernel", "magic"], ["--noise", "much"], ["--what"]))
def test_words_that_it_does_not_know(trained_file, words):
    bpy.ops.wm.open_mainfile(filepath=trained_file)
    assert jobs.main([*BAKE, *words]) == 2


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


NAMES = ("-bob", 'it\'s "odd" $HOME', "a:1..2=b:3..4", "Körper 骨, links", "..", 63 * "x")


@pytest.mark.parametrize("name", NAMES)
def test_odd_names(tmp_path, name, capfd):
    """Of both subjects and of all groups, by the line that the panel copies and by one that names everything."""
    ann, bob, new = play.add_read()
    bob.name, ann.name, new.name = name, f"{name[:50]} A", f"{name[:50]} N"
    for ob in (ann, bob):
        for group in ob.vertex_groups:
            group.name = f"{group.name} {name}"[:60]
    settings = bob.motion_loom_transfer
    for part, group in zip(settings.parts, bob.vertex_groups, strict=True):
        part.source_group = part.target_group = group.name
    map_play.activate(bob)
    map_play.press("fit", workflow="transfer")
    map_play.press("train", workflow="transfer")
    settings.performed = new
    play.toggle(bob)
    expected = map_play.shown(settings.live_copy, NEW[::7])
    assert play.status(bob).problem is None
    path = str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    words = shlex.split(command.command_of(bpy.context, bob, "blender"))
    bpy.ops.wm.open_mainfile(filepath=words[2])
    assert jobs.main(words[words.index("transfer") :]) == 0, capfd.readouterr().err
    bob = bpy.data.objects[name]
    np.testing.assert_allclose(map_play.shown(bob.motion_loom_transfer.result, NEW[::7]), expected, atol=1e-6)
    bpy.ops.wm.open_mainfile(filepath=path)
    parts = [f"{part.name}={part.source_group}" for part in bpy.data.objects[name].motion_loom_transfer.parts]
    words = [
        "transfer", f"--target={name}", f"--source={name[:50]} A", f"--clip={name[:50]} A:1..40={name}:1..40",
        "--pair", *(f"{source:g}={target:g}" for source, target in PAIRS),
        "--part", *parts, f"--perform={name[:50]} N", "--bake", "absolute-keys",
    ]  # fmt: skip
    code = jobs.main(words)
    assert code == 0, capfd.readouterr().err
    bob = bpy.data.objects[name]
    np.testing.assert_allclose(map_play.shown(bob.motion_loom_transfer.result, NEW[::7]), expected, atol=1e-5)
