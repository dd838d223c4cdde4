"""Options of the map command become the target's settings; what cannot be is refused before anything is made."""

import shutil

import bpy
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.solvers.core.errors import OutputError
from bl_ext.devrepo.motion_loom.workflows.map import command, run
from bl_ext.devrepo.motion_loom.workflows.mesh.bake import MeshBakeOptions

from tests import map_play as play

NAMED = ("--target", "Worm", "--source", "Dots")
SETTINGS = {
    ("--source-without", "place"): ("ground", "PLACE"),
    ("--target-without", "nothing"): ("target_ground", "NONE"),
    ("--components", "5"): ("components", 5),
    ("--travel", "source"): ("travel", "SOURCE"),
    ("--travel-scale", "0.5"): ("travel_scale", 0.5),
    ("--no-above-ground",): ("hold_ground", False),
    ("--pose-limits", "hard"): ("edge", "HARD"),
    ("--smoothing", "0.05"): ("smoothing", 0.05),
    ("--turn", "-1"): ("turn_ratio", -1.0),
    ("--bake", "absolute-keys"): ("bake_kind", "ABSOLUTE_KEYS"),
}


def test_options_are_settings():
    play.add_target()
    play.add_dots()
    words = [word for option in SETTINGS for word in option]
    pairs = [f"{source}={target}" for source, target in play.PAIRS]
    assert jobs.main(["map", *NAMED, *words, "--pair", *pairs, "--start", "2", "--end", "9"]) == 0
    settings = bpy.data.objects["Worm"].motion_loom_map
    for name, value in SETTINGS.values():
        assert getattr(settings, name) == (pytest.approx(value) if isinstance(value, float) else value), name
    assert settings.result is not None and len(settings.result.data.shape_keys.key_blocks) == 8


@pytest.mark.parametrize(
    "words, told",
    (
        (("--pair", "1=2"), "two pairs or more"),
        (("--pair", "one=2"), "is not a pair"),
        (("--pairs", "nowhere.json"), "Cannot read 'nowhere.json'"),
        (("--save-pairs", "nowhere/pairs.json"), "nowhere' does not exist; choose another place"),
        (("--save-pairs", ""), "Name a file"),
        (("--source", "Nobody"), "'Nobody'"),
        (("--source-start", "3"), "--source-end"),
        (("--smoothing", "-1"), "Smoothing"),
        (("--components", "0"), "Components"),
        (("--start", "9", "--end", "2", "--pair", "1=2", "5=9"), "empty"),
        (("--start", "9"), "--end"),
    ),
)
def test_what_cannot_be(words, told, capsys):
    play.add_target()
    play.add_dots()
    objects = set(bpy.data.objects.keys())
    assert jobs.main(["map", *NAMED, "--bake", "absolute-keys", *words]) == 1
    assert told in capsys.readouterr().err
    assert set(bpy.data.objects.keys()) == objects


@pytest.mark.parametrize(
    "words, told",
    (
        ((), "two pairs or more"),
        (("--pair", "1=2"), "two pairs or more"),
        (("--pair", "1=2", "nan=1"), "'nan=1' is not a pair"),
        (("--pairs", "nowhere.json"), "Cannot read 'nowhere.json'"),
    ),
)
def test_bad_pairs_are_found_before_anything_is_learnt(words, told, monkeypatch, capsys):
    """And before it is said that nothing would play the cache file."""
    play.add_target()
    play.add_dots()
    monkeypatch.setattr(command, "learn_steps", lambda *_: pytest.fail("it learnt first"))
    assert jobs.main(["map", *NAMED, *words]) == 1
    assert told in capsys.readouterr().err


def test_a_word_that_it_does_not_know():
    assert jobs.main(["map", *NAMED, "--travel", "by train"]) == 2


def test_pairs_do_not_replace_what_another_job_saved_meanwhile(tmp_path, monkeypatch, capsys):
    play.add_ready()
    pairs = tmp_path / "pairs.json"
    pairs.write_text("old")
    learn = command.learn_steps

    def overtaken(*args):
        pairs.write_text("theirs")
        return learn(*args)

    monkeypatch.setattr(command, "learn_steps", overtaken)
    assert jobs.main(["map", *NAMED, "--bake", "absolute-keys", "--save-pairs", str(pairs)]) == 1
    assert f"'{pairs}' was changed" in capsys.readouterr().err and pairs.read_text() == "theirs"


def test_a_cache_that_cannot_be_written_is_found_out_before_the_work(tmp_path, monkeypatch):
    ob = play.add_ready()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    for options, message in (
        (MeshBakeOptions(folder="//scene.blend"), "scene.blend' is a file"),
        (MeshBakeOptions(), "takes about 0.0 MB, and the disk has 0.0 MB left"),
    ):
        with pytest.raises(OutputError, match=message):
            next(run.bake_steps(bpy.context, ob, options))
        assert [path.name for path in tmp_path.iterdir()] == ["scene.blend"]
        usage = shutil.disk_usage(tmp_path)
        monkeypatch.setattr(shutil, "disk_usage", lambda _, usage=usage: usage._replace(free=1000))
