"""A file is written whole or not at all, and never over one that another program has put there meanwhile."""

import os
import threading

import pytest
from bl_ext.devrepo.motion_loom.scene import whole_file
from bl_ext.devrepo.motion_loom.scene.whole_file import destination, reserved
from bl_ext.devrepo.motion_loom.solvers.core.errors import OutputError

from tests import limits

WAY_OUT = "choose another file"


def write(path, text="new", **kwargs):
    with destination(path, WAY_OUT).part(**kwargs) as part:
        part.write_text(text)


def test_written_with_the_permissions_of_what_was_there(tmp_path):
    (tmp_path / "old").write_text("old")
    (tmp_path / "old").chmod(0o640)
    (tmp_path / "plain").write_text("")
    for name in ("old", "fresh"):
        write(tmp_path / name)
        assert (tmp_path / name).read_text() == "new"
    assert (tmp_path / "old").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "fresh").stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert sorted(os.listdir(tmp_path)) == ["fresh", "old", "plain"]


def test_a_link_stays_one(tmp_path):
    (tmp_path / "real").write_text("old")
    for name, target in (("link", "real"), ("dangling", "later")):
        (tmp_path / name).symlink_to(target)
        write(tmp_path / name)
        assert (tmp_path / name).is_symlink() and (tmp_path / target).read_text() == "new"


@pytest.mark.parametrize("error", (KeyboardInterrupt, MemoryError, GeneratorExit, OutputError))
def test_a_block_that_fails_leaves_the_old_file(tmp_path, error):
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(error), destination(path, WAY_OUT).part() as part:
        part.write_text("half")
        raise error
    with pytest.raises(error), reserved(tmp_path, "b", ".x", WAY_OUT) as place, place.part() as part:
        part.write_text("half")
        raise error
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("error", (KeyboardInterrupt, MemoryError))
@pytest.mark.parametrize("after", ("_flush_folder", "note_made"))
def test_an_error_once_the_file_is_in_its_place_leaves_no_new_one(tmp_path, monkeypatch, error, after):
    """Which nothing plays. What has replaced an old file by then is whole, and stays."""
    (tmp_path / "old").write_text("old")
    noted = []

    def fail(*_):
        noted.append(sorted(os.listdir(tmp_path)))
        raise error

    monkeypatch.setattr(whole_file, after, fail)
    with pytest.raises(error), reserved(tmp_path, "b", ".x", WAY_OUT) as place, place.part() as part:
        part.write_text("new")
    if after == "_flush_folder":
        for name in ("a", "old"):
            with pytest.raises(error):
                write(tmp_path / name)
    assert noted[0] == ["b.x", "old"] and os.listdir(tmp_path) == ["old"]
    assert (tmp_path / "old").read_text() == ("new" if after == "_flush_folder" else "old")


def test_a_reserved_file_that_was_written_goes_where_the_rest_fails(tmp_path):
    with pytest.raises(ValueError), reserved(tmp_path, "b", ".x", WAY_OUT) as place:
        with place.part() as part:
            part.write_text("new")
        raise ValueError
    assert not os.listdir(tmp_path)


def test_a_disk_that_takes_no_more_leaves_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    with limits.largest_file(100), pytest.raises(OutputError, match="'.*a' cannot be written: .*; choose another file"):
        write(path, "new" * 100)
    for count, words in ((10**6, "Only 0.0 MB of the 1.0 MB"), (10**18, "about 1000000000000.0 MB, and the disk has")):
        with pytest.raises(OutputError, match=words):
            write(path, byte_count=count)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("change", ("rewritten", "replaced", "removed", "appeared"))
def test_what_another_program_wrote_meanwhile_stays(tmp_path, change):
    path = tmp_path / "a"
    if change != "appeared":
        path.write_text("old")
    place = destination(path, WAY_OUT)
    with pytest.raises(OutputError, match="'.*a' (was changed or removed|appeared) .*; choose another"), place.part():
        if change == "removed":
            path.unlink()
        else:
            if change == "replaced":
                path.unlink()
            path.write_text("theirs")
    assert os.listdir(tmp_path) == ([] if change == "removed" else ["a"])
    assert change == "removed" or path.read_text() == "theirs"


def test_of_many_at_once_one_writes(tmp_path):
    """All have looked at the same state; the others are refused, whichever comes first."""
    path = tmp_path / "a"
    path.write_text("old")
    places, start, refused = [destination(path, WAY_OUT) for _ in range(8)], threading.Barrier(8), []

    def run(number):
        start.wait()
        try:
            with places[number].part() as part:
                part.write_text(f"by {number}")
        except OutputError:
            refused.append(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = set(range(8)) - set(refused)
    assert path.read_text() == f"by {winner}" and os.listdir(tmp_path) == ["a"]


def test_a_name_that_is_taken_is_told(tmp_path, monkeypatch):
    """A program that was ended between two lines leaves its mark."""
    monkeypatch.setattr(whole_file, "_WAIT", 0.0)
    with destination(tmp_path / "a", WAY_OUT).part(), whole_file._alone_at(destination(tmp_path / "a", WAY_OUT)):
        (mark,) = [name for name in os.listdir(tmp_path) if name.endswith(".lock")]
        with pytest.raises(OutputError, match=f"is writing '.*a'; if none is, delete '.*{mark}', or else choose"):
            write(tmp_path / "a")
    assert os.listdir(tmp_path) == ["a"]


def test_places_that_cannot_be_written_are_named(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "lost").symlink_to("nowhere/file")
    (tmp_path / "loop").symlink_to("loop")
    for name, message in (
        ("none/a", "The folder '.*none' does not exist"),
        (".", "is a folder"),
        ("file/a", "The folder '.*file' is not a folder"),
        ("lost", "'.*lost' is a link to '.*nowhere/file'. The folder '.*nowhere' does not exist"),
        ("loop", "'.*loop' cannot be written"),
        ("n" * 256, "'.*nnn' cannot be written: File name too long"),
        ("/".join(["deep"] * 1000), "'.*deep' cannot be written: File name too long"),
        (os.devnull, f"'{os.devnull}' is a device"),
    ):
        with pytest.raises(OutputError, match=f"{message}.*; choose another file"):
            destination(tmp_path / name, WAY_OUT)


def test_permissions_are_heeded():
    with limits.open_folder() as folder:
        (folder / "kept").write_text("old")
        (folder / "kept").chmod(0o444)
        (folder / "closed").mkdir(mode=0o555)
        (folder / "hidden").mkdir(mode=0o000)
        with limits.stopped_by_permissions():
            for name, message in (
                ("kept", "'.*kept' is write-protected"),
                ("closed/a", "Cannot write into '.*closed': Permission denied"),
                ("hidden/a", "'.*hidden/a' cannot be written: Permission denied"),
            ):
                with pytest.raises(OutputError, match=f"{message}; choose another file"):
                    destination(folder / name, WAY_OUT)
            with pytest.raises(OutputError, match="cannot be written: Permission denied; choose another"):
                with reserved(folder / "closed", "a", ".x", WAY_OUT):
                    pass
        assert (folder / "kept").read_text() == "old"


def test_reserved_names_are_numbered_and_cut(tmp_path):
    (tmp_path / "a.pc2").write_text("old")
    (tmp_path / "a_001.pc2").symlink_to("nowhere")
    with reserved(tmp_path, "a", ".pc2", WAY_OUT) as first, reserved(tmp_path, "a", ".pc2", WAY_OUT) as second:
        assert (first.path.name, second.path.name) == ("a_002.pc2", "a_003.pc2")
    long = "ä" * 200
    for _ in range(2):
        with reserved(tmp_path, long, ".pc2", WAY_OUT) as place, place.part() as part:
            part.write_text("new")
        assert place.path.read_text() == "new" and len(os.fsencode(place.path.name)) > 250
