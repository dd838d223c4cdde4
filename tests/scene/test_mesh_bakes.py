"""Baked results as Blender plays them, also from a file that was saved, reopened and moved."""

import os
import shutil

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import live_mesh, mesh_bakes
from bl_ext.devrepo.motion_loom.scene.mesh_bakes import MeshResult
from bl_ext.devrepo.motion_loom.scene.mesh_sequence import mesh_sequence_steps
from bl_ext.devrepo.motion_loom.solvers.core.errors import InputError, OutputError, SceneError
from mathutils import Matrix

from tests import limits, pc2_file, rig_scenes
from tests import map_scenes as scenes
from tests.objects import add_object

FRAMES = {
    "whole": np.arange(7.0, 19.0), "halves": np.arange(-3.0, 3.0, 0.5), "thirds": 1.0 + np.arange(12) / 3.0,
    "twos": np.arange(0.0, 24.0, 2.0),
}  # fmt: skip
BAKES = {"cache": mesh_bakes.bake_pc2, "absolute": mesh_bakes.bake_absolute_keys, "pca": mesh_bakes.bake_pca_keys}
SHEARS = pytest.mark.parametrize("shear", (0.0, 0.4))


def target(name="Strip", folder=None):
    """A mesh with keys, a modifier and a place of its own, in a file that is saved where a folder is given."""
    ob = scenes.add_strip(name)
    scenes.key_values(scenes.add_keys(ob))
    ob.modifiers.new("Tri", "TRIANGULATE")
    ob.location, ob.delta_location = (5, 5, 5), (1, 1, 1)
    if folder:
        saved(folder)
    return ob


def result(ob, which="whole", shear=0.0, seed=0):
    """A result that moves, turns and bends, and the mean, the waves and their weights that it is made of."""
    rng = np.random.default_rng(seed)
    frames = FRAMES[which] if isinstance(which, str) else which
    mean = scenes.positions(ob.data)
    waves = rng.normal(size=(3, len(mean), 3)) * np.array([0.3, 0.3, 0.03])[:, None, None]
    weights = np.sin(np.arange(len(frames))[:, None] * np.array([0.3, 0.7, 1.1])) * (2.0, 1.0, 15.0)
    vertices = (mean + np.einsum("fd,dvc->fvc", weights, waves)).astype(np.float32)
    worlds = [
        Matrix.LocRotScale((0.3 * k, 1, 2), Matrix.Rotation(0.4 * k, 3, (1, 2, 3)), (1, -2, 0.5))
        @ Matrix.Shear("XY", 4, (shear, shear))
        for k in range(len(frames))
    ]
    return MeshResult(vertices, np.array(worlds), frames), (mean, waves, weights)


def bake(kind, ob, expected, fit=(), **options):
    return BAKES[kind](bpy.context, ob, expected, *(fit if kind == "pca" else ()), **options)


def world_vertices(vertices, worlds):
    return vertices @ np.swapaxes(worlds[:, :3, :3], 1, 2) + worlds[:, None, :3, 3]


def assert_plays(ob, expected, atol=1e-4):
    seen = world_vertices(*scenes.seen(ob, expected.frames))
    np.testing.assert_allclose(seen, world_vertices(expected.vertices, expected.worlds), atol=atol)


def saved(folder):
    folder.mkdir(exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "a.blend"))


def reopened(baked):
    name = baked.ob.name
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    return bpy.data.objects[name]


def blocks():
    kinds = ("objects", "meshes", "shape_keys", "actions")
    return {kind: sorted(item.name for item in getattr(bpy.data, kind)) for kind in kinds}


@pytest.mark.parametrize("which", FRAMES)
@SHEARS
def test_cache_file(tmp_path, which, shear):
    ob = target('odd / "name" 骨', tmp_path / "one")
    expected, _ = result(ob, which, shear)
    baked = bake("cache", ob, expected)
    assert baked.path.startswith("//motion_loom_cache/") and baked.ob.modifiers[0].filepath == baked.path
    assert [modifier.name for modifier in baked.ob.modifiers] == ["Mesh Cache", "Tri"]
    assert baked.byte_count == os.path.getsize(bpy.path.abspath(baked.path))
    assert_plays(baked.ob, expected)
    sequence = scenes.run(mesh_sequence_steps(bpy.context, baked.ob, expected.frames))[0]
    assert "Mesh Cache" in sequence.sampled_because
    played = world_vertices(sequence.vertices, sequence.worlds)
    np.testing.assert_allclose(played, world_vertices(expected.vertices, expected.worlds), atol=1e-4)
    name = baked.ob.name
    assert_plays(reopened(baked), expected)
    shutil.move(tmp_path / "one", tmp_path / "two")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "two" / "a.blend"))
    assert_plays(bpy.data.objects[name], expected)


def test_cache_between_samples_before_and_after(tmp_path):
    ob = target(folder=tmp_path)
    expected, _ = result(ob, "twos")
    baked = bake("cache", ob, expected)
    middle = 0.5 * (expected.vertices[1:] + expected.vertices[:-1])
    np.testing.assert_allclose(scenes.seen(baked.ob, FRAMES["twos"][1:] - 1.0)[0], middle, atol=1e-4)
    np.testing.assert_allclose(scenes.seen(baked.ob, [-9.0, 99.0])[0], expected.vertices[[0, -1]], atol=1e-4)


@pytest.mark.parametrize("kind", ("cache", "absolute"))
def test_time_remapped(tmp_path, kind):
    bpy.context.scene.render.frame_map_new = 130
    ob = target(folder=tmp_path)
    expected, _ = result(ob, "halves")
    assert_plays(bake(kind, ob, expected).ob, expected, 2e-4)


@pytest.mark.parametrize("which", FRAMES)
@SHEARS
def test_absolute_keys(tmp_path, which, shear):
    ob = target(folder=tmp_path)
    expected, _ = result(ob, which, shear)
    baked = bake("absolute", ob, expected)
    assert not baked.path and baked.byte_count > expected.vertices.nbytes
    assert_plays(baked.ob, expected)
    assert_plays(reopened(baked), expected)


def test_absolute_keys_of_many_uneven_frames():
    ob = target()
    frames = np.cumsum(np.random.default_rng(0).uniform(0.2, 2, 1500))
    expected, _ = result(ob, frames)
    baked = bake("absolute", ob, expected)
    step = np.abs(np.diff(expected.vertices, axis=0)).max()
    found = scenes.seen(baked.ob, frames[::50])[0]
    np.testing.assert_allclose(found, expected.vertices[::50], atol=2e-4 * step)  # times are kept in single precision


@SHEARS
def test_pca_keys(tmp_path, shear):
    ob = target(folder=tmp_path)
    expected, fit = result(ob, "halves", shear)
    baked = bake("pca", ob, expected, fit)
    assert baked.error[1] <= baked.error[0] < 1e-4
    assert_plays(baked.ob, expected, 4e-4)
    assert_plays(reopened(baked), expected, 4e-4)


@SHEARS
def test_pca_keys_tell_their_error(shear):
    """In the world, where the object is scaled and sheared."""
    ob = target()
    expected, fit = result(ob, shear=shear)
    fit[2][:, 1] = 0.0
    baked = bake("pca", ob, expected, fit)
    assert [block.name for block in baked.ob.data.shape_keys.key_blocks] == ["Mean", "Mode 01", "Mode 03"]
    seen = world_vertices(*scenes.seen(baked.ob, expected.frames))
    distance = np.linalg.norm(seen - world_vertices(expected.vertices, expected.worlds), axis=2)
    np.testing.assert_allclose(baked.error, (distance.max(), np.sqrt(np.square(distance).mean())), rtol=1e-4)


def test_keys_are_linear_and_turns_unwrapped_and_what_stands_still_gets_none():
    ob = target()
    expected, _ = result(ob)
    curves = rig_scenes.fingerprint(bake("absolute", ob, expected).ob.animation_data.action)
    assert {path for path, *_ in curves} == {"location", "rotation_euler"}
    assert all(key[-1] == "LINEAR" for *_, keys in curves for key in keys)
    steps = [np.abs(np.diff([key[1] for key in keys])).max() for path, _, _, keys in curves if path != "location"]
    assert max(steps) < 2.0
    still = MeshResult(expected.vertices, np.repeat(expected.worlds[3:4], 12, axis=0), expected.frames)
    baked = bake("absolute", ob, still)
    assert baked.ob.animation_data is None
    assert_plays(baked.ob, still)


def test_parented_shared_and_hidden_behind_a_live_copy():
    ob, parent = target(), add_object("Parent")
    ob.parent, parent.scale, parent.location = parent, (1, -3, 2), (4, 4, 4)
    add_object("Twin", ob.data)
    expected, _ = result(ob)
    live = live_mesh.make(bpy.context, ob)
    for which in (ob, live):
        baked = bake("absolute", which, expected, name="Walk")
        assert baked.ob.name.startswith("Walk") and not live_mesh.is_live(baked.ob)
        assert_plays(baked.ob, expected)
    assert live_mesh.restore(live) == ob


def test_the_original_is_untouched(tmp_path):
    ob = target(folder=tmp_path)
    expected, fit = result(ob)
    before = scenes.seen(ob, [1, 5, 9])[0], rig_scenes.fingerprint(ob.data.shape_keys.animation_data.action)
    for kind in BAKES:
        bake(kind, ob, expected, fit)
    np.testing.assert_array_equal(scenes.seen(ob, [1, 5, 9])[0], before[0])
    assert rig_scenes.fingerprint(ob.data.shape_keys.animation_data.action) == before[1]


def test_a_second_cache_gets_a_file_of_its_own_and_a_long_name_is_fine(tmp_path):
    ob = target(folder=tmp_path)
    for seed, name in enumerate(("Same", "Same", "Strip" * 60)):
        expected, _ = result(ob, seed=seed)
        assert_plays(bake("cache", ob, expected, name=name, folder=str(tmp_path)).ob, expected)
    assert sorted(path.name for path in tmp_path.glob("Same*.pc2")) == ["Same.pc2", "Same_001.pc2"]
    assert pc2_file.read(tmp_path / "Same.pc2")[0]["start"] == 7.0


@pytest.mark.skipif(os.name == "nt", reason="there the backslash is the platform's own separator")
def test_a_backslash_in_the_folder_separates(tmp_path):
    ob = target(folder=tmp_path)
    expected, _ = result(ob)
    assert_plays(bake("cache", ob, expected, folder="my\\cache").ob, expected)
    assert (tmp_path / "my" / "cache").is_dir() and not (tmp_path / "my\\cache").exists()


def test_failures_leave_nothing(tmp_path):
    ob = target()
    expected, fit = result(ob)
    before = blocks()
    with pytest.raises(SceneError, match="save it first"):
        bake("cache", ob, expected)
    saved(tmp_path)
    (tmp_path / "file").write_text("")
    bad = MeshResult(expected.vertices.copy(), expected.worlds, expected.frames)
    bad.vertices[-1, 3] = np.nan
    flat = MeshResult(expected.vertices, expected.worlds * np.array([1, 0, 1, 1.0]), expected.frames)
    uneven = MeshResult(expected.vertices, expected.worlds, expected.frames**1.1)
    fewer = MeshResult(expected.vertices[:, 1:], expected.worlds, expected.frames)
    twice = MeshResult(expected.vertices, expected.worlds, expected.frames[np.maximum(np.arange(12), 1)])
    for kind, given, options, error, message in (
        ("cache", expected, {"folder": "//file/x"}, OutputError, "cannot be made"),
        ("cache", bad, {"folder": "//deep/down"}, OutputError, "not numbers at frame 18"),
        ("cache", uneven, {}, InputError, "evenly spaced"),
        ("absolute", bad, {}, OutputError, "not numbers at frame 18"),
        ("absolute", flat, {}, OutputError, "scale of zero at frame 7"),
        ("absolute", twice, {}, InputError, "do not rise"),
        ("absolute", fewer, {}, InputError, "36 vertices where the result has 35"),
        ("pca", bad, {"fit": fit}, OutputError, "not numbers at frame 18"),
        ("pca", expected, {"fit": (fit[0][1:], *fit[1:])}, InputError, "expected"),
    ):
        with pytest.raises(error, match=message):
            bake(kind, ob, given, **options)
        assert blocks() == before, message
        assert sorted(os.listdir(tmp_path)) == ["a.blend", "file"], message


def test_changing_shear_is_refused_by_pca_keys_alone():
    ob = target()
    expected, fit = result(ob)
    worlds = expected.worlds @ np.array([Matrix.Shear("XY", 4, (0.1 * k, 0)) for k in range(12)])
    sheared = MeshResult(expected.vertices, worlds, expected.frames)
    with pytest.raises(OutputError, match="shear of .* changes at frame"):
        bake("pca", ob, sheared, fit)
    assert_plays(bake("absolute", ob, sheared).ob, sheared)


@pytest.mark.parametrize("override", (False, True))
def test_linked_targets(tmp_path, override):
    ob = scenes.linked(target(), tmp_path, override)
    saved(tmp_path)
    expected, fit = result(ob)
    for kind in BAKES:
        baked = bake(kind, ob, expected, fit)
        assert baked.ob.library is None and baked.ob.override_library is None
        assert_plays(baked.ob, expected)


def folders_refused(ob, here, refused):
    """Folders that cannot be written into are named with a way out, and nothing is left in the file or on the disk."""
    before = blocks(), sorted(os.listdir(here))
    for folder, message in refused:
        with pytest.raises(OutputError, match=f"{message}.*[Cc]hoose"):
            bake("cache", ob, result(ob)[0], folder=folder)
        assert (blocks(), sorted(os.listdir(here))) == before, folder


def test_a_folder_without_permission():
    with limits.open_folder() as folder:
        ob = target(folder=folder)
        (folder / "closed").mkdir(mode=0o555)
        (folder / "hidden").mkdir(mode=0o000)
        with limits.stopped_by_permissions():
            names = ("closed", "closed/new", "hidden/in")
            folders_refused(ob, folder, [(f"//{name}", f"'.*{name}.*Permission denied") for name in names])


def test_folders_that_cannot_be_made_are_named(tmp_path):
    ob = target(folder=tmp_path)
    (tmp_path / "file").write_text("")
    (tmp_path / "lost").symlink_to("nowhere")
    refused = (
        ("//file", "'.*file' is a file"),
        ("//file/in", "'.*file' is a file"),
        ("//lost", "'.*lost' is a link that leads nowhere"),
        (f"//made/{'n' * 256}", "n' cannot be made: File name too long"),
        (f"//{'/'.join(['d' * 100] * 12)}", "too long"),
    )
    folders_refused(ob, tmp_path, refused)


def test_a_bake_that_ends_late_takes_its_cache_along(tmp_path, monkeypatch):
    """The object is linked last; what stops that may not leave a file that nothing plays."""
    ob = target(folder=tmp_path)
    before = blocks()

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(mesh_bakes, "link_beside", stopped)
    with pytest.raises(KeyboardInterrupt):
        bake("cache", ob, result(ob)[0])
    assert blocks() == before and os.listdir(tmp_path) == ["a.blend"]
