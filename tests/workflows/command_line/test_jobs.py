"""The command line: exit codes, the report, and what is saved where."""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import bpy
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.scene import whole_file
from bl_ext.devrepo.motion_loom.scene.whole_file import reserved
from bl_ext.devrepo.motion_loom.solvers.core.errors import SceneError
from bl_ext.devrepo.motion_loom.workflows.core.base import Command, Workflow

from tests import limits

ROOT = Path(__file__).resolve().parents[3]


def _interrupt(*_):
    signal.raise_signal(signal.SIGINT)


class Naming(Workflow):
    """Two commands, one of which can be made to fail."""

    id = "naming"
    label = "Naming"
    steps = {}

    def __init__(self):
        self.runs = 0

    def commands(self):
        return (
            Command("add", "Add an empty", lambda p: p.add_argument("--name", required=True), self.add),
            Command("count", "Count objects", lambda p: None, self.count),
        )

    def add(self, context, args):
        self.runs += 1
        if args.name == "forbidden":
            raise SceneError("No object may be called 'forbidden'; choose another --name.")
        if args.name == "bug":
            raise ZeroDivisionError
        if args.name == "overtaken":
            Path(bpy.data.filepath).write_bytes(b"theirs")
        if args.name in ("cached", "cached, then interrupted"):
            with reserved(Path(bpy.path.abspath("//")), "cache", ".pc2", "choose another"):
                pass
        if args.name == "printed":
            print(end="", flush=True)
        if args.name in ("interrupted", "cached, then interrupted"):
            signal.raise_signal(signal.SIGINT)
        if args.name == "interrupted in a handler":
            bpy.app.handlers.frame_change_post.append(_interrupt)
            try:
                context.scene.frame_set(2)
            finally:
                bpy.app.handlers.frame_change_post.remove(_interrupt)
        if args.name == "large":
            raise MemoryError
        if args.name == "unknown":
            return {"figures": [{"x": math.nan}, (math.inf, 1.5)]}
        context.scene.collection.objects.link(bpy.data.objects.new(args.name, None))
        return {"added": args.name}

    def count(self, context, args):
        return {"count": len(bpy.data.objects)}


@pytest.fixture
def naming(registered):
    return registered(Naming())


@pytest.fixture
def blend(tmp_path):
    path = tmp_path / "scene.blend"
    bpy.data.objects.new("Kept", None).use_fake_user = True
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_homefile(use_empty=True)
    return path


def objects_in(path):
    bpy.ops.wm.read_homefile(use_empty=True)  # Blender does not read from the file that is open.
    with bpy.data.libraries.load(str(path)) as (there, _):
        return set(there.objects)


@pytest.mark.versions
def test_json_report_is_the_last_line(naming, tmp_path, capsys):
    out = tmp_path / "out.blend"
    assert jobs.main(["add", "--name", "Kopf.δ", "--output", str(out), "--json"]) == 0
    report = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert report == {"command": "add", "output": str(out), "added": "Kopf.δ"}
    assert objects_in(out) == {"Kopf.δ"}


def test_numbers_that_are_none_are_null_in_json(naming, capsys):
    assert jobs.main(["add", "--name", "unknown", "--json"]) == 0
    line = capsys.readouterr().out.splitlines()[-1]
    assert json.loads(line)["figures"] == [{"x": None}, [None, 1.5]] and "NaN" not in line


@pytest.mark.parametrize("moment", ["interrupted", "interrupted in a handler"])
def test_an_interrupted_command_fails_and_saves_nothing(naming, blend, moment, capsys):
    """Also where Blender swallows the error."""
    before = blend.read_bytes()
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as Blender goes on by itself
    try:
        assert jobs.main(["add", str(blend), "--name", moment, "--save"], opens_file=True) == 1
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # put back
    finally:
        signal.signal(signal.SIGINT, handler)
    assert capsys.readouterr().err.splitlines()[-1] == "motion_loom add: interrupted; nothing was saved."
    assert blend.read_bytes() == before


@pytest.mark.parametrize(("moment", "code"), [("_flush", 1), ("_flush_folder", 0)])
def test_ctrl_c_counts_until_the_file_is_in_its_place(naming, blend, moment, code, monkeypatch, capsys):
    """Up to then nothing is saved, and from then on it does not say so."""
    before = blend.read_bytes()
    monkeypatch.setattr(whole_file, moment, _interrupt)
    assert jobs.main(["add", str(blend), "--name", "New", "--save"], opens_file=True) == code
    assert (blend.read_bytes() == before) == bool(code)
    assert ("nothing was saved" in capsys.readouterr().err) == bool(code)


@pytest.mark.versions
@pytest.mark.parametrize(
    ("words", "opened", "other"),
    [
        ([], {"Kept"}, None),
        (["--save"], {"Kept", "New"}, None),
        (["--output", "{folder}/out.blend"], {"Kept"}, {"Kept", "New"}),
    ],
)
def test_what_is_saved_where(naming, blend, words, opened, other, capsys):
    words = [word.format(folder=blend.parent) for word in words]
    assert jobs.main(["add", str(blend), "--name", "New", *words], opens_file=True) == 0
    assert ("Nothing is saved" in capsys.readouterr().err) == (not words)
    assert objects_in(blend) == opened
    assert other is None or objects_in(blend.with_name("out.blend")) == other


@pytest.mark.versions
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("forbidden", "motion_loom add: No object may be called 'forbidden'; choose another --name.\n"),
        ("large", "motion_loom add: There is not enough memory"),
        ("bug", "ZeroDivisionError"),  # Blender itself would print the traceback and exit with 0
    ],
)
def test_failure_gives_the_reason(naming, tmp_path, name, reason, capsys):
    out = tmp_path / "out.blend"
    assert jobs.main(["add", "--name", name, "--output", str(out), "--json"]) == 1
    written = capsys.readouterr()
    assert reason in written.err and (name == "bug" or written.err.count("\n") == 1)
    assert not written.out and not out.exists()


@pytest.mark.parametrize("place", ["missing/out.blend", ".", "/proc/out.blend", "scene.blend/out.blend"])
def test_output_that_cannot_be_written_is_found_out_before_the_work(naming, blend, place, capsys):
    out = blend.parent / place
    assert jobs.main(["add", "--name", "New", "--output", str(out)]) == 1
    error = capsys.readouterr().err
    assert "motion_loom add: " in error and str(out.parent if place != "." else out) in error
    assert naming.runs == 0


def test_save_does_not_replace_what_another_program_wrote_meanwhile(naming, blend, capsys):
    assert jobs.main(["add", str(blend), "--name", "overtaken", "--save"], opens_file=True) == 1
    assert f"'{blend}' was changed" in (told := capsys.readouterr().err) and "--output" in told
    assert blend.read_bytes() == b"theirs" and os.listdir(blend.parent) == [blend.name]


def test_what_counts_is_the_file_that_was_read(naming, blend, capsys):
    """Blender itself opens the file of its command line, long before the command."""
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    assert jobs.main(["add", "--name", "New", "--save"]) == 0
    bpy.ops.wm.save_as_mainfile(filepath=str(blend.with_name("copy.blend")), copy=True)
    bpy.ops.wm.save_mainfile()
    assert jobs.main(["add", "--name", "Newer", "--save"]) == 0
    blend.write_bytes(b"theirs")
    assert jobs.main(["add", "--name", "Newest", "--save"]) == 1
    assert f"'{blend}' was changed" in capsys.readouterr().err and naming.runs == 2
    assert blend.read_bytes() == b"theirs"


@pytest.mark.parametrize("words", [("--save",), ("--output", "{folder}/out.blend")])
def test_a_full_disk_fails_and_leaves_nothing_new(naming, blend, words, capsys):
    """Also not the cache file that the scene would have played."""
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    bpy.ops.wm.save_mainfile(compress=True)  # cut short, it counted as saved
    blend.with_name("scene.blend1").unlink()
    before = blend.read_bytes()
    words = [word.format(folder=blend.parent) for word in words]
    with limits.largest_file(60_000):
        assert jobs.main(["add", str(blend), "--name", "cached", *words, "--json"], opens_file=True) == 1
    written = capsys.readouterr()
    assert "cannot be saved" in written.err and "disk" in written.err and "--output" in written.err
    assert "{" not in written.out
    assert blend.read_bytes() == before and os.listdir(blend.parent) == [blend.name]


def test_a_job_that_is_stopped_takes_its_cache_along(naming, blend):
    assert jobs.main(["add", str(blend), "--name", "cached, then interrupted", "--save"], opens_file=True) == 1
    assert os.listdir(blend.parent) == [blend.name]
    assert jobs.main(["add", str(blend), "--name", "cached", "--save"], opens_file=True) == 0
    assert "cache.pc2" in os.listdir(blend.parent)


def test_a_disk_without_room_is_found_out_before_the_work(naming, blend, monkeypatch, capsys):
    usage = shutil.disk_usage(blend.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    assert jobs.main(["add", str(blend), "--name", "New", "--save"], opens_file=True) == 1
    assert "the disk has 0.0 MB left" in capsys.readouterr().err and naming.runs == 0


@pytest.mark.parametrize(
    ("output", "name", "reason"),
    [("closed", "New", "Broken pipe"), ("closed", "printed", "Broken pipe"), ("none", "New", "there is no")],
)
def test_a_report_that_cannot_be_printed_fails_in_words(naming, tmp_path, output, name, reason, monkeypatch, capsys):
    out = tmp_path / "out.blend"
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as closed:
        with monkeypatch.context() as patched:
            if name == "printed":
                closed.write("a line that waits")
            patched.setattr(sys, "stdout", closed if output == "closed" else None)
            assert jobs.main(["add", "--name", name, "--output", str(out), "--json"]) == 1
        error = capsys.readouterr().err
        assert f"report cannot be printed: {reason}" in error and "Traceback" not in error
        saved = f"the result is saved in '{out}'" if name == "New" else "nothing is saved"
        assert saved in error and out.exists() == (name == "New")
        os.dup2(os.open(os.devnull, os.O_WRONLY), writer)


def test_save_without_a_file_fails(naming, capsys):
    assert jobs.main(["add", "--name", "New", "--save"]) == 1
    assert "--output" in capsys.readouterr().err


@pytest.mark.versions
@pytest.mark.parametrize("content", [None, b"not a blend file"])
def test_file_that_cannot_be_opened(naming, tmp_path, content, capsys):
    path = tmp_path / "broken.blend"
    if content:
        path.write_bytes(content)
    assert jobs.main(["count", str(path)], opens_file=True) == 1
    assert "broken.blend" in capsys.readouterr().err


def test_a_file_that_may_not_be_read(naming, capsys):
    with limits.closed_files("in.blend") as files:
        for path, reason in files.items():
            with limits.stopped_by_permissions():
                assert jobs.main(["count", str(path)], opens_file=True) == 1
            error = capsys.readouterr().err
            assert f"'{path}'" in error and reason in error and "Traceback" not in error


@pytest.mark.parametrize("argv", [[], ["nothing"], ["add"], ["count", "--save", "--output", "b.blend"]])
def test_usage_errors(naming, argv, capsys):
    assert jobs.main(argv) == 2
    assert "usage: blender --background FILE --command motion_loom" in capsys.readouterr().err


def test_help_lists_every_command(naming, capsys):
    assert jobs.main(["--help"]) == 0
    text = capsys.readouterr().out
    assert "Add an empty" in text and "Count objects" in text


@pytest.mark.versions
@pytest.mark.parametrize(("argv", "code"), [(["--help"], 0), (["nothing", "scene.blend"], 2)])
def test_script(argv, code):
    """``python jobs.py`` in a process of its own."""
    done = subprocess.run([sys.executable, ROOT / "jobs.py", *argv], capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert "usage: python jobs.py" in done.stdout + done.stderr


INTERRUPTED_AT_IMPORT = """
import runpy, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupting())
module, sys.argv = sys.argv[1], sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize("module", ["checkout", "numpy"])
def test_ctrl_c_while_all_is_loading_waits_for_its_end(blend, module):
    """It tore the loading apart, which could crash, or was lost in it."""
    words = [str(ROOT / "jobs.py"), "bind", str(blend), "--rig", "None", "--environment", "Kept"]
    command = [sys.executable, "-c", INTERRUPTED_AT_IMPORT, module, *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "motion_loom bind: interrupted; nothing was saved.\n")


REPORT_AFTER_C_OUTPUT = """
import ctypes, importlib
import checkout

package = checkout.enable()
base = importlib.import_module(f"{package}.workflows.core.base")
jobs = importlib.import_module(f"{package}.jobs")

class Tiny(base.Workflow):
    def commands(self):
        return (base.Command("tiny", "", lambda parser: None, lambda context, args: {}),)

ctypes.CDLL(None).puts(b"printed by C")
jobs.main(["tiny", "--json"], workflows=[Tiny()])
"""


@pytest.mark.versions
@pytest.mark.skipif(sys.platform == "win32", reason="the C library is found by another name")
def test_json_report_follows_what_blender_printed():
    """Blender's own lines wait in C's buffer while stdout is a pipe, and came after the report at exit."""
    command = [sys.executable, "-c", REPORT_AFTER_C_OUTPUT]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert "printed by C" in lines
    assert json.loads(lines[-1])["command"] == "tiny"
