"""What a newcomer met when baking a transfer, on a command line, and with linked subjects."""

import json
import os
import re
from pathlib import Path

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.workflows.transfer import command

from tests import map_play
from tests import transfer_play as play
from tests.mesh_play import link, saved
from tests.transfer_play import PAIRS

pytestmark = pytest.mark.usefixtures("no_traceback")

NEW = np.arange(1, 31)
BAKE = ("transfer", "--target", "Bob", "--bake", "absolute-keys")


def reported(capfd, *words):
    assert jobs.main([*words, "--json"]) == 0, capfd.readouterr().err
    return json.loads(capfd.readouterr().out.splitlines()[-1])


def told(capfd, *words):
    """The one line of a command that cannot be done."""
    assert jobs.main(list(words)) == 1
    error = capfd.readouterr().err
    assert error.count("\n") == 1, error
    return error


# ---------------------------------------------------------------------------------------------------------------- bake


@pytest.mark.parametrize("scale", (1.0, 100.0))
def test_keys_tell_their_error_in_metres(capfd, scale):
    """Also where the target's own space is another one, as glTF leaves it."""
    _, bob, _ = play.add_scene()
    parent = bpy.data.objects.new("Armature", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.scale, bob.parent = (scale, scale, scale), parent
    small = play.shapes(play.TARGET, play.warped(), 1.0)[0].astype(np.float32) / scale
    for block, shape in zip(bob.data.shape_keys.key_blocks, small, strict=True):
        block.points.foreach_set("co", shape.ravel())
    bob.data.vertices.foreach_set("co", small[0].ravel())
    bpy.context.view_layer.update()
    ann = bpy.data.objects["Ann"]
    play.add_clip(bob, ann, PAIRS)
    play.add_parts(bob)
    map_play.press("fit", workflow="transfer")
    map_play.press("train", workflow="transfer")
    bob.motion_loom_transfer.performed = bpy.data.objects["Ann Again"]
    report = reported(capfd, "transfer", "--target", "Bob", "--bake", "pca-keys", "--keys", "2")
    near = map_play.shown(bpy.data.objects[report["object"]], NEW)
    exact = map_play.shown(play.bake(bob), NEW)
    apart = np.linalg.norm(near - exact, axis=-1)
    assert apart.max() > 0.005
    assert report["error_max"] == pytest.approx(apart.max(), rel=1e-3)
    assert report["error_rms"] == pytest.approx(np.sqrt(np.square(apart).mean()), rel=1e-3)
    within = re.search(r"shape keys within ([\d.]+) mm", command.summary(report))
    assert float(within[1]) == pytest.approx(1e3 * apart.max(), rel=0.1)


@pytest.mark.parametrize("folder", ("", "relative", "//relative", "deep/er"))
def test_a_folder_is_of_the_blend(tmp_path, monkeypatch, folder):
    _, bob, _ = play.add_trained()
    elsewhere, place = tmp_path / "elsewhere", tmp_path / "place"
    elsewhere.mkdir()
    place.mkdir()
    monkeypatch.chdir(elsewhere)
    saved(place)
    bob.motion_loom_transfer.bake_folder = folder
    made = play.bake(bob, "PC2")
    path = bpy.path.abspath(made.modifiers["Mesh Cache"].filepath)
    assert os.path.isfile(path) and os.path.dirname(path) == os.path.join(place, folder.lstrip("/")).rstrip(os.sep)
    assert not list(elsewhere.iterdir())


@pytest.mark.parametrize("kind", ("pca-keys", "absolute-keys", "pc2"))
def test_a_step_that_does_not_meet_the_last_frame(tmp_path, capfd, kind):
    """Shape keys have it all the same; a cache file ends before, and the report says so."""
    _, bob, _ = play.add_trained()
    saved(tmp_path)
    report = reported(capfd, *BAKE[:-1], kind, "--step", "4", "--output", str(tmp_path / "done.blend"))
    is_met, text = kind != "pc2", command.summary(report)
    assert (report["end"], report["left_out"]) == ((30, None) if is_met else (29, 30))
    assert ("steps of 4 do not meet frame 30" in text) != is_met
    bob.motion_loom_transfer.bake_step = 1
    every = map_play.shown(play.bake(bob), NEW)
    found = map_play.shown(bpy.data.objects[report["object"]], NEW)
    at = [*range(0, 29, 4), 29] if is_met else [*range(0, 29, 4)]
    np.testing.assert_allclose(found[at], every[at], atol=report["error_max"] + 1e-5)
    report = reported(capfd, *BAKE, "--step", "29")
    assert (report["frames"], report["left_out"]) == (2, None)


@pytest.mark.parametrize(("start", "end"), ((-50, -40), (31, 60)))
def test_a_range_in_which_the_source_does_nothing(capfd, start, end):
    _, bob, _ = play.add_trained()
    error = told(capfd, *BAKE, f"--start={start}", f"--end={end}")
    assert f"Frames {start} to {end} are outside the source's, 1 to 30" in error
    assert bob.motion_loom_transfer.result is None


def test_a_range_of_which_a_part_is_held(capfd):
    _, bob, _ = play.add_trained()
    report = reported(capfd, *BAKE, "--start=-5", "--end=3")
    assert report["frames"] == 9
    seen = map_play.shown(bob.motion_loom_transfer.result, np.arange(-5, 4))
    np.testing.assert_allclose(seen[:6], np.repeat(seen[6:7], 6, axis=0), atol=1e-5)
    assert np.abs(seen[7] - seen[6]).max() > 1e-3


def test_map_refuses_ranges_in_which_its_source_does_nothing(capfd):
    map_play.add_ready()
    words = ("map", "--target", "Worm", "--bake", "absolute-keys")
    assert "are outside the source's, 1 to 40" in told(capfd, *words, "--start=50", "--end=60")
    assert jobs.main([*words, "--start=38", "--end=60"]) == 0


# ------------------------------------------------------------------------------------------------------------- command


@pytest.mark.parametrize("name", ("keep.txt", "keep", "keep.blend1", "keep.blend.gz"))
def test_an_output_that_is_no_scene(tmp_path, capfd, name):
    play.add_trained()
    path = tmp_path / name
    path.write_text("notes")
    for words in (BAKE, ("map", "--target", "Bob")):
        assert "does not end in .blend; choose an --output that does" in told(capfd, *words, "--output", str(path))
    assert path.read_text() == "notes"


def test_an_output_in_capitals(tmp_path, capfd):
    play.add_trained()
    report = reported(capfd, *BAKE, "--output", str(tmp_path / "DONE.BLEND"))
    assert os.path.isfile(report["output"])


def test_a_live_copy_stands_for_its_original(capfd):
    _, bob, _ = play.add_live()
    report = reported(capfd, "transfer", "--target", "Bob (live)", "--bake", "absolute-keys")
    assert report["target"] == "Bob" and bob.motion_loom_transfer.result is not None
    copy = bob.motion_loom_transfer.live_copy
    bpy.data.objects.remove(bob)
    assert "stood for was deleted" in told(capfd, "transfer", "--target", copy.name)


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (("--perform", "Nobody"), "no object 'Nobody'"),
        (("--clip", "Ann:9..3=Bob:1..40"), "the range 9 to 3 is empty; let it end after it starts"),
        (("--source", "Bob"), "'Bob' cannot be its own source"),
        (("--pair", "1=9", "9=1"), "out of order"),
        (("--start", "50", "--end", "60"), "outside the source's"),
        ((), "cache file would belong to a .blend that is not saved: give --output"),
        (("--read",), "cache file would belong"),
    ],
)
def test_what_is_asked_for_comes_before_where_it_goes(tmp_path, capfd, words, match):
    """A cache file is the default, and needs an output: that is not the first thing to say."""
    _, bob, _ = play.add_trained()
    saved(tmp_path)
    objects = set(bpy.data.objects.keys())
    assert re.search(match, told(capfd, "transfer", "--target", "Bob", *words))
    assert set(bpy.data.objects.keys()) == objects and not list(tmp_path.glob("*/*.pc2"))


def test_so_it_does_for_map(tmp_path, capfd):
    map_play.add_ready()
    saved(tmp_path)
    words = ("map", "--target", "Worm")
    assert "no object or collection 'Nobody'" in told(capfd, *words, "--source", "Nobody")
    assert "9 to 3" in told(capfd, *words, "--source-start", "9", "--source-end", "3")
    bpy.data.objects["Worm"].motion_loom_map.use_source_range = False
    assert "outside the source's" in told(capfd, *words, "--start", "50", "--end", "60")
    bpy.data.objects["Worm"].motion_loom_map.use_bake_range = False
    path = tmp_path / "pairs.json"
    assert "cache file would belong" in told(capfd, *words, "--save-pairs", str(path))
    assert not path.exists()


# ---------------------------------------------------------------------------------------------------- what stands still


@pytest.mark.parametrize("kind", ("ABSOLUTE_KEYS", "PCA_KEYS", "PC2"))
def test_a_new_clip_that_holds_one_pose(kind, tmp_path):
    """It is held, as it is where the moving clip has it; and told."""
    bob = play.add_trained()[1]
    settings = bob.motion_loom_transfer
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "held.blend"))
    still = map_play.add_target("Still", play.shapes(play.SOURCE, [16.6])[0], play.shapes(play.SOURCE, [16.6])[1])
    settings.performed = still
    settings.use_performed_range, settings.performed_start, settings.performed_end = True, 1, 5
    result = map_play.shown(play.bake(bob, kind), (1, 3, 5))
    assert np.ptp(result, axis=0).max() < 1e-5
    assert settings.clip_summary == "'Still', frames 1 to 5, one pose that is held"
    truth = play.shapes(play.TARGET, [16.6], 1.0)[0][0]
    away = (result[0] - result[0].mean(axis=0)) - (truth - truth.mean(axis=0))
    assert np.sqrt(np.square(away).sum(axis=1).mean()) < 0.05 * np.ptp(truth, axis=0).max()


@pytest.mark.parametrize("kind", ("ABSOLUTE_KEYS", "PCA_KEYS", "PC2"))
def test_a_new_clip_of_a_single_frame(kind, tmp_path):
    bob = play.add_trained()[1]
    settings = bob.motion_loom_transfer
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "frame.blend"))
    settings.use_performed_range, settings.performed_start, settings.performed_end = True, 9, 9
    baked = map_play.shown(play.bake(bob, kind), (9, 12))
    assert np.ptp(baked, axis=0).max() < 1e-5
    play.toggle(bob)
    live = map_play.shown(settings.live_copy, (2, 9, 30))
    assert play.status(bob).problem is None and np.ptp(live, axis=0).max() < 1e-5
    np.testing.assert_allclose(live[1], baked[0], atol=1e-4)


def test_a_pose_that_is_carried_about():
    """What stands still in itself goes where its object goes."""
    bob = play.add_trained()[1]
    settings = bob.motion_loom_transfer
    vertices, faces = play.shapes(play.SOURCE, [16.6])
    still = map_play.add_target("Still", vertices, faces)
    for frame, place in ((1, 0.0), (21, 2.0)):
        still.location.x = place
        still.keyframe_insert("location", frame=frame)
    settings.performed = still
    shown = map_play.shown(play.bake(bob), (1, 11, 21))
    middles = shown.mean(axis=1)
    assert np.ptp(shown - middles[:, None], axis=0).max() < 1e-4
    gone = np.linalg.norm(np.diff(middles, axis=0)[:, :2], axis=1)
    assert gone.min() > 0.5


# -------------------------------------------------------------------------------------------------------------- linked


def local(ob):
    """The local copy of a linked object, made by the button."""
    map_play.activate(ob)
    map_play.press("make_local_copy")
    copy = bpy.context.object
    assert copy.library is None and copy.data.library is None and copy.data.shape_keys.library is None
    assert ob.hide_get() and copy.visible_get()
    return copy


def test_a_linked_target_made_local_keeps_what_it_learnt(tmp_path):
    _, bob, _ = play.add_trained()
    expected = map_play.shown(play.bake(bob), NEW)
    bob.motion_loom_transfer.result = None
    linked = link(tmp_path, "Bob", "Ann", "Ann Again")[0]
    moved = map_play.shown(linked, NEW)
    bob = local(linked)
    settings = bob.motion_loom_transfer
    np.testing.assert_array_equal(map_play.shown(bob, NEW), moved)
    assert settings.clips[0].target == bob and settings.clips[0].stored and not settings.clip_is_other
    play.toggle(bob)
    assert play.status(bob).problem is None
    np.testing.assert_allclose(map_play.shown(settings.live_copy, NEW), expected, atol=1e-5)
    np.testing.assert_allclose(map_play.shown(play.bake(bob), NEW), expected, atol=1e-5)
    play.toggle(bob)
    for step in ("densify", "train", "fit"):
        map_play.activate(bob)
        map_play.press(step, workflow="transfer")
    name, path = bob.name, saved(tmp_path)
    bpy.ops.wm.open_mainfile(filepath=path)
    bob = bpy.data.objects[name, None]
    assert len(bob.motion_loom_transfer.clips[0].pairs) == len(PAIRS) and bob.motion_loom_transfer.subjects is not None


def test_parts_of_linked_subjects_are_suggested_on_local_copies(tmp_path):
    ann, bob, _ = play.add_scene()
    play.add_clip(bob, ann, PAIRS)
    bob.motion_loom_transfer.part_count = 3
    bob, ann = map(local, link(tmp_path, "Bob", "Ann"))
    settings = bob.motion_loom_transfer
    assert settings.source == ann and settings.clips[0].source == ann
    map_play.activate(bob)
    map_play.press("transfer_suggest_parts")
    map_play.press("fit", workflow="transfer")
    assert len(settings.parts) == 3 and {part.source_group for part in settings.parts} <= set(ann.vertex_groups.keys())


def test_a_linked_target_that_was_live(tmp_path):
    """Its copy is seen, and goes live by itself."""
    _, bob, _ = play.add_live()
    expected = map_play.shown(bob.motion_loom_transfer.live_copy, NEW)
    _, shown, _, _ = link(tmp_path, "Bob", "Bob (live)", "Ann", "Ann Again")
    map_play.activate(shown)
    map_play.press("make_local_copy")
    bob = bpy.context.object
    assert bob.name == "Bob (local)" and bob.visible_get() and shown.hide_get()
    assert not bob.motion_loom_transfer.live and bob.motion_loom_transfer.live_copy is None
    play.toggle(bob)
    np.testing.assert_allclose(map_play.shown(bob.motion_loom_transfer.live_copy, NEW), expected, atol=1e-5)
    play.toggle(bob)
    assert bob.visible_get()


def test_a_linked_target_of_map(tmp_path):
    worm = map_play.add_ready()
    expected = map_play.shown(map_play.bake(worm))
    linked = link(tmp_path, "Worm", *(ob.name for ob in bpy.data.collections["Dots"].objects))[0]
    worm = local(linked)
    np.testing.assert_allclose(map_play.shown(map_play.bake(worm)), expected, atol=1e-5)
    map_play.toggle(worm)
    assert map_play.status(worm).problem is None


def test_what_is_not_linked_needs_no_copy(tmp_path):
    bob = local(link(tmp_path, *(ob.name for ob in play.add_scene()))[1])
    map_play.activate(bob)
    with pytest.raises(RuntimeError, match="poll"):
        bpy.ops.motion_loom.make_local_copy()
    map_play.activate(map_play.add_dots().objects[0])
    with pytest.raises(RuntimeError, match="poll"):
        bpy.ops.motion_loom.make_local_copy()


# ---------------------------------------------------------------------------------------------------------- the manual


def test_names_for_scripts_in_the_manual():
    """All that its tables call a setting or one of its values is that."""
    manual = Path(__file__).parents[3] / "docs" / "manual" / "transfer.md"
    rows = re.findall(r"^\|[^|]*\|[^|]*\|([^|]+)\|$", manual.read_text(encoding="utf-8"), re.MULTILINE)
    _, bob, _ = play.add_read()
    settings = bob.motion_loom_transfer
    groups = (settings, settings.clips[0], settings.parts[0], settings.clips[0].pairs[0])
    names = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert len(names) > 30 and {"densify", "hold_ground", "performed"} <= names
    assert not [name for name in names if not any(hasattr(group, name) for group in groups)]
    for name, values in re.findall(r"`(\w+)`: ([A-Z_, ]+) $", "\n".join(rows), re.MULTILINE):
        allowed = settings.bl_rna.properties[name].enum_items.keys()
        assert set(values.split(", ")) == set(allowed), name
