"""Files of pairs: what goes through them, and damaged ones, of which the file and what is wrong in it are named."""

import functools
import json

import numpy as np
import pytest

from tests import map_play as play
from tests import mesh_play, mesh_steps
from tests.map_play import FRAMES, MAP, PAIRS
from tests.mesh_steps import shown

pytestmark = pytest.mark.usefixtures("no_traceback")

refused = functools.partial(mesh_play.refused, MAP)


@pytest.fixture
def ob():
    return MAP.add_ready()


@pytest.fixture
def path(ob, tmp_path):
    """Its saved pairs."""
    mesh_steps.press("map_save_pairs", filepath=str(tmp_path / "pairs.json"))
    return tmp_path / "pairs.json"


@pytest.fixture
def content(path):
    return json.loads(path.read_text(encoding="utf-8"))


def write(path, content, encoding="utf-8"):
    path.write_text(json.dumps(content), encoding=encoding)


def load_refused(ob, path, told):
    assert "pairs.json" in refused(ob, "map_load_pairs", told, filepath=str(path))


def setting(**values):
    return lambda content: content.update(values)


def pair_with(**values):
    return lambda content: content["pairs"][1].update(values)


def pose_of(point):
    return lambda content: content["pairs"][1]["poses"][1].__setitem__(3, point)


def without(key, of_pair=None):
    return lambda content: (content if of_pair is None else content["pairs"][of_pair]).pop(key)


def nested(depth):
    found = []
    for _ in range(depth):
        found = [found]
    return found


INFINITE, NAN, HUGE = float("inf"), float("nan"), 10**400
ANY = "damaged|file of pairs|version"
BAD = {
    "another format": (setting(format="blend"), ANY),
    "a later version": (setting(version=2), ANY),
    "version true": (setting(version=True), "another version"),
    "no version": (without("version"), ANY),
    "no points": (without("points"), ANY),
    "points of no list": (setting(points="Dots 0"), ANY),
    "points of numbers": (setting(points=[1, 2, 3, 4, 5, 6]), ANY),
    "no names": (setting(points=[]), ANY),
    "twice one name": (lambda content: content["points"].__setitem__(1, content["points"][0]), ANY),
    "no pairs": (without("pairs"), ANY),
    "pairs of no list": (setting(pairs={"a": 1}), ANY),
    "no pair": (setting(pairs=[]), ANY),
    "a pair of no object": (lambda content: content["pairs"].__setitem__(2, 3), "pair 3 is 3 instead of an object"),
    "a pair of null": (setting(pairs=[None]), ANY),
    "another lag": (setting(lag_seconds=0.2), "lag_seconds is 0.2, and has to be 0.1"),
    "lag of text": (setting(lag_seconds="0.1"), 'lag_seconds is "0.1"'),
    "no lag": (without("lag_seconds"), "'lag_seconds' is missing"),
    "a huge lag": (setting(lag_seconds=HUGE), ANY),
    "no poses": (without("poses", 0), "'poses' of pair 1 is missing"),
    "poses of text": (pair_with(poses="abc"), ANY),
    "poses of null": (pair_with(poses=None), ANY),
    "all null": (pair_with(poses=[[[None] * 3] * 6] * 2), "a pose of pair 2 holds no point, all are null"),
    "ragged poses": (pair_with(poses=[[[1, 2, 3]], [[1, 2]]]), ANY),
    "one pose": (pair_with(poses=[[[0, 0, 0]] * 6]), ANY),
    "deep poses": (pair_with(poses=[[[[0] * 3] * 6] * 2]), ANY),
    "lists within lists": (pair_with(poses=nested(900)), ANY),
    "infinity": (pose_of([0, INFINITE, 0]), "'Dots 3' of pair 2 is .0, Infinity, 0. instead of three numbers"),
    "no number": (pose_of([0, NAN, 0]), "'Dots 3' of pair 2 is .0, NaN, 0."),
    "far": (pose_of([2e6, 0, 0]), "'Dots 3' of pair 2.* at most 1,000,000"),
    "huge": (pose_of([HUGE, 0, 0]), ANY),
    "text": (pose_of(["1", "2", "3"]), "'Dots 3' of pair 2"),
    "boolean": (pose_of([True, 0, 0]), "'Dots 3' of pair 2 is .true, 0, 0."),
    "two numbers": (pose_of([1, 2]), "'Dots 3' of pair 2 is .1, 2."),
    "no source frame": (without("source_frame", 1), ANY),
    "no such frame": (pair_with(source_frame=1e9), "source_frame of pair 2 is 1000000000.0, which is not a frame"),
    "a frame of text": (pair_with(target_frame="5"), 'target_frame of pair 2 is "5"'),
    "a frame of null": (pair_with(target_frame=None), ANY),
    "a frame that is true": (pair_with(source_frame=True), "source_frame of pair 2 is true"),
    "an endless frame": (pair_with(source_frame=INFINITE), ANY),
    "a frame that is no number": (pair_with(target_frame=NAN), ANY),
    "a huge frame": (pair_with(source_frame=HUGE), ANY),
    "a frame outside": (pair_with(target_frame=99.0), "Pair 2 of .*frame 99 is outside the target's range, 1 to 24"),
    "no use": (without("use", 1), ANY),
    "use of text": (pair_with(use="no"), ANY),
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_wrong_in_a_file(ob, path, content, what):
    change, told = BAD[what]
    change(content)
    write(path, content)
    load_refused(ob, path, told)
    assert not any(pair.performed for pair in ob.motion_loom_map.pairs)


@pytest.mark.parametrize(
    "text", (b"", b"{", b"\xff\xfe\x00", b"[]", b"null", b"3", b'"text"', b"{}", b"[" * 200_000, b'{"format": ')
)
def test_files_that_are_no_pair_files(ob, path, text):
    path.write_bytes(text)
    load_refused(ob, path, "not a file of pairs")


def test_text_that_is_cut_off_or_has_a_name_twice_or_too_many_digits(ob, path):
    whole = path.read_text(encoding="utf-8")
    for length in range(0, len(whole) - 1, 97):
        path.write_text(whole[:length], encoding="utf-8")
        load_refused(ob, path, "not a file of pairs")
    path.write_text(whole.replace('"use": true', '"use": true, "use": false', 1), encoding="utf-8")
    load_refused(ob, path, 'not a file of pairs.*"use" is there twice|"use" is there twice.*not a file of pairs')
    path.write_text(whole.replace('"version": 1', f'"version": {"9" * 5000}', 1), encoding="utf-8")
    load_refused(ob, path, "not a file of pairs|another version")


def test_points_of_another_source(ob, path, content):
    write(path, content | {"points": ["elbow", *content["points"][1:]]})
    refused(ob, "map_load_pairs", "no point 'elbow'", filepath=str(path))
    content["points"].pop()
    for pair in content["pairs"]:
        pair["poses"] = [pose[:-1] for pose in pair["poses"]]
    write(path, content)
    refused(ob, "map_load_pairs", "nothing of 'Dots 5'", filepath=str(path))


@pytest.mark.parametrize("place", ("missing/pairs.json", ".", "pairs.json/pairs.json", "/proc/pairs.json"))
def test_places_that_cannot_be_read_or_written(ob, path, place):
    refused(ob, "map_load_pairs", "(?s)Cannot read.*", filepath=str(path.parent / place))
    if place != ".":
        before = path.read_bytes()
        told = "Cannot write into '/proc'|'.*missing' does not exist|'.*pairs.json' is not a folder"
        refused(ob, "map_save_pairs", f"({told}).*; choose another place", filepath=str(path.parent / place))
        assert path.read_bytes() == before


def test_saving_without_pairs_or_a_name(ob, path):
    before = path.read_bytes()
    refused(ob, "map_save_pairs", "Name a file", filepath="")
    refused(ob, "map_save_pairs", "names a folder; name a file in it", filepath=f"{path.parent}/")
    assert not path.parent.with_suffix(".json").exists()
    ob.motion_loom_map.pairs.clear()
    refused(ob, "map_save_pairs", "no pairs to save", filepath=str(path))
    assert path.read_bytes() == before and [file.name for file in path.parent.iterdir()] == ["pairs.json"]


def test_pairs_go_through_a_file_to_another_source(ob, path, content):
    """Performed ones, in whatever order the points are."""
    expected = shown(play.bake(ob), FRAMES)
    ob.motion_loom_map.pairs.clear()
    for _ in range(2):
        play.activate(ob)
        mesh_steps.press("map_load_pairs", filepath=str(path))
        assert all(pair.performed for pair in ob.motion_loom_map.pairs) and len(ob.motion_loom_map.pairs) == len(PAIRS)
        np.testing.assert_allclose(shown(play.bake(ob), FRAMES), expected, atol=2e-5)
        content["points"].reverse()
        for pair in content["pairs"]:
            pair["poses"] = [pose[::-1] for pose in pair["poses"]]
        write(path, content)


def test_pairs_at_gaps_go_through_a_file(tmp_path):
    ob, dots = play.add_target(), play.add_dots()
    play.hide_between(1, (10, 16))
    play.learn(ob, dots)
    play.pair(ob, (3, 1), (12, 8), (22, 15))
    expected = shown(play.bake(ob), FRAMES)
    play.activate(ob)
    for button in ("map_save_pairs", "map_load_pairs"):
        mesh_steps.press(button, filepath=str(tmp_path / "pairs.json"))
    np.testing.assert_allclose(shown(play.bake(ob), FRAMES), expected, atol=2e-5)


def test_a_file_of_one_pair_with_a_byte_order_mark(ob, path, content, capfd):
    del content["pairs"][1:]
    write(path, content, "utf-8-sig")
    mesh_steps.press("map_load_pairs", filepath=str(path))
    assert len(ob.motion_loom_map.pairs) == 1 and "Loaded 1 pair from" in capfd.readouterr().out
    mesh_steps.press("map_save_pairs", filepath=str(path))
    assert "Saved 1 pair to" in capfd.readouterr().out
