"""What somebody new to Map does wrong: the reason is told, and nothing that is wrong looks like a result."""

import json

import bpy
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.workflows.map.model import confidence_now

from tests import limits
from tests import map_play as play

pytestmark = pytest.mark.usefixtures("no_traceback")


def command(capfd, *words):
    """Exit code, report or None, and what stands on stderr."""
    capfd.readouterr()
    code = jobs.main(["map", "--target", "Worm", *words, "--json"])
    written = capfd.readouterr()
    report = json.loads(written.out.splitlines()[-1]) if code == 0 else None
    return code, report, written.err


def fails(capfd, match, *words):
    """The command says why it makes nothing."""
    objects = set(bpy.data.objects.keys())
    code, _, error = command(capfd, *words)
    assert code == 1 and match in error, error
    assert set(bpy.data.objects.keys()) == objects


def refused(ob, button, match, **arguments):
    play.activate(ob.motion_loom_map.live_copy or ob)
    with pytest.raises(RuntimeError, match=match):
        getattr(bpy.ops.motion_loom, button)(**arguments)


# ------------------------------------------------------------------------------------------- pairs outside a range


@pytest.mark.parametrize(
    ("pair", "told"),
    [
        ("5000=3", "Pair 2: frame 5000 is outside the source's range, 1 to 40; change or remove it, or switch it off."),
        ("3=5000", "Pair 2: frame 5000 is outside the target's range, 1 to 24; change or remove it, or switch it off."),
    ],
)
def test_a_pair_outside_on_the_command_line(capfd, pair, told):
    play.learn(play.add_target(), play.add_dots())
    fails(capfd, told, "--bake", "absolute-keys", "--pair", "5=9", pair, "11=20")


def test_a_pair_outside_after_learning_another_range(tmp_path):
    ob = play.add_live()
    settings = ob.motion_loom_map
    settings.bake_kind = "ABSOLUTE_KEYS"
    settings.use_target_range, settings.target_start, settings.target_end = True, 6, 24
    play.learn(ob)
    play.now(ob)
    told = "Pair 1: frame 1 is outside the target's range, 6 to 24"
    assert told in play.status(ob).problem
    assert confidence_now(bpy.context, ob) is None
    refused(ob, "bake", told, workflow="map")
    refused(ob, "map_save_pairs", told, filepath=str(tmp_path / "pairs.json"))
    settings.pairs[0].use = False
    play.now(ob)
    assert play.status(ob).problem is None and confidence_now(bpy.context, ob) > 0.0
    play.bake(ob)


def test_a_file_of_pairs_outside(tmp_path):
    ob = play.add_ready()
    path = tmp_path / "pairs.json"
    play.press("map_save_pairs", filepath=str(path))
    content = json.loads(path.read_text(encoding="utf-8"))
    content["pairs"][2]["target_frame"] = 99.0
    path.write_text(json.dumps(content), encoding="utf-8")
    before = [pair.target_frame for pair in ob.motion_loom_map.pairs]
    refused(ob, "map_load_pairs", "Pair 3 of .*frame 99 is outside the target's range, 1 to 24", filepath=str(path))
    assert [pair.target_frame for pair in ob.motion_loom_map.pairs] == before


# ----------------------------------------------------------------------------------- a source that lost its motion


@pytest.mark.parametrize("button", ("bake", "live_refresh"))
def test_a_source_without_its_action(button):
    ob = play.add_live()
    settings = ob.motion_loom_map
    settings.bake_kind = "ABSOLUTE_KEYS"
    for empty in bpy.data.collections["Dots"].objects:
        empty.animation_data_clear()
    objects, clip = set(bpy.data.objects.keys()), settings.clip
    refused(ob, button, "The source does not move over the range", workflow="map")
    assert settings.clip == clip and set(bpy.data.objects.keys()) == objects and settings.result is None


# ------------------------------------------------------------------------------------------ ways that it cannot travel


@pytest.mark.parametrize("way", ("learnt", "feet", "stride"))
def test_a_way_that_the_target_cannot_travel(capfd, way):
    ob = play.add_ready()
    ob.motion_loom_map.target_motion = "SHAPE_KEYS"
    play.learn(ob)
    told = "The target cannot travel that way: its poses are shape keys"
    fails(capfd, told, "--travel", way, "--bake", "absolute-keys")
    refused(ob, "live", told, workflow="map")
    refused(ob, "bake", told, workflow="map")
    ob.motion_loom_map.travel = "SOURCE"
    play.toggle(ob)
    ob.motion_loom_map.travel = way.upper()
    play.now(ob)
    assert told in play.status(ob).problem


# ------------------------------------------------------------------------------------------------- the command line


def test_pairs_that_contradict(capfd):
    ob = play.learn(play.add_target(), play.add_dots())
    told = "pairs 2 and 3 contradict: alike sources, unlike targets"
    words = "--bake", "absolute-keys", "--pair", "3=1", "22=15"
    _, report, error = command(capfd, *words, "22.5=4")
    assert told in error and report["contradiction"] == [2, 3]
    play.bake(ob)
    assert told in capfd.readouterr().out
    _, report, error = command(capfd, *words)
    assert "contradict" not in error and report["contradiction"] is None


@pytest.mark.parametrize(
    "words",
    [("--pair", "-5=3", "9=19"), ("--pair=-5=3", "--pair", "9=19"), ("--pair", "9=19", "--pair", "-5.0=3")],
)
def test_negative_frames(capfd, words):
    frames = play.FRAMES - 10
    play.learn(play.add_target(), play.add_dots(frames=frames, places=play.dots()))
    code, report, _ = command(capfd, "--bake", "absolute-keys", *words)
    pairs = [(pair.source_frame, pair.target_frame) for pair in bpy.data.objects["Worm"].motion_loom_map.pairs]
    assert code == 0 and report["pairs"] == 2 and sorted(pairs) == [(-5.0, 3.0), (9.0, 19.0)]


def test_a_negative_pair_that_is_none(capfd):
    play.learn(play.add_target(), play.add_dots())
    fails(capfd, "'-5=x' is not a pair", "--bake", "absolute-keys", "--pair", "-5=x", "9=19")


def test_pairs_and_a_file_of_pairs(capfd):
    play.learn(play.add_target(), play.add_dots())
    code, _, error = command(capfd, "--pairs", "pairs.json", "--pair", "3=1", "9=19")
    assert code == 2 and "not allowed with" in error


def test_a_cache_file_of_a_file_that_is_not_saved(capfd, tmp_path):
    play.add_ready()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    fails(capfd, "give --output or --save, or --bake pca-keys", "--bake", "pc2")
    assert [path.name for path in tmp_path.iterdir()] == ["scene.blend"]
    code, report, _ = command(capfd, "--bake", "pc2", "--output", str(tmp_path / "mapped.blend"))
    assert code == 0 and (tmp_path / "motion_loom_cache").is_dir() and report["file"]


@pytest.mark.parametrize("source", ("Dots", "Dots 1"))
def test_a_vertex_group_of_no_mesh(capfd, source):
    play.add_target()
    play.add_dots()
    told = f"--vertex-group 'hand' needs a mesh, and the source '{source}' is not one"
    fails(capfd, told, "--source", source, "--vertex-group", "hand")


def test_a_vertex_group_that_there_is_not(capfd):
    play.add_target()
    play.add_target("Mover")
    words = "--source", "Mover", "--bake", "absolute-keys", "--vertex-group"
    fails(capfd, "'Mover' has no vertex group 'hand'", *words, "hand", "--pair", "1=1", "9=9")


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--stride", "inf", "Stride cannot be inf; use 0 or more."),
        ("--travel-scale", "nan", "Travel Scale cannot be nan; use a number."),
        ("--step", "0", "Frame Step cannot be 0; use 1 or more."),
        ("--keys", "0", "Keys cannot be 0; use 1 to 200."),
    ],
)
def test_numbers_that_a_setting_cannot_be(capfd, option, value, told):
    play.learn(play.add_target(), play.add_dots())
    fails(capfd, told, "--bake", "pca-keys", option, value)


def test_one_of_a_thing(capfd):
    ob = play.add_ready()
    settings = ob.motion_loom_map
    settings.components = 1
    play.learn(ob)
    assert "1 component," in settings.learnt_summary
    assert jobs.main(["map", "--target", "Worm", "--bake", "absolute-keys", "--start", "5", "--end", "5"]) == 0
    assert " 1 frame from 4 pairs" in capfd.readouterr().out


# -------------------------------------------------------------------------------------------------- files of pairs


def in_pair(**values):
    return lambda content: content["pairs"][1].update(values)


def point_is(point):
    return lambda content: content["pairs"][1]["poses"][1].__setitem__(3, point)


INFINITE = float("inf")
WRONG = {
    "all null": (in_pair(poses=[[[None] * 3] * 6] * 2), "a pose of pair 2 holds no point, all are null"),
    "another lag": (lambda content: content.update(lag_seconds=0.2), "lag_seconds is 0.2, and has to be 0.1"),
    "lag of text": (lambda content: content.update(lag_seconds="0.1"), 'lag_seconds is "0.1"'),
    "no lag": (lambda content: content.pop("lag_seconds"), "'lag_seconds' is missing"),
    "infinity": (point_is([0, INFINITE, 0]), "'Dots 3' of pair 2 is .0, Infinity, 0. instead of three numbers"),
    "no number": (point_is([0, float("nan"), 0]), "'Dots 3' of pair 2 is .0, NaN, 0."),
    "far": (point_is([2e6, 0, 0]), "'Dots 3' of pair 2.* at most 1,000,000"),
    "text": (point_is(["1", "2", "3"]), "'Dots 3' of pair 2"),
    "boolean": (point_is([True, 0, 0]), "'Dots 3' of pair 2 is .true, 0, 0."),
    "two numbers": (point_is([1, 2]), "'Dots 3' of pair 2 is .1, 2."),
    "no such frame": (in_pair(source_frame=1e9), "source_frame of pair 2 is 1000000000.0, which is not a frame"),
    "frame of text": (in_pair(target_frame="5"), 'target_frame of pair 2 is "5"'),
    "frame that is true": (in_pair(source_frame=True), "source_frame of pair 2 is true"),
    "no object": (lambda content: content["pairs"].__setitem__(2, 3), "pair 3 is 3 instead of an object"),
    "no poses": (lambda content: content["pairs"][0].pop("poses"), "'poses' of pair 1 is missing"),
    "version true": (lambda content: content.update(version=True), "another version"),
}


@pytest.fixture
def saved(tmp_path):
    """A ready worm and the path of its saved pairs."""
    ob, path = play.add_ready(), tmp_path / "pairs.json"
    play.press("map_save_pairs", filepath=str(path))
    return ob, path


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_in_a_file_of_pairs(saved, what):
    ob, path = saved
    change, told = WRONG[what]
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    refused(ob, "map_load_pairs", told, filepath=str(path))
    assert not any(pair.performed for pair in ob.motion_loom_map.pairs)


def test_a_file_of_one_pair_with_a_byte_order_mark(saved, capfd):
    ob, path = saved
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["pairs"][1:]
    path.write_text(json.dumps(content), encoding="utf-8-sig")
    play.press("map_load_pairs", filepath=str(path))
    assert len(ob.motion_loom_map.pairs) == 1 and "Loaded 1 pair from" in capfd.readouterr().out
    play.press("map_save_pairs", filepath=str(path))
    assert "Saved 1 pair to" in capfd.readouterr().out


# ------------------------------------------------------------------------------------------------------- the target


def test_a_cache_file_that_is_not_there(tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    ob = play.add_target()
    ob.data.shape_keys.animation_data_clear()
    modifier = ob.modifiers.new("Cache", "MESH_CACHE")
    modifier.cache_format, modifier.filepath = "PC2", "//lost/worm.pc2"
    ob.motion_loom_map.source_collection = play.add_dots()
    refused(ob, "fit", "'Worm' does not change: its cache file '.*worm.pc2' is not there", workflow="map")
    with limits.open_folder() as folder:
        (folder / "worm.pc2").write_bytes(b"points")
        (folder / "worm.pc2").chmod(0o000)
        modifier.filepath = str(folder / "worm.pc2")
        with limits.stopped_by_permissions():
            refused(ob, "fit", "its cache file '.*worm.pc2' may not be read; change its permissions", workflow="map")
