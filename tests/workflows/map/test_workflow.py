"""Map on a worm that six points drive: live shows what every kind of bake and the command line write."""

import json

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs

from tests import map_play as play
from tests.map_play import FRAMES, PAIRS, healthy
from tests.mesh_play import saved

pytestmark = pytest.mark.usefixtures("silent")

SAME = 1e-6


def reopened(path):
    bpy.ops.wm.open_mainfile(filepath=path)
    return bpy.data.objects["Worm"]


# ---------------------------------------------------------------------------------------------- live, bake, command


def test_the_target_moves_travels_and_turns():
    ob = play.add_live()
    found = play.shown(ob.motion_loom_map.live_copy)
    assert healthy(ob) and np.isfinite(found).all()
    assert np.ptp(found - found.mean(axis=1, keepdims=True), axis=0).max() > 0.1
    target = play.shown(ob, [1])
    assert np.abs(found[0] - target[0]).max() < 2.0


def test_a_frame_is_the_same_however_it_is_reached():
    ob = play.add_live()
    copy = ob.motion_loom_map.live_copy
    played = play.shown(copy)
    for seed in (1, 2):
        assert np.array_equal(play.shuffled(ob, seed=seed), played)
    assert np.array_equal(play.shown(copy, FRAMES[::-1])[::-1], played)


@pytest.mark.parametrize("kind", ("PC2", "PCA_KEYS", "ABSOLUTE_KEYS"))
def test_live_is_bake_is_command(tmp_path, capfd, kind):
    ob = play.add_live()
    ob.motion_loom_map.bake_kind = kind
    followed = play.shuffled(ob)
    path = saved(tmp_path)
    baked = play.shown(play.bake(ob, kind))
    assert ob.motion_loom_map.live and healthy(ob)
    assert np.array_equal(play.shuffled(ob), followed)
    reopened(path)
    assert jobs.main(["map", "--target", "Worm", "--output", str(tmp_path / "mapped.blend"), "--json"]) == 0
    report = json.loads(capfd.readouterr().out.splitlines()[-1])
    assert (report["frames"], report["pairs"], report["kind"]) == (len(FRAMES), len(PAIRS), kind)
    commanded = play.shown(bpy.data.objects[report["object"]])
    allowed = SAME + report["error_max"]
    assert (report["error_max"] > 0) == (kind == "PCA_KEYS") and report["error_max"] < 0.01
    assert np.linalg.norm(baked - followed, axis=-1).max() < allowed
    assert np.linalg.norm(commanded - followed, axis=-1).max() < allowed


@pytest.mark.parametrize("kind", ("PC2", "ABSOLUTE_KEYS"))
def test_between_frames_live_is_near_the_bake(tmp_path, kind):
    """Live maps the pose between; a bake goes straight from frame to frame."""
    ob = play.add_live()
    saved(tmp_path)
    frames = np.linspace(1, 40, 97)
    followed = play.shuffled(ob, frames)
    baked = play.shown(play.bake(ob, kind), frames)
    step = np.linalg.norm(np.diff(play.shown(ob.motion_loom_map.live_copy), axis=0), axis=-1).max()
    assert np.linalg.norm(baked - followed, axis=-1).max() < 0.05 * step


def test_outside_the_range_the_ends_are_held():
    ob = play.add_live()
    ends = play.shown(ob.motion_loom_map.live_copy, [1, 40])
    beyond = play.shown(ob.motion_loom_map.live_copy, [-30, 0, 41, 500])
    assert healthy(ob)
    assert np.array_equal(beyond, ends[[0, 0, 1, 1]])


@pytest.mark.parametrize("kind", ("PC2", "PCA_KEYS", "ABSOLUTE_KEYS"))
def test_another_step_and_range_of_the_bake(tmp_path, kind):
    ob = play.add_live()
    settings = ob.motion_loom_map
    saved(tmp_path)
    settings.use_bake_range, settings.bake_start, settings.bake_end, settings.bake_step = True, -4, 50, 3
    frames = np.arange(-4, 51, 3)
    followed = play.shuffled(ob, frames)
    baked = play.shown(play.bake(ob, kind), frames)
    assert np.linalg.norm(baked - followed, axis=-1).max() < (0.01 if kind == "PCA_KEYS" else SAME)


def test_a_bake_of_one_frame(tmp_path):
    ob = play.add_live()
    settings = ob.motion_loom_map
    saved(tmp_path)
    settings.use_bake_range, settings.bake_start, settings.bake_end = True, 9, 9
    for kind in ("PC2", "PCA_KEYS", "ABSOLUTE_KEYS"):
        baked = play.shown(play.bake(ob, kind), [9])
        np.testing.assert_allclose(baked, play.shown(settings.live_copy, [9]), atol=SAME)


def test_the_command_learns_and_pairs_by_itself(tmp_path, capfd):
    play.add_target()
    play.add_dots()
    pairs = [f"{source}={target}" for source, target in PAIRS]
    argv = ["map", "--target", "Worm", "--source", "Dots", "--pair", *pairs, "--bake", "absolute-keys", "--json"]
    assert jobs.main(argv) == 0
    report = json.loads(capfd.readouterr().out.splitlines()[-1])
    commanded = play.shown(bpy.data.objects[report["object"]])
    bpy.ops.wm.read_homefile(use_empty=True)
    ob = play.add_live()
    np.testing.assert_allclose(commanded, play.shuffled(ob), atol=SAME)


# ----------------------------------------------------------------------------------------------- nothing is touched


def test_what_the_user_made_stays_as_it_is(tmp_path):
    ob = play.learn(play.add_target(), play.add_dots())
    path = saved(tmp_path)
    play.pair(ob, *PAIRS)
    bpy.context.scene.frame_set(5)
    before = play.everything()
    play.toggle(ob)
    play.shuffled(ob)
    bpy.context.scene.frame_set(5)
    play.toggle(ob)
    assert play.everything() == before
    assert path and bpy.context.scene.frame_current == 5
    assert not any(name.endswith("(live)") for name in (*bpy.data.objects.keys(), *bpy.data.meshes.keys()))


def test_live_off_gives_the_selection_and_visibility_back():
    ob = play.add_ready()
    other = bpy.data.objects["Dots 2"]
    ob.hide_render = True
    other.select_set(True)
    before = play.everything()
    assert bpy.ops.motion_loom.live(workflow="map") == {"FINISHED"}
    copy = ob.motion_loom_map.live_copy
    assert bpy.context.view_layer.objects.active == copy and copy.select_get() and other.select_get()
    assert ob.hide_viewport and ob.hide_render
    assert bpy.ops.motion_loom.live(workflow="map") == {"FINISHED"}
    assert play.everything() == before


def test_live_off_of_a_target_that_was_not_selected():
    ob = play.add_ready()
    other = bpy.data.objects["Dots 2"]
    play.activate(other)
    bpy.context.view_layer.objects.active = ob
    before = play.everything()
    for _ in range(2):
        assert bpy.ops.motion_loom.live(workflow="map") == {"FINISHED"}
    assert play.everything() == before


def test_a_bake_leaves_the_target_alone(tmp_path):
    ob = play.add_ready()
    saved(tmp_path)
    before = play.everything()
    for kind in ("PC2", "PCA_KEYS", "ABSOLUTE_KEYS"):
        new = play.bake(ob, kind)
        assert new != ob and new.data != ob.data
        after = play.everything()
        assert {name: after[name] for name in before if name != "actions"} == {
            name: before[name] for name in before if name != "actions"
        }
        assert after["actions"].items() >= before["actions"].items()


# -------------------------------------------------------------------------------------------------- while it is live


def test_goes_on_after_save_and_reopen(tmp_path):
    ob = play.add_live()
    followed = play.shuffled(ob)
    ob = reopened(saved(tmp_path))
    assert np.abs(play.shuffled(ob) - followed).max() < SAME and healthy(ob)
    ob.motion_loom_map.pairs[2].target_frame = 3
    assert np.abs(play.shuffled(ob) - followed).max() > 0.02
    play.toggle(ob)
    assert not ob.hide_viewport and not ob.hide_render


def test_pairs_change_the_result_at_once():
    ob = play.add_live()
    settings = ob.motion_loom_map
    bpy.context.scene.frame_set(22)
    first = play.now(ob)
    settings.pairs[2].target_frame = 4
    second = play.now(ob)
    assert np.abs(second - first).max() > 0.05
    settings.pairs[2].use = False
    third = play.now(ob)
    assert np.abs(third - second).max() > 0.02
    play.press("map_remove_pair", index=2)
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
def test_settings_count_at_once(tmp_path, name, value):
    ob = play.add_live()
    settings = ob.motion_loom_map
    for pair in settings.pairs:
        pair.target_frame = 1 + (pair.target_frame - 1) * 1.15  # so that the box matters
    before = play.shuffled(ob)
    bpy.context.scene.frame_set(30)
    here = play.now(ob)
    setattr(settings, name, value)
    assert np.abs(play.now(ob) - here).max() > 1e-4
    followed = play.shuffled(ob)
    assert np.abs(followed - before).max() > 1e-3 and healthy(ob)
    np.testing.assert_allclose(play.shown(play.bake(ob)), followed, atol=SAME)


def test_fewer_than_two_pairs_while_live():
    ob = play.add_live()
    bpy.context.scene.frame_set(12)
    before = play.now(ob)
    for pair in list(ob.motion_loom_map.pairs)[1:]:
        pair.use = False
    np.testing.assert_array_equal(play.now(ob), before)
    assert "two pairs" in play.status(ob).problem
    ob.motion_loom_map.pairs[2].use = True
    play.now(ob)
    assert healthy(ob)


def test_learning_again_while_live():
    ob = play.add_live()
    settings = ob.motion_loom_map
    followed = play.shuffled(ob)
    play.activate(settings.live_copy)
    play.press("fit", workflow="map")
    assert ob.hide_viewport and settings.live
    assert np.abs(play.shuffled(ob) - followed).max() < SAME and healthy(ob)
    settings.use_target_range, settings.target_start, settings.target_end = True, 1, 20
    play.press("fit", workflow="map")
    changed = play.shuffled(ob)
    assert healthy(ob) and np.abs(changed - followed).max() > 0.01
    np.testing.assert_allclose(play.shown(play.bake(ob)), changed, atol=SAME)


def test_two_targets_with_one_source():
    first = play.add_ready()
    second = play.add_target("Other")
    second.location = 3.0, 1.0, 0.0
    play.learn(second, bpy.data.collections["Dots"])
    play.pair(second, *((source, 24 - target) for source, target in PAIRS))
    play.toggle(first)
    play.toggle(second)
    one, two = play.shuffled(first), play.shuffled(second)
    assert healthy(first) and healthy(second) and np.abs(one - two).max() > 1.0
    np.testing.assert_allclose(play.shown(play.bake(second)), two, atol=SAME)
    play.toggle(first)
    assert not first.hide_viewport and second.hide_viewport
    np.testing.assert_array_equal(play.shuffled(second), two)


def test_suggestions():
    ob = play.learn(play.add_target(), play.add_dots())
    settings = ob.motion_loom_map
    seen = []
    for _ in range(4):
        play.press("map_suggest")
        frames = [float(word) for word in settings.suggestions.split()]
        assert 1 <= len(frames) <= 5 and bpy.context.scene.frame_current == frames[0]
        assert all(1 <= frame <= 40 for frame in frames) and not set(frames[:1]) & set(seen)
        seen.append(frames[0])
        play.press("map_next_suggestion")
        assert bpy.context.scene.frame_current == frames[1 % len(frames)]
        play.press("map_next_suggestion", step=-1)
        play.press("map_add_pair")
    assert [pair.source_frame for pair in settings.pairs] == seen


def test_pairs_go_through_a_file_to_another_source(tmp_path):
    ob = play.add_ready()
    expected = play.shown(play.bake(ob))
    path = str(tmp_path / "pairs.json")
    play.press("map_save_pairs", filepath=path)
    settings = ob.motion_loom_map
    settings.pairs.clear()
    play.press("map_load_pairs", filepath=path)
    assert all(pair.performed for pair in settings.pairs) and len(settings.pairs) == len(PAIRS)
    np.testing.assert_allclose(play.shown(play.bake(ob)), expected, atol=2e-5)
    np.testing.assert_allclose(play.shown(play.bake(ob)), expected, atol=2e-5)
