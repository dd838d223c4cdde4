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
