"""Map on sources, targets and pairs that cannot be: the reason names culprit and way out, nothing is changed."""

import functools

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.workflows.map import learn
from bl_ext.devrepo.motion_loom.workflows.map.model import confidence_now

from tests import limits, map_scenes, mesh_play, mesh_steps
from tests import map_play as play
from tests.adapt_scenes import add_walker
from tests.map_play import FRAMES, MAP, PAIRS
from tests.mesh_play import put, says
from tests.mesh_steps import once

pytestmark = pytest.mark.usefixtures("no_traceback")

refused = functools.partial(mesh_play.refused, MAP)


def collect(name, *objects):
    collection = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(collection)
    for ob in objects:
        collection.objects.link(ob)
    return collection


def make_strangers():
    """Worm and Dots, not learnt yet, among what cannot drive it."""
    ob = play.add_target()
    dots = play.add_dots()
    collect("Nothing / 'here'")
    collect("With Worm", *dots.objects, ob)
    play.add_dots("Still Dots", places=np.repeat(play.dots()[:1], 40, axis=0))
    for empty in play.add_dots("Hidden").objects:
        empty.hide_viewport = True
    bare = bpy.data.objects.new("Bare", bpy.data.armatures.new("Bare"))
    bpy.context.scene.collection.objects.link(bare)
    driven = bpy.data.objects.new("Driven", None)
    bpy.context.scene.collection.objects.link(driven)
    play.write_keys(driven, "location", [1, 20], np.array([[0, 0, 0], [2, 1, 0]]))
    add_walker("Still Rig").animation_data_clear()
    play.add_target("Still").data.shape_keys.animation_data_clear()
    play.add_target("Source").vertex_groups.new(name="empty")
    away = add_walker("Away")
    away.use_fake_user = True
    bpy.context.scene.collection.objects.unlink(away)
    mesh_steps.activate(ob)
    return ob


@pytest.fixture
def ob():
    return once(make_strangers)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, "Choose what drives it"),
        ({"source_collection": "Nothing / 'here'"}, "'Nothing / 'here'' has no objects"),
        ({"source": "Worm"}, "'Worm' cannot be its own source"),
        ({"source_collection": "With Worm"}, "'Worm'.*own source"),
        ({"source_collection": "Still Dots"}, "'Still Dots'.*does not move"),
        ({"source": "Still Rig"}, "'Still Rig'.*does not move"),
        ({"source": "Still"}, "'Still'.*does not move"),
        ({"source": "Driven"}, "'Driven' moves only as a whole.*set Source Without to Nothing"),
        ({"source": "Bare"}, "'Bare' has no bones"),
        ({"source": "Source", "source_group": "hand"}, "'Source' has no vertex group 'hand'"),
        ({"source": "Source", "source_group": "empty"}, "'empty' of 'Source' has no vertices"),
        ({"source": "Away"}, "'Away'"),
        ({"source_collection": "Hidden"}, "'Hidden'.*No point"),
    ],
)
def test_sources_that_cannot_be(ob, settings, changes, told):
    put(settings, changes)
    refused(ob, "fit", told)


@pytest.mark.parametrize("of", ("source", "target"))
@pytest.mark.parametrize(
    ("start", "end", "told"),
    [
        (5, 5, "{of}.*5 to 5.*fewer than two frames"),
        (9, 3, "{of}.*9 to 3.*fewer than two frames"),
        (-(2**31), 250, "The range of the {of} '.*', -2,147,483,648 to 250, .*goes beyond the frames"),
        (-200_000, 250, "The range of the {of} '.*', -200,000 to 250, .*has more than"),
    ],
)
def test_ranges_that_nothing_can_be_read_over(ob, settings, of, start, end, told):
    """Refused before anything is allocated: an endless one took all memory."""
    changes = {f"use_{of}_range": True, f"{of}_start": start, f"{of}_end": end}
    put(settings, {"source_collection": "Dots"} | changes)
    refused(ob, "fit", told.format(of=of))


def test_a_source_of_too_many_positions(ob, settings, monkeypatch):
    put(settings, {"source_collection": "Dots"})
    monkeypatch.setattr(learn, "_MOST_NUMBERS", 3 * len(FRAMES) * 6 - 1)
    refused(ob, "fit", "'Dots' has 40 frames of 6 points, which are too many to be read together; shorten the range")


@pytest.mark.parametrize("of", ("source", "target"))
def test_a_stray_key_far_off(ob, settings, of):
    put(settings, {"source_collection": "Dots"})
    stray = bpy.data.objects["Dots 0"] if of == "source" else ob
    play.write_keys(stray, "location", [1, 1_048_574], np.zeros((2, 3)))
    told = f"The range of the {of} '.*', 1 to 1,048,574, has more than.*remove what is keyed far off"
    refused(ob, "fit", told)


# ------------------------------------------------------------------------------------------------------- the target


def without_keys():
    ob = play.add_target()
    ob.data.shape_keys.animation_data_clear()
    return ob


def of_zero_keys():
    ob = without_keys()
    ob.data.shape_keys.use_relative = True
    for block in ob.data.shape_keys.key_blocks[1:]:
        block.value = 0.0
    return ob


def without_poses():
    ob = map_scenes.add_strip("Strip")
    ob.motion_loom_map.target_motion = "SHAPE_KEYS"
    return ob


def flat():
    ob = play.add_target()
    ob.scale.z = 0.0
    return ob


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (without_keys, "'Worm' does not change.*(shape keys as poses)"),
        (of_zero_keys, "'Worm' does not change.*(shape keys as poses)"),
        (without_poses, "'Strip' has no shape keys"),
        (flat, "'Worm'.*scale"),
    ],
)
def test_targets_that_cannot_be(make, told):
    ob = make()
    ob.motion_loom_map.source_collection = play.add_dots()
    refused(ob, "fit", told)
    if make is of_zero_keys:
        ob.motion_loom_map.target_motion = "SHAPE_KEYS"
        play.learn(ob)


def test_a_cache_file_that_is_not_there(tmp_path):
    mesh_steps.saved(tmp_path)
    ob = without_keys()
    modifier = ob.modifiers.new("Cache", "MESH_CACHE")
    modifier.cache_format, modifier.filepath = "PC2", "//lost/worm.pc2"
    ob.motion_loom_map.source_collection = play.add_dots()
    refused(ob, "fit", "'Worm' does not change: its cache file '.*worm.pc2' is not there")
    with limits.open_folder() as folder:
        (folder / "worm.pc2").write_bytes(b"points")
        (folder / "worm.pc2").chmod(0o000)
        modifier.filepath = str(folder / "worm.pc2")
        with limits.stopped_by_permissions():
            refused(ob, "fit", "its cache file '.*worm.pc2' may not be read; change its permissions")


# --------------------------------------------------------------------------------------------------------- the pairs


def unmake(ob, *numbers):
    for number in numbers:
        ob.motion_loom_map.pairs.remove(number)


@pytest.mark.parametrize("left", (0, 1, "one in use"))
def test_fewer_than_two_pairs(left):
    ob = MAP.add_ready()
    unmake(ob, 3, 2, *{0: (1, 0), 1: (1,)}.get(left, ()))
    if left == "one in use":
        ob.motion_loom_map.pairs[0].use = False
    for button in ("live", "bake"):
        refused(ob, button, "two pairs or more")


@pytest.mark.parametrize("frame", ("source_frame", "target_frame"))
@pytest.mark.parametrize(
    ("value", "told"),
    [
        (-500.0, "Pair 2: frame -500 is outside the {of}'s range"),
        (1e6, "Pair 2: frame 1e.06 is outside the {of}'s range"),
        *((value, "Pair 2.*remove it") for value in (float("nan"), float("inf"), float("-inf"))),
    ],
)
def test_pairs_at_frames_that_cannot_be(frame, value, told):
    ob = MAP.add_live()
    settings = ob.motion_loom_map
    before, former = play.now(ob), getattr(settings.pairs[1], frame)
    put(settings, {"active_pair": 1, "bake_kind": "PCA_KEYS", f"pairs[1].{frame}": value})
    told = told.format(of=frame.split("_")[0])
    for button in ("bake", "map_suggest", "map_add_pair", *(() if np.isfinite(value) else ("map_show_pair",))):
        refused(ob, button, told)
    np.testing.assert_array_equal(play.now(ob), before)
    assert "Pair 2" in play.problem(ob)
    setattr(settings.pairs[1], frame, former)
    assert play.problem(ob) is None


def test_pairs_that_are_not_there(ob, settings):
    for button in ("map_add_pair", "map_suggest", "map_save_pairs", "map_load_pairs", "map_next_suggestion"):
        says(MAP, button, "Learn the target first")
    for button in ("map_remove_pair", "map_show_pair"):
        says(MAP, button, "no pairs")
    ob = MAP.add_ready()
    bpy.context.scene.frame_set(77)
    refused(ob, "map_add_pair", "Frame 77 is outside.*1 to 40.*give Source Range that frame")
    refused(ob, "map_remove_pair", "no pair 8", index=7)
    ob.motion_loom_map.active_pair = -1
    refused(ob, "map_show_pair", "no pair")


@pytest.mark.parametrize("frame", (-3.0, 24.4, 300.0, float("nan")))
def test_a_pair_beyond_the_range_of_the_target(frame):
    """It was made with the last frame of the range, without a word."""
    ob = MAP.add_ready()
    ob.motion_loom_map.target_frame = frame
    refused(ob, "map_add_pair", "Target frame .* is outside the target's range, 1 to 24; .*Learn Again")


def test_a_pair_outside_after_learning_another_range(tmp_path):
    ob = MAP.add_live()
    settings = ob.motion_loom_map
    settings.bake_kind = "ABSOLUTE_KEYS"
    settings.use_target_range, settings.target_start, settings.target_end = True, 6, 24
    play.learn(ob)
    told = "Pair 1: frame 1 is outside the target's range, 6 to 24"
    assert told in play.problem(ob) and confidence_now(bpy.context, ob) is None
    refused(ob, "bake", told)
    refused(ob, "map_save_pairs", told, filepath=str(tmp_path / "pairs.json"))
    settings.pairs[0].use = False
    assert play.problem(ob) is None and confidence_now(bpy.context, ob) > 0.0
    play.bake(ob)


def test_a_source_of_other_points_after_learning_again():
    """Pairs of frames go on with the new points; performed ones say that they cannot."""
    ob = MAP.add_ready()
    settings = ob.motion_loom_map
    settings.live_input = True
    mesh_steps.press("map_add_pair")
    settings.live_input = False
    bpy.data.objects.remove(bpy.data.objects["Dots 5"])
    play.learn(ob)
    settings.bake_kind = "ABSOLUTE_KEYS"
    refused(ob, "bake", "Pair 5 was performed with 6 points.*5.*remove that pair")
    refused(ob, "map_add_pair", "Pair 5 was performed")
    mesh_steps.press("map_remove_pair", index=len(PAIRS))
    play.bake(ob)


@pytest.mark.parametrize("button", ("bake", "live_refresh"))
def test_a_source_that_lost_its_action(button):
    ob = MAP.add_live()
    ob.motion_loom_map.bake_kind = "ABSOLUTE_KEYS"
    for empty in bpy.data.collections["Dots"].objects:
        empty.animation_data_clear()
    refused(ob, button, "The source does not move over the range")


def test_a_live_copy_is_no_source():
    driver = MAP.add_live()
    ob = play.add_target("Other")
    ob.motion_loom_map.source = driver.motion_loom_map.live_copy
    for ob.motion_loom_map.source_group in ("none", ""):
        refused(ob, "fit", r"'Worm \(live\)' is the live copy of another target: bake it")
    play.learn(ob, play.bake(driver))
