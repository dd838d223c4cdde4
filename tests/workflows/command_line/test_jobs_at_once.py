"""Several jobs at once on one scene, each in a process of its own: nothing of one is lost to another."""

import json
import os
import subprocess
import sys
from pathlib import Path

import bpy

from tests import map_play as play

ROOT = Path(__file__).resolve().parents[3]


def test_caches_differ_and_one_save_wins(tmp_path):
    scene = tmp_path / "scene.blend"
    play.add_ready()
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))
    words = [sys.executable, str(ROOT / "jobs.py"), "map", str(scene), "--target", "Worm", "--bake", "pc2", "--json"]
    ends = (["--save"], ["--save"], ["--output", str(tmp_path / "out.blend")])
    jobs = [subprocess.Popen([*words, *end], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for end in ends]
    told = [job.communicate() for job in jobs]
    codes = [job.returncode for job in jobs]
    assert codes[2] == 0 and 0 in codes[:2], told
    reports = [json.loads(out.splitlines()[-1]) for (out, _), code in zip(told, codes, strict=True) if code == 0]
    for code, (_, error) in zip(codes, told, strict=True):
        assert code == 0 or f"'{scene}' was changed" in error, error
    files = [report["file"].rpartition("/")[2] for report in reports]
    assert sorted(os.listdir(tmp_path / "motion_loom_cache")) == sorted(set(files)) and len(set(files)) == len(files)
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    played = {ob.modifiers[0].filepath for ob in bpy.data.objects if ob.name.startswith("Worm (mapped)")}
    assert played == {report["file"] for report in reports if report["output"] == str(scene)}
