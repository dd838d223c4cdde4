"""A scene is saved whole or not at all; Blender's own save takes a file that the disk cut short for finished."""

import os

import bpy
import pytest
from bl_ext.devrepo.motion_loom.scene import blend_file
from bl_ext.devrepo.motion_loom.scene.whole_file import destination
from bl_ext.devrepo.motion_loom.solvers.core.errors import OutputError

from tests import limits


def saved(path, name="Kept", compress=False):
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.data.objects.new(name, None).use_fake_user = True
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=compress)
    return path


def save(path):
    blend_file.save(destination(path, "choose another"))


def objects_in(path):
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return set(bpy.data.objects.keys())


@pytest.mark.parametrize("compress", (False, True))
def test_a_cut_file_is_told_from_a_whole_one(tmp_path, compress):
    path = saved(tmp_path / "a.blend", compress=compress)
    content = path.read_bytes()
    assert blend_file.is_whole(path)
    for length in (0, 3, 10, 23, 1000, 60000, len(content) // 2, len(content) - 9, len(content) - 1):
        path.write_bytes(content[:length])
        assert not blend_file.is_whole(path), length
    path.write_bytes(content[:1000] + content[1100:])
    assert blend_file.is_whole(path) != compress  # a hole shows in the table of a compressed file alone


@pytest.mark.parametrize("compress", (False, True))
@pytest.mark.parametrize("limit", (1000, 60000))
def test_a_full_disk_leaves_the_old_file(tmp_path, compress, limit):
    path = saved(tmp_path / "a.blend", compress=compress)
    before = path.read_bytes()
    bpy.data.objects.new("New", None).use_fake_user = True
    with limits.largest_file(limit), pytest.raises(OutputError, match="'.*a.blend' cannot be saved.*disk.*; choose"):
        save(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["a.blend"]


@pytest.mark.parametrize("compress", (False, True))
def test_compressed_as_it_was_with_its_earlier_states(tmp_path, compress):
    path = saved(tmp_path / "a.blend", compress=compress)
    magic, states = path.read_bytes()[:4], []
    bpy.context.preferences.filepaths.save_version = 2
    try:
        for number in range(3):
            states.insert(0, path.read_bytes())
            bpy.data.objects.new(f"New {number}", None).use_fake_user = True
            save(path)
    finally:
        bpy.context.preferences.filepaths.save_version = 1
    assert path.read_bytes()[:4] == magic and bpy.data.filepath == str(path)
    assert [path.with_name(f"a.blend{number}").read_bytes() for number in (1, 2)] == states[:2]
    assert sorted(os.listdir(tmp_path)) == ["a.blend", "a.blend1", "a.blend2"]
    assert objects_in(path) == {"Kept", "New 0", "New 1", "New 2"}


def test_paths_lead_to_the_same_files_from_another_folder_and_on_from_a_link(tmp_path):
    """From where the link lies, through which the file is opened."""
    path = saved(tmp_path / "a.blend")
    (tmp_path / "out").mkdir()
    bpy.data.texts.new("Notes").filepath = "//notes.txt"
    save(tmp_path / "out" / "b.blend")
    assert bpy.data.filepath == str(path) and bpy.data.texts["Notes"].filepath == "//notes.txt"
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out" / "b.blend"))
    assert bpy.data.texts["Notes"].filepath == "//../notes.txt"
    link = tmp_path / "out" / "link.blend"
    link.symlink_to(path)
    bpy.ops.wm.open_mainfile(filepath=str(link))
    bpy.data.texts.new("More").filepath = "//more.txt"
    save(link)
    bpy.ops.wm.open_mainfile(filepath=str(link))
    assert link.is_symlink() and bpy.data.texts["More"].filepath == "//more.txt"


def test_a_library_of_the_scene_is_not_replaced(tmp_path):
    library = saved(tmp_path / "library.blend")
    saved(tmp_path / "a.blend", "Own")
    with bpy.data.libraries.load(str(library), link=True, relative=True) as (_, wanted):
        wanted.objects = ["Kept"]
    before = library.read_bytes()
    (tmp_path / "link.blend").symlink_to(library)
    for name in ("library.blend", "link.blend"):
        with pytest.raises(OutputError, match=f"'.*{name}' is linked into the scene"):
            save(tmp_path / name)
    assert library.read_bytes() == before
