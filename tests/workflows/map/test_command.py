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
