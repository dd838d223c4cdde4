"""Command lines of the workflows that move a mesh: what cannot be done is said in one line, and nothing is made."""

import json
import re

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.workflows.map import command as map_command
from bl_ext.devrepo.motion_loom.workflows.transfer import command as transfer_command

from tests import map_play, transfer_play
from tests.map_play import MAP
from tests.mesh_steps import once, saved, shown
from tests.transfer_play import TRANSFER

pytestmark = pytest.mark.usefixtures("no_traceback")

READING = {MAP: (map_command, "learn_steps"), TRANSFER: (transfer_command, "read_steps")}


def make_stage(play):
    """Its target, ready, a camera and another mesh."""
    ready = {MAP: map_play.make_ready, TRANSFER: transfer_play.make_trained}[play]()
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")))
    map_play.add_target("Mover")
    return ready


def words_of(play, *words):
    """Of a bake of its target, unless they say otherwise."""
    return [play.workflow, "--target", play.target, "--bake", "absolute-keys", *words]


def told(capfd, words):
    """The one line of a command that cannot be done; it makes nothing."""
    objects = set(bpy.data.objects.keys())
    capfd.readouterr()
    assert jobs.main(list(words)) == 1
    error = capfd.readouterr().err
    assert error.startswith(f"motion_loom {words[0]}: ") and error.count("\n") == 1, error
    assert set(bpy.data.objects.keys()) == objects
    return error


OF_BOTH = {
    ("--components", "5"): ("components", 5),
    ("--travel-scale", "0.5"): ("travel_scale", 0.5),
    ("--no-above-ground",): ("hold_ground", False),
}
SETTINGS = {
    MAP: OF_BOTH | {
        ("--source-without", "place"): ("ground", "PLACE"),
        ("--target-without", "nothing"): ("target_ground", "NONE"),
        ("--travel", "source"): ("travel", "SOURCE"),
        ("--pose-limits", "hard"): ("edge", "HARD"),
        ("--smoothing", "0.05"): ("smoothing", 0.05),
        ("--turn", "-1"): ("turn_ratio", -1.0),
        ("--bake", "absolute-keys"): ("bake_kind", "ABSOLUTE_KEYS"),
        ("--start", "2", "--end", "9"): ("bake_end", 9),
    },
    TRANSFER: OF_BOTH | {
        ("--between", "straight"): ("densify", "LINE"),
        ("--stretch", "3"): ("stretch", 3),
        ("--kernel", "squared-exponential"): ("kernel", "SQUARED_EXPONENTIAL"),
        ("--noise", "0.05"): ("noise", 0.05),
        ("--no-correct",): ("correct", False),
        ("--no-stitch",): ("stitch", False),
        ("--no-clearance",): ("keep_clearance", False),
        ("--travel", "none"): ("travel", "NONE"),
        ("--perform-start", "3", "--perform-end", "20"): ("performed_end", 20),
        ("--bake", "pca-keys"): ("bake_kind", "PCA_KEYS"),
        ("--keys", "7"): ("bake_keys", 7),
        ("--start", "5", "--end", "15"): ("bake_start", 5),
        ("--step", "2"): ("bake_step", 2),
    },
}


def test_options_are_settings(play):
    """As the line names them, on a scene in which nothing is chosen."""
    if play is MAP:
        map_play.add_target()
        map_play.add_dots()
        words = ["--source", "Dots", "--pair", *transfer_play.pair_words(map_play.PAIRS)]
    else:
        transfer_play.add_scene()
        words = transfer_play.words_naming_all()
    options = [word for option in SETTINGS[play] for word in option]
    assert jobs.main([*words_of(play), *words, *options]) == 0
    settings = play.settings(bpy.data.objects[play.target])
    for name, value in SETTINGS[play].values():
        assert getattr(settings, name) == (pytest.approx(value) if isinstance(value, float) else value), name
    count = len(settings.result.data.shape_keys.key_blocks)
    assert settings.use_bake_range and (count == 8 if play is MAP else 1 < count <= 8)


OUTSIDE = "Pair 2: frame 5000 is outside the {}'s range, 1 to {}; change or remove it, or switch it off."
OF_ALL = [
    (["--target", "Nobody"], "no object 'Nobody'"),
    (["--target", "Camera"], "'Camera' is of type CAMERA; the target must be a mesh|must be a mesh"),
    (["--pair", "3"], "'3' is not a pair"),
    (["--pair", "a=b"], "'a=b' is not a pair"),
    (["--pair", "nan=1", "2=3"], "'nan=1' is not a pair"),
    (["--pair", "inf=1", "2=3"], "is not a pair"),
    (["--pair", "1=1"], "two pairs or more"),
    (["--components", "0"], "Components cannot be 0"),
    (["--travel-scale", "nan"], "Travel Scale cannot be nan; use a number."),
    (["--start", "3"], "both --start and --end"),
    (["--start", "9", "--end", "3"], "9 to 3 is empty"),
    (["--start=50", "--end=60"], "Frames 50 to 60 are outside the source's, 1 to [34]0"),
    (["--start=-50", "--end=-40"], "Frames -50 to -40 are outside the source's, 1 to [34]0"),
    (["--step", "0"], "Frame Step cannot be 0; use 1 or more."),
    (["--keys", "0", "--bake", "pca-keys"], "Keys cannot be 0; use 1 to 200."),
    (["--bake", "pc2"], "saved"),
]
OF_MAP = [
    (["--source", "Nobody"], "no object or collection 'Nobody'"),
    (["--pair", "-5=x", "9=19"], "'-5=x' is not a pair"),
    (["--pair", "5=9", "5000=3", "11=20"], OUTSIDE.format("source", 40)),
    (["--pair", "5=9", "3=5000", "11=20"], OUTSIDE.format("target", 24)),
    (["--pairs", "nowhere.json"], "Cannot read 'nowhere.json'"),
    (["--save-pairs", "nowhere/pairs.json"], "nowhere' does not exist; choose another place"),
    (["--save-pairs", ""], "Name a file"),
    (["--source-start", "3"], "both --source-start and --source-end"),
    (["--stride", "nan"], "Stride cannot be nan"),
    (["--stride", "inf"], "Stride cannot be inf; use 0 or more."),
    (["--smoothing", "-1"], "Smoothing"),
    (["--source", "Dots", "--vertex-group", "hand"],
     "--vertex-group 'hand' needs a mesh, and the source 'Dots' is not one"),
    (["--source", "Dots 1", "--vertex-group", "hand"],
     "--vertex-group 'hand' needs a mesh, and the source 'Dots 1' is not one"),
    (["--source", "Mover", "--vertex-group", "hand", "--pair", "1=1", "9=9"], "'Mover' has no vertex group 'hand'"),
]  # fmt: skip
OF_TRANSFER = [
    (["--source", "Nobody"], "--source: there is no object 'Nobody'"),
    (["--source", "Camera"], "'Camera' is of type CAMERA"),
    (["--source", "Bob"], "'Bob' cannot be its own source"),
    (["--perform", "Nobody"], "--perform: there is no object 'Nobody'"),
    (["--perform", "Bob"], "'Bob' cannot be its own new clip"),
    (["--clip", "Ann"], "'Ann' is not a clip; write NAME:START"),
    (["--clip", "Ann:1..40"], "is not a clip"),
    (["--clip", "Ann:1..40=Nobody:1..40"], "--clip: there is no object 'Nobody'"),
    (["--clip", "Ann:9..3=Bob:1..40"], "Clip 1, source: the range 9 to 3 is empty; let it end after it starts"),
    (["--clip", "Ann:1..99999999999=Bob:1..40"], "A frame of .Ann. in --clip cannot be 9*; use"),
    (["--clip", "Ann:1..40=Bob:1..40"], "Clip 1 of 'Bob' needs two pairs or more"),
    (["--pair", "7:1=1"], "'7:1=1': there is no clip 7; there are 1"),
    (["--pair", "0:1=1"], "there is no clip 0"),
    (["--pair", "1=9", "9=1"], "1=9 and 9=1 are out of order"),
    (["--pair", "1=1", "50=40"], "pair 50=40: frame 50 is outside"),
    (["--pair", "1=1", "1e300=40"], "outside|not a pair"),
    (["--part", "Left"], "'Left' is not a part; write NAME=GROUP"),
    (["--part", "Torso=Nothing"], "Part 'Torso': 'Ann' has no vertex group 'Nothing'"),
    (["--part", "Torso=Torso,Nothing"], "'Bob' has no vertex group 'Nothing'"),
    (["--suggest-parts", "1"], "Parts cannot be 1; use 2 to 12"),
    (["--noise", "nan"], "Noise cannot be nan"),
    (["--noise", "0"], "Noise cannot be 0"),
    (["--stretch", "0"], "Stretch cannot be 0"),
    (["--perform-start", "3"], "Give both --perform-start and --perform-end"),
    (["--perform-start", "9", "--perform-end", "3"], "range of the new clip, 9 to 3"),
    (["--perform-start", "9", "--perform-end", "99999999999"], "End cannot be 1e.11; use a smaller"),
]
LINES = [(MAP, *line) for line in OF_ALL + OF_MAP] + [(TRANSFER, *line) for line in OF_ALL + OF_TRANSFER]


@pytest.mark.parametrize(("play", "words", "match"), LINES)
def test_what_cannot_be_done(capfd, play, words, match):
    ob = once(make_stage, play)
    assert re.search(match, told(capfd, words_of(play, *words)))
    assert play.settings(ob).result is None


@pytest.mark.parametrize(
    ("play", "words"),
    [
        (MAP, ["--travel", "by train"]),
        (MAP, ["--pairs", "pairs.json", "--pair", "3=1", "9=19"]),
        (TRANSFER, ["--travel", "by train"]),
        (TRANSFER, ["--kernel", "magic"]),
        (TRANSFER, ["--noise", "much"]),
        (TRANSFER, ["--what"]),
    ],
)
def test_words_that_it_does_not_know(play, words):
    once(make_stage, play)
    assert jobs.main(words_of(play, *words)) == 2


CACHE = "cache file would belong to a .blend that is not saved: give --output or --save, or --bake pca-keys"


@pytest.mark.parametrize(
    ("play", "words", "match"),
    [
        (MAP, ["--source", "Nobody"], "no object or collection 'Nobody'"),
        (MAP, ["--source-start", "9", "--source-end", "3"], "9 to 3"),
        (MAP, ["--start", "50", "--end", "60"], "outside the source's"),
        (MAP, ["--save-pairs", "pairs.json"], CACHE),
        (TRANSFER, ["--perform", "Nobody"], "no object 'Nobody'"),
        (TRANSFER, ["--clip", "Ann:9..3=Bob:1..40"], "the range 9 to 3 is empty; let it end after it starts"),
        (TRANSFER, ["--source", "Bob"], "'Bob' cannot be its own source"),
        (TRANSFER, ["--pair", "1=9", "9=1"], "out of order"),
        (TRANSFER, ["--start", "50", "--end", "60"], "outside the source's"),
        (TRANSFER, [], CACHE),
        (TRANSFER, ["--read"], CACHE),
    ],
)
def test_what_is_asked_for_comes_before_where_it_goes(tmp_path, monkeypatch, capfd, play, words, match):
    """A cache file is the default, and needs an output: that is not the first thing to say."""
    monkeypatch.chdir(tmp_path)
    play.add_ready()
    saved(tmp_path)
    assert re.search(match, told(capfd, [play.workflow, "--target", play.target, *words]))
    assert [path.name for path in tmp_path.iterdir()] == ["scene.blend"]


@pytest.mark.parametrize(
    ("play", "words", "match"),
    [
        (MAP, [], "two pairs or more"),
        (MAP, ["--pair", "1=2"], "two pairs or more"),
        (MAP, ["--pair", "1=2", "nan=1"], "'nan=1' is not a pair"),
        (MAP, ["--pairs", "nowhere.json"], "Cannot read 'nowhere.json'"),
        (TRANSFER, ["--read", "--pair", "1=1"], "Clip 1 of 'Bob' needs two pairs or more"),
    ],
)
def test_bad_pairs_are_found_before_anything_is_read(monkeypatch, capfd, play, words, match):
    """And before it is said that nothing would play the cache file."""
    ob, command, name = play.add_ready(), *READING[play]
    if play is MAP:
        ob.motion_loom_map.pairs.clear()

    def reading(*_):
        yield 0.0, "Checking"
        yield 0.1, "Reading"
        pytest.fail("it read first")

    monkeypatch.setattr(command, name, reading)
    assert match in told(capfd, [play.workflow, "--target", play.target, *words])


@pytest.mark.parametrize("name", ("keep.txt", "keep", "keep.blend1", "keep.blend.gz"))
def test_an_output_that_is_no_scene(play, ready, tmp_path, capfd, name):
    path = tmp_path / name
    path.write_text("notes")
    error = told(capfd, words_of(play, "--output", str(path)))
    assert "does not end in .blend; choose an --output that does" in error and path.read_text() == "notes"


def reported(capfd, words):
    capfd.readouterr()
    code = jobs.main([*words, "--json"])
    out, err = capfd.readouterr()
    assert code == 0, err
    return json.loads(out.splitlines()[-1])


def test_an_output_in_capitals_with_its_cache(play, ready, tmp_path, capfd):
    saved(tmp_path)
    report = reported(capfd, [*words_of(play)[:-1], "pc2", "--output", str(tmp_path / "DONE.BLEND")])
    assert (tmp_path / "DONE.BLEND").is_file() and list((tmp_path / "motion_loom_cache").iterdir()) and report["file"]


def test_a_live_copy_stands_for_its_original(play, ob, capfd):
    copy = play.copy(ob)
    report = reported(capfd, [play.workflow, "--target", copy.name, "--bake", "absolute-keys"])
    assert report["target"] == play.target and play.settings(ob).result is not None
    bpy.data.objects.remove(ob)
    assert "stood for was deleted" in told(capfd, [play.workflow, "--target", copy.name])


def test_a_range_of_which_a_part_is_held(play, ready, capfd):
    report = reported(capfd, words_of(play, "--start=-5", "--end=3"))
    assert report["frames"] == 9
    seen = shown(play.settings(ready).result, np.arange(-5, 4))
    np.testing.assert_allclose(seen[:6], np.repeat(seen[6:7], 6, axis=0), atol=1e-5)
    assert np.abs(seen[7] - seen[6]).max() > 1e-3
