"""Paired poses are met, live, baked and by the command; what is not is named, and older files stay as they were."""

import json

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.workflows.core import registry
from bl_ext.devrepo.motion_loom.workflows.map.model import target_of

from tests import map_play as play
from tests import mesh_steps
from tests.map_play import MAP
from tests.panel_layout import Context, Layout

pytestmark = pytest.mark.usefixtures("no_traceback")
PAIRS = play.PAIRS[:3]  # the fourth contradicts the second
MET = 0.01  # of the distance of a pair's pose from the mean one
COMMAND = ["map", "--target", "Worm", "--bake", "absolute-keys", "--json"]


def own(vertices):
    """Vertices (F, V, 3) without their place in the world."""
    return vertices - vertices.mean(axis=1, keepdims=True)


def missed(ob, seen):
    """(n,) of the pairs, by world vertices (F, V, 3) at their source frames, over the pose's distance from the mean."""
    space = target_of(ob).space
    poses = target_of(ob).coefficients_at(np.array([pair.target_frame for pair in ob.motion_loom_map.pairs]))
    wanted, mean = own(space.vertices_of(poses)), own(space.vertices_of(0.0 * poses))
    return np.linalg.norm(own(seen) - wanted, axis=(1, 2)) / np.linalg.norm(wanted - mean, axis=(1, 2))


def make(pairs=PAIRS):
    """Live, with poses alone: no turning, no lift."""
    ob = MAP.add_ready(pairs)
    ob.motion_loom_map.travel, ob.motion_loom_map.turn_ratio = "NONE", 0.0
    play.toggle(ob)
    return ob


def panel_texts(ob):
    out = []
    registry.by_id("map").draw(Layout(out, True), Context(ob))
    return " ".join(map(str, out))


def reported(capfd, *words):
    capfd.readouterr()
    assert jobs.main([*COMMAND, *words]) == 0
    written = capfd.readouterr()
    return json.loads(written.out.splitlines()[-1]), written


def test_pairs_that_share_a_frame_are_named(capfd):
    """Two of one target frame made a target that hardly moves, two of one source frame are met by neither."""
    ob = make(((5, 9), (11, 9)))
    settings = ob.motion_loom_map
    assert "Pairs of one target frame, though their sources are unlike: 1 and 2 (9)" in panel_texts(ob)
    report, _ = reported(capfd)
    assert any("1 and 2 (9)" in note for note in report["notes"])
    capfd.readouterr()
    play.pair(ob, (5, 9))
    assert "Pairs of one source frame: 1 and 3 (5)" in capfd.readouterr().out
    settings.pairs[2].use = False
    settings.pairs[1].target_frame = 15
    assert "of one" not in panel_texts(ob)
    settings.pairs[2].use, settings.pairs[2].target_frame = True, 20
    assert "pairs 1 and 3 contradict" in panel_texts(ob).lower() and "of one" not in panel_texts(ob)


def test_a_pose_that_comes_again_is_no_pair_too_many():
    """The same moment of two cycles."""
    shapes, faces = play.worm_shapes()
    places = (play.dots() - play.dots().mean(axis=1, keepdims=True))[:20]
    ob = play.learn(play.add_target("Worm", shapes, faces), play.add_dots("Again", np.concatenate((places, places))))
    play.pair(ob, (5, 1), (11, 8), (17, 15), (25, 1), (31, 8), (37, 15))
    assert "of one target frame" not in panel_texts(ob)


def test_the_target_takes_the_paired_poses():
    """Those of its own frames, that the components hold, at the source's frames; where pairs are noisy it does not."""
    ob = make()
    settings, frames = ob.motion_loom_map, [source for source, _ in PAIRS]
    assert settings.meet_pairs == 1.0
    assert missed(ob, play.followed(ob, frames)).max() < MET
    MAP.follows_as_baked(ob)
    settings.meet_pairs = 0.0
    noisy = missed(ob, play.followed(ob, frames))
    assert noisy.max() > 3 * MET
    told = panel_texts(ob)
    assert "Meet Pairs is 0, so pairs are missed by up to" in told and "set it to 1 to meet them" in told
    settings.meet_pairs = 0.5
    assert MET < missed(ob, play.followed(ob, frames)).max() < noisy.max()


def test_pairs_that_contradict_are_named_by_their_frames(capfd):
    """In the panel, when baked, by the command; nearly the same source, another target."""
    ob = make((*PAIRS, (22.001, 4)))
    alike = "airs 3 and 4 contradict: alike sources, unlike targets"
    expected = f"{alike} (source frame 22 to target frame 15, source frame "
    assert expected + "22.001 to target frame 4)" in panel_texts(ob).replace("  ", " ")
    report, written = reported(capfd)
    assert report["contradiction"] == [3, 4] and expected in written.err
    assert report["contradiction_frames"] == [[22, 15], [pytest.approx(22.001), 4]]
    assert any(expected in note for note in report["notes"])
    assert report["pairs_missed"]["numbers"] in ([3, 4], [4, 3]) and min(report["pairs_missed"]["shares"]) > MET
    assert "misses pairs " in written.out and any("nearly the same source" in note for note in report["notes"])
    ob.motion_loom_map.pairs[3].use = False
    assert "contradict" not in panel_texts(ob)
    report, _ = reported(capfd)
    assert report["contradiction"] is report["contradiction_frames"] is None
    assert report["pairs_missed"] == {"numbers": [], "shares": []} == report["pairs_left_out"]


def test_too_few_components_for_the_pairs_are_named(capfd):
    ob = MAP.add_ready(PAIRS)
    ob.motion_loom_map.components = 2
    play.learn(ob)
    report, _ = reported(capfd)
    assert report["pairs_left_out"]["numbers"] and not report["pairs_missed"]["numbers"]
    assert any("2 components leave out more than 1%" in note for note in report["notes"])
    assert "raise Components and press Learn Again" in panel_texts(ob)


def test_a_file_from_before_keeps_its_result_until_the_setting_is_changed(tmp_path, capfd):
    """What was learnt when there was no such setting: its pairs are noisy, and the panel says so."""
    ob = make()
    settings = ob.motion_loom_map
    settings.meet_pairs = 0.0
    before = play.followed(ob)
    settings.property_unset("meet_pairs")
    again = mesh_steps.reopened(ob, tmp_path)
    assert again.motion_loom_map.meet_pairs == 0.0
    assert np.abs(play.followed(again) - before).max() < 1e-6
    assert "Meet Pairs is 0, so pairs are missed" in panel_texts(again)
    again.motion_loom_map.meet_pairs = 1.0
    assert missed(again, play.followed(again, [source for source, _ in PAIRS])).max() < MET
    report, _ = reported(capfd, "--meet-pairs", "0.25")
    assert again.motion_loom_map.meet_pairs == 0.25 and report["pairs_missed"]["numbers"]
    bpy.ops.object.select_all(action="DESELECT")
    assert jobs.main([*COMMAND, "--meet-pairs", "2"]) == 1 and "Meet Pairs" in capfd.readouterr().err
