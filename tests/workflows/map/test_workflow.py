"""Map on a worm that six points drive: learnt, paired, live, and by the command line alone."""

import json

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs

from tests import map_play as play
from tests import mesh_steps
from tests.map_play import FRAMES, MAP, PAIRS, healthy
from tests.mesh_steps import SAME

pytestmark = [pytest.mark.usefixtures("no_traceback"), pytest.mark.versions]

BAKE = ("map", "--target", "Worm", "--bake", "absolute-keys")


def reported(capfd, *words):
    """What a bake by the command line reports, and what it writes on stderr."""
    capfd.readouterr()
    assert jobs.main([*BAKE, *words, "--json"]) == 0
    written = capfd.readouterr()
    return json.loads(written.out.splitlines()[-1]), written.err


def test_pairs_change_the_result_at_once(ob, settings):
    bpy.context.scene.frame_set(22)
    first = play.now(ob)
    settings.pairs[2].target_frame = 4
    second = play.now(ob)
    assert np.abs(second - first).max() > 0.05
    settings.pairs[2].use = False
    third = play.now(ob)
    assert np.abs(third - second).max() > 0.02
    mesh_steps.press("map_remove_pair", index=2)
    assert np.abs(play.now(ob) - third).max() < SAME
    play.pair(ob, (22, 15))
    assert bpy.context.scene.frame_current == 22
    assert np.abs(play.now(ob) - first).max() < SAME
    settings.pairs[3].source_frame = 2
    assert np.abs(play.now(ob) - first).max() > 0.02


@pytest.mark.parametrize(
    ("name", "value"),
    [("edge", "NONE"), ("smoothing", 0.1), ("travel", "SOURCE"), ("travel", "STRIDE"), ("turn_ratio", -1.0)],
)
def test_settings_count_at_once(ob, settings, name, value):
    for pair in settings.pairs:
        pair.target_frame = 1 + (pair.target_frame - 1) * 1.15  # so that the box matters
    before = play.followed(ob)
    bpy.context.scene.frame_set(30)
    here = play.now(ob)
    setattr(settings, name, value)
    assert np.abs(play.now(ob) - here).max() > 1e-4
    assert np.abs(MAP.follows_as_baked(ob) - before).max() > 1e-3


def test_fewer_than_two_pairs_while_live(ob):
    bpy.context.scene.frame_set(12)
    before = play.now(ob)
    for pair in list(ob.motion_loom_map.pairs)[1:]:
        pair.use = False
    np.testing.assert_array_equal(play.now(ob), before)
    assert "two pairs" in play.status(ob).problem
    ob.motion_loom_map.pairs[2].use = True
    play.now(ob)
    assert healthy(ob)


def test_learning_again_while_live(ob, settings):
    followed = play.followed(ob)
    MAP.press(ob, "fit")
    assert ob.hide_viewport and settings.live
    assert np.abs(play.followed(ob) - followed).max() < SAME and healthy(ob)
    settings.use_target_range, settings.target_start, settings.target_end = True, 1, 20
    MAP.press(ob, "fit")
    assert np.abs(MAP.follows_as_baked(ob) - followed).max() > 0.01


def test_suggestions():
    ob = play.learn(play.add_target(), play.add_dots())
    settings = ob.motion_loom_map
    seen = []
    for _ in range(4):
        mesh_steps.press("map_suggest")
        frames = [float(word) for word in settings.suggestions.split()]
        assert 1 <= len(frames) <= 5 and bpy.context.scene.frame_current == frames[0]
        assert all(1 <= frame <= 40 for frame in frames) and not set(frames[:1]) & set(seen)
        seen.append(frames[0])
        mesh_steps.press("map_next_suggestion")
        assert bpy.context.scene.frame_current == frames[1 % len(frames)]
        mesh_steps.press("map_next_suggestion", step=-1)
        mesh_steps.press("map_add_pair")
    assert [pair.source_frame for pair in settings.pairs] == seen


def test_pairs_that_contradict_are_both_named(capfd):
    """When one is added, when it is baked, and by the command line; the same pair twice does not contradict."""
    ob = MAP.add_ready((*PAIRS[:3], PAIRS[0]))
    ob.motion_loom_map.pairs[0].use = False
    capfd.readouterr()
    play.pair(ob, (22.5, 4))
    assert "pairs 3 and 5 contradict" in capfd.readouterr().out
    play.bake(ob)
    assert "pairs 3 and 5 contradict: alike sources, unlike targets" in capfd.readouterr().out
    play.toggle(ob)
    assert np.isfinite(play.followed(ob)).all()
    report, error = reported(capfd, "--pair", "3=1", "22=15", "22.5=4")
    assert "pairs 2 and 3 contradict" in error and report["contradiction"] == [2, 3]
    report, error = reported(capfd, "--pair", "3=1", "22=15", "3=1")
    assert "contradict" not in error and report["contradiction"] is None


@pytest.mark.parametrize(
    "words",
    [("--pair", "-5=3", "9=19"), ("--pair=-5=3", "--pair", "9=19"), ("--pair", "9=19", "--pair", "-5.0=3")],
)
def test_negative_frames(capfd, words):
    play.learn(play.add_target(), play.add_dots(frames=FRAMES - 10, places=play.dots()))
    report, _ = reported(capfd, *words)
    pairs = [(pair.source_frame, pair.target_frame) for pair in bpy.data.objects["Worm"].motion_loom_map.pairs]
    assert report["pairs"] == 2 and sorted(pairs) == [(-5.0, 3.0), (9.0, 19.0)]


@pytest.mark.parametrize("way", ("learnt", "feet", "stride"))
def test_a_way_that_the_target_cannot_travel(capfd, way):
    ob = MAP.add_ready()
    settings = ob.motion_loom_map
    settings.target_motion, settings.bake_kind = "SHAPE_KEYS", "ABSOLUTE_KEYS"
    play.learn(ob)
    told = "The target cannot travel that way: its poses are shape keys"
    assert jobs.main([*BAKE, "--travel", way]) == 1 and told in capfd.readouterr().err
    for button in ("live", "bake"):
        play.activate(ob)
        with pytest.raises(RuntimeError, match=told):
            getattr(bpy.ops.motion_loom, button)(workflow="map")
    settings.travel = "SOURCE"
    play.toggle(ob)
    settings.travel = way.upper()
    assert told in play.problem(ob)


def test_one_of_a_thing(capfd):
    ob = MAP.add_ready()
    settings = ob.motion_loom_map
    settings.components = 1
    play.learn(ob)
    assert "1 component," in settings.learnt_summary
    assert jobs.main([*BAKE, "--start", "5", "--end", "5"]) == 0
    assert " 1 frame from 4 pairs" in capfd.readouterr().out
