"""Map live while a user edits, deletes and renames: what is shown stays right, or says what is wrong and the way out.

Live goes on by itself when the cause is gone, and Live off leaves the file as it was.
"""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import live_mesh
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.workflows.core import live
from bl_ext.devrepo.motion_loom.workflows.map import follower

from tests import map_play as play
from tests.adapt_scenes import FRAMES as WALK
from tests.adapt_scenes import add_walker
from tests.map_play import FRAMES, PAIRS, healthy, problem

pytestmark = pytest.mark.usefixtures("both_ways", "silent")

SAME = 1e-6


def follows_as_baked(ob):
    followed = play.shuffled(ob)
    np.testing.assert_allclose(play.shown(play.bake(ob)), followed, atol=SAME)
    assert healthy(ob)
    return followed


def refresh(ob):
    play.activate(ob.motion_loom_map.live_copy)
    play.press("live_refresh", workflow="map")


# ------------------------------------------------------------------------------------------------------- the source


def test_a_key_of_the_source_is_edited():
    ob = play.add_live()
    before = play.shuffled(ob)
    places = play.dots()
    places[:, 3, 2] += 0.3 * np.sin(np.linspace(0, np.pi, len(FRAMES)))
    bpy.context.scene.frame_set(20)
    play.write_keys(bpy.data.objects["Dots 3"], "location", FRAMES, places[:, 3])
    here = play.now(ob)
    bpy.context.scene.frame_set(20)
    here = play.now(ob)
    assert play.status(ob).track == "SWEEP" and play.status(ob).remedy == "REFRESH"
    assert np.abs(here - before[19]).max() > 0.005
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_set(40)
    assert play.status(ob).track == "SWEEP"  # an edit elsewhere is not forgotten
    refresh(ob)
    assert healthy(ob)
    after = follows_as_baked(ob)
    assert np.abs(after[19] - here).max() < 0.15 and np.abs(after - before).max() > 0.005


def test_a_bake_without_refresh_is_of_the_source_as_it_is():
    ob = play.add_live()
    before = play.shuffled(ob)
    places = play.dots()
    places[:, 3, 2] += 0.3
    places[20:, 3, 2] -= 0.3
    play.write_keys(bpy.data.objects["Dots 3"], "location", FRAMES, places[:, 3])
    baked = play.shown(play.bake(ob))
    assert np.abs(baked - before).max() > 0.005
    np.testing.assert_allclose(play.shuffled(ob), baked, atol=SAME)
    assert healthy(ob)


def test_an_edit_of_the_source_that_is_taken_back():
    ob = play.add_live()
    before = play.shuffled(ob)
    bpy.context.scene.frame_set(9)
    empty = bpy.data.objects["Dots 1"]
    empty.location.z += 0.4
    moved = play.now(ob)
    assert np.abs(moved - before[8]).max() > 0.005 and play.status(ob).track == "SWEEP"
    empty.location.z -= 0.4
    np.testing.assert_allclose(play.now(ob), before[8], atol=1e-4)
    bpy.context.scene.frame_set(9)
    assert healthy(ob)
    np.testing.assert_array_equal(play.shuffled(ob), before)


@pytest.mark.parametrize("unlink", (False, True))
def test_a_point_of_the_source_is_deleted(unlink):
    ob = play.add_live()
    bpy.context.scene.frame_set(9)
    before = play.now(ob)
    empty = bpy.data.objects["Dots 1"]
    if unlink:
        bpy.data.collections["Dots"].objects.unlink(empty)
    else:
        bpy.data.objects.remove(empty)
    assert "'Dots 1'" in problem(ob)
    np.testing.assert_array_equal(play.now(ob), before)
    play.toggle(ob)
    assert not ob.hide_viewport
    if unlink:
        bpy.data.collections["Dots"].objects.link(empty)
        play.toggle(ob)
        assert problem(ob) is None


def test_the_source_collection_is_deleted():
    ob = play.add_live()
    for empty in list(bpy.data.collections["Dots"].objects):
        bpy.data.objects.remove(empty)
    bpy.data.collections.remove(bpy.data.collections["Dots"])
    assert "'Dots 0'" in problem(ob)
    play.toggle(ob)
    assert not ob.hide_viewport


def test_points_of_the_source_are_renamed(tmp_path):
    ob = play.add_live()
    before = play.shuffled(ob)
    for number, empty in enumerate(list(bpy.data.collections["Dots"].objects)):
        empty.name = f"left / 'hand' {9 - number} 骨"
    bpy.data.collections["Dots"].name = "Other"
    np.testing.assert_array_equal(play.shuffled(ob), before)
    assert healthy(ob)
    path = str(tmp_path / "renamed.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    ob = bpy.data.objects["Worm"]
    np.testing.assert_allclose(play.shuffled(ob), before, atol=SAME)
    assert healthy(ob)
    play.toggle(ob)
    play.toggle(ob)
    np.testing.assert_allclose(follows_as_baked(ob), before, atol=SAME)


def test_points_of_the_source_are_hidden():
    """They keep the last place that is known, and the others go on."""
    ob = play.add_live()
    before = play.shuffled(ob)
    for number in (1, 4):
        bpy.data.objects[f"Dots {number}"].hide_viewport = True
    found = play.shuffled(ob)
    assert np.isfinite(found).all() and problem(ob) is None
    assert np.abs(found - before).max() < 0.5


def armature():
    """Worm, driven by a walker's joints."""
    ob = play.learn(play.add_target(), add_walker())
    play.pair(ob, (3, 1), (10, 8), (17, 15), (22, 20))
    play.toggle(ob)
    assert healthy(ob)
    return ob


def edit_bones(change):
    rig = bpy.data.objects["Rig"]
    play.activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    change(rig.data.edit_bones)
    bpy.ops.object.mode_set(mode="OBJECT")


def test_an_armature_as_source():
    ob = armature()
    followed = play.shuffled(ob, WALK)
    np.testing.assert_allclose(play.shown(play.bake(ob), WALK), followed, atol=SAME)


def test_a_bone_is_posed_without_keys():
    ob = armature()
    bpy.context.scene.frame_set(12)
    before = play.now(ob)
    bone = bpy.data.objects["Rig"].pose.bones["spine"]
    bone.rotation_mode = "QUATERNION"
    bone.rotation_quaternion = bone.rotation_quaternion.to_matrix().to_quaternion()
    bone.location.z += 0.3
    assert np.abs(play.now(ob) - before).max() > 1e-3
    assert play.status(ob).track == "SWEEP"


def test_a_bone_is_renamed():
    ob = armature()
    before = play.shuffled(ob, WALK)
    bpy.data.objects["Rig"].data.bones["elbow.L"].name = 'the "elbow"'
    np.testing.assert_array_equal(play.shuffled(ob, WALK), before)
    assert healthy(ob)


def test_a_bone_is_removed():
    ob = armature()
    bpy.context.scene.frame_set(12)
    before = play.now(ob)
    edit_bones(lambda bones: bones.remove(bones["elbow.L"]))
    assert "elbow.L" in problem(ob) and "'Rig'" in problem(ob)
    np.testing.assert_array_equal(play.now(ob), before)
    play.activate(ob.motion_loom_map.live_copy)
    play.press("fit", workflow="map")
    assert problem(ob) is None and healthy(ob)


@pytest.mark.parametrize("remove", ("operator", "data"))
def test_the_armature_is_deleted(remove):
    ob = armature()
    rig = bpy.data.objects["Rig"]
    if remove == "data":
        bpy.data.objects.remove(rig)
    else:
        play.activate(rig)
        bpy.ops.object.delete()
    assert "'Rig'" in problem(ob) and "deleted" in problem(ob)
    play.toggle(ob)
    assert not ob.hide_viewport and not ob.motion_loom_map.live


def test_the_armature_is_renamed_and_hidden():
    ob = armature()
    before = play.shuffled(ob, WALK)
    rig = bpy.data.objects["Rig"]
    rig.name = "Knochen / 'a'"
    np.testing.assert_array_equal(play.shuffled(ob, WALK), before)
    rig.hide_viewport = True
    assert "'Knochen / 'a''" in problem(ob) and "hidden" in problem(ob)
    rig.hide_viewport = False
    assert problem(ob) is None
    np.testing.assert_array_equal(play.shuffled(ob, WALK), before)


@pytest.mark.parametrize("other", ("collection", "mesh", "empty", "another rig"))
def test_another_source_is_chosen(other):
    ob = armature()
    settings = ob.motion_loom_map
    before = play.shuffled(ob, WALK)
    dots = play.add_dots()
    if other == "collection":
        settings.source, settings.source_collection = None, dots
    elif other == "mesh":
        settings.source = play.add_target("Mesh")
    elif other == "empty":
        settings.source = bpy.data.objects["Dots 0"]
    else:
        settings.source = add_walker("Twin")  # of the same bones: it takes the other's place
    if other == "another rig":
        assert problem(ob) is None
        np.testing.assert_allclose(play.shuffled(ob, WALK), before, atol=SAME)
        return
    assert "Learn Target" in problem(ob)
    settings.source = bpy.data.objects["Rig"]
    assert problem(ob) is None
    np.testing.assert_array_equal(play.shuffled(ob, WALK), before)


def test_a_mesh_as_source():
    source = play.add_target("Source")
    group = source.vertex_groups.new(name="every third")
    group.add(list(range(0, 48, 3)), 1.0, "REPLACE")
    ob = play.add_target()
    ob.location.x = 2.0
    ob.motion_loom_map.source_group = "every third"
    play.learn(ob, source)
    play.pair(ob, (1, 1), (7, 7), (13, 13), (19, 19))
    play.toggle(ob)
    followed = play.shuffled(ob, np.arange(1, 25))
    np.testing.assert_allclose(play.shown(play.bake(ob), np.arange(1, 25)), followed, atol=SAME)
    bpy.context.scene.frame_set(4)
    source.data.shape_keys.key_blocks[3].points[0].co.z += 0.5
    source.data.shape_keys.update_tag()
    play.now(ob)
    assert play.status(ob).track == "SWEEP"


# ------------------------------------------------------------------------------------------------------- the target


def test_the_live_copy_is_deleted():
    ob = play.add_live()
    before = play.shuffled(ob)
    bpy.data.objects.remove(ob.motion_loom_map.live_copy)
    bpy.context.view_layer.update()
    assert "'Worm'" in problem(ob) and "Live off and on" in problem(ob)
    play.activate(ob)
    bpy.context.view_layer.objects.active = ob
    play.press("live", workflow="map")
    assert not ob.hide_viewport and not ob.hide_render and not ob.motion_loom_map.live
    play.toggle(ob)
    np.testing.assert_array_equal(play.shuffled(ob), before)


def test_the_live_copy_is_deleted_in_the_viewport():
    ob = play.add_live()
    before = play.shuffled(ob)
    play.activate(ob.motion_loom_map.live_copy)
    bpy.ops.object.delete()
    assert "'Worm'" in problem(ob)
    bpy.context.view_layer.objects.active = ob
    play.press("live", workflow="map")
    assert not ob.hide_viewport and not ob.motion_loom_map.live
    play.toggle(ob)
    np.testing.assert_array_equal(play.shuffled(ob), before)
    assert sum("live" in name for name in bpy.data.objects.keys()) == 1


def test_the_target_is_deleted():
    ob = play.add_live()
    copy = ob.motion_loom_map.live_copy
    bpy.data.objects.remove(ob)
    bpy.context.scene.frame_set(20)
    assert not live_runs.runs and copy.users_scene
    play.activate(copy)
    with pytest.raises(RuntimeError, match="(?i)deleted"):
        bpy.ops.motion_loom.live(workflow="map")


def test_the_target_is_renamed_and_moved():
    ob = play.add_live()
    before = play.shuffled(ob)
    ob.name, ob.location.x = "Wurm / 'x'", 5.0
    np.testing.assert_array_equal(play.shuffled(ob), before)
    assert healthy(ob)


def test_the_live_copy_is_renamed_and_moved_by_hand():
    ob = play.add_live()
    before = play.shuffled(ob)
    ob.motion_loom_map.live_copy.name = "mine"
    ob.motion_loom_map.live_copy.location.x += 3.0
    np.testing.assert_array_equal(play.shuffled(ob), before)


def test_a_face_of_the_target_is_removed():
    ob = play.add_live()
    bpy.context.scene.frame_set(20)
    before = play.now(ob)
    faces = [tuple(face.vertices) for face in ob.data.polygons]
    former, shorter = ob.data, bpy.data.meshes.new("Shorter")
    shorter.from_pydata([tuple(v.co) for v in ob.data.vertices], [], faces[:-1])
    ob.data = shorter
    assert "learn" in problem(ob) and "'Worm'" in problem(ob) and play.status(ob).remedy == "BIND"
    np.testing.assert_array_equal(play.now(ob), before)
    ob.data = former
    assert problem(ob) is None


def test_the_live_copy_has_another_topology():
    ob = play.add_live()
    copy = ob.motion_loom_map.live_copy
    former, shorter = copy.data, bpy.data.meshes.new("Shorter")
    shorter.from_pydata([tuple(v.co) for v in former.vertices][:40], [], [(0, 1, 2)])
    copy.data = shorter
    assert "(live)" in problem(ob) and "live off and on" in problem(ob)
    copy.data = former
    assert problem(ob) is None


def test_the_live_copy_in_edit_mode():
    ob = play.add_live()
    play.activate(ob.motion_loom_map.live_copy)
    bpy.ops.object.mode_set(mode="EDIT")
    assert "Edit Mode" in problem(ob)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert problem(ob) is None


def test_what_was_learnt_is_gone_or_damaged():
    ob = play.add_live()
    settings = ob.motion_loom_map
    learnt = settings.learnt
    settings.learnt = None
    ob.update_tag()
    assert "Learn Target" in problem(ob)
    settings.learnt = learnt
    ob.update_tag()
    assert problem(ob) is None
    learnt.vertices[30].co.x += 1.0
    bpy.ops.wm.save_as_mainfile(filepath=bpy.app.tempdir + "damaged.blend")
    bpy.ops.wm.open_mainfile(filepath=bpy.app.tempdir + "damaged.blend")
    ob = bpy.data.objects["Worm"]
    assert "damaged" in problem(ob)
    play.toggle(ob)
    assert not ob.hide_viewport


def test_another_target_is_broken_and_this_one_goes_on():
    ob = play.add_live()
    other = play.learn(play.add_target("Other"), bpy.data.collections["Dots"])
    play.pair(other, *PAIRS)
    play.toggle(other)
    bpy.data.objects.remove(other.motion_loom_map.live_copy)
    before = play.shuffled(ob)
    assert play.status(other).problem and healthy(ob)
    np.testing.assert_allclose(play.shown(play.bake(ob)), before, atol=SAME)


# ------------------------------------------------------------------------------------------------------ travel, turn


def travelling():
    """A worm that crawls along -Y by keys of its object, and six dots."""
    ob = play.add_target()
    play.write_keys(ob, "location", [1, 24], [[2, 0, 0], [2, -3, 0]])
    play.learn(ob, play.add_dots())
    play.pair(ob, *PAIRS)
    play.toggle(ob)
    return ob


@pytest.mark.parametrize("travel", ("AUTO", "LEARNT", "FEET", "STRIDE", "SOURCE", "NONE"))
def test_every_way_to_travel(travel):
    ob = travelling()
    settings = ob.motion_loom_map
    settings.turn_ratio, settings.stride = 0.0, 2.0
    settings.travel = travel
    play.now(ob)
    followed = follows_as_baked(ob)
    way = followed[-1].mean(axis=0) - followed[0].mean(axis=0)
    if travel in ("AUTO", "LEARNT", "STRIDE"):
        assert -12.0 < way[1] < -0.4 and abs(way[0]) < abs(way[1])
    if travel == "SOURCE":
        np.testing.assert_allclose(way[1], -0.8 * 39 / 24, atol=1.0)
    if travel == "NONE":
        assert np.abs(way[:2]).max() < 0.5
        here = settings.live_copy.matrix_world.translation
        assert np.abs(np.array(here)[:2] - [2, 0]).max() < 1e-5
    settings.travel_scale = 2.0
    play.now(ob)
    assert (np.abs(follows_as_baked(ob) - followed).max() > 0.1) == (travel not in ("NONE",))


def test_the_target_turns_with_its_source():
    ob = play.add_live()
    settings = ob.motion_loom_map
    settings.travel = "NONE"
    turned = {}
    for ratio in (0.0, 1.0, -0.5):
        settings.turn_ratio = ratio
        play.now(ob)
        bpy.context.scene.frame_set(40)
        turned[ratio] = settings.live_copy.matrix_world.to_euler().z
        follows_as_baked(ob)
    assert abs(turned[0.0]) < 1e-6
    assert turned[1.0] == pytest.approx(0.5 * 39 / 24, abs=0.3)
    assert turned[-0.5] == pytest.approx(-0.5 * turned[1.0], abs=1e-5)


def test_a_way_that_the_target_does_not_tell():
    ob = play.add_live()
    settings = ob.motion_loom_map
    settings.target_motion = "SHAPE_KEYS"
    play.activate(settings.live_copy)
    play.press("fit", workflow="map")
    settings.travel = "LEARNT"
    assert "cannot travel that way" in problem(ob)
    settings.travel = "SOURCE"
    assert problem(ob) is None


# ---------------------------------------------------------------------------------------------------------- the time


@pytest.mark.parametrize(("fps", "base"), [(30, 1.0), (60, 1.001), (12, 1.0)])
def test_the_frame_rate_is_changed_after_learning(fps, base):
    """Frames are frames: keys stay where they are, and so does the result."""
    ob = play.add_live()
    before = play.shuffled(ob)
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = fps, base
    np.testing.assert_array_equal(play.shuffled(ob), before)
    np.testing.assert_allclose(follows_as_baked(ob), before, atol=SAME)
    refresh(ob)
    np.testing.assert_allclose(play.shuffled(ob), before, atol=SAME)


@pytest.mark.parametrize(("old", "new"), [(100, 200), (100, 50), (90, 100)])
@pytest.mark.parametrize("when", ("before", "after"))
def test_time_is_stretched(old, new, when):
    """The source plays slower or faster than its keys say, and the target with it."""
    render = bpy.context.scene.render
    if when == "before":
        render.frame_map_old, render.frame_map_new = old, new
    ob = play.add_live([(round(source * new / old), target) for source, target in PAIRS] if when == "before" else PAIRS)
    if when == "before":
        np.testing.assert_allclose(play.shuffled(ob)[:20], play.shown(play.bake(ob))[:20], atol=1e-5)
    render.frame_map_old, render.frame_map_new = old, new
    last = int(ob.motion_loom_map.clip_summary.split()[-1])
    frames = np.arange(1, last + 1)
    refresh(ob)
    followed = play.shuffled(ob, frames)
    assert healthy(ob)
    np.testing.assert_allclose(play.shown(play.bake(ob), frames), followed, atol=1e-5)


@pytest.mark.parametrize("frame", (1.0, 7.25, 21.5, 39.999))
def test_subframes(frame):
    ob = play.add_live()
    frames = np.array([frame, np.floor(frame), np.floor(frame) + 1])
    between, before, after = play.shuffled(ob, frames)
    share = frame - np.floor(frame)
    assert np.abs(between - ((1 - share) * before + share * after)).max() < 0.01
    assert healthy(ob)


# --------------------------------------------------------------------------------------------------------- performing


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests set."""

    class Clock:
        now = 100.0

        def monotonic(self):
            return self.now

    found = Clock()
    monkeypatch.setattr(follower.time, "monotonic", found.monotonic)
    return found


def unkeyed(ob):
    """The source's empties without their actions, to be moved by hand."""
    empties = list(bpy.data.collections["Dots"].objects)
    for empty in empties:
        empty.animation_data_clear()
    return empties


def perform(ob, empties, clock, places, fps=60.0):
    """World vertices (N, V, 3) while the empties go through places (N, 6, 3)."""
    found = []
    for place in places:
        for empty, at in zip(empties, place, strict=True):
            empty.location = at
        clock.now += 1.0 / fps
        found.append(play.now(ob))
    return np.array(found)


def moved_by_hand(clock, travel="NONE"):
    ob = play.add_live()
    ob.motion_loom_map.travel = travel
    play.now(ob)
    ob.motion_loom_map.live_input = True
    return ob, unkeyed(ob)


def test_a_source_that_moves_without_keys(clock):
    ob, empties = moved_by_hand(clock)
    frames = np.linspace(1, 40, 98)
    found = perform(ob, empties, clock, play.dots(frames))
    assert healthy(ob) and np.isfinite(found).all()
    ob.motion_loom_map.live_input = False
    expected = play.shown(ob.motion_loom_map.live_copy, frames)
    off = np.abs(found - expected)[12:]  # the first tenth of a second has another past
    assert off.max() < 0.05


def test_a_performed_source_travels_as_it_goes(clock):
    ob, empties = moved_by_hand(clock, "SOURCE")
    found = perform(ob, empties, clock, play.dots(np.linspace(1, 40, 98)))
    assert (found[-1] - found[0]).mean(axis=0)[1] == pytest.approx(-0.8 * 39 / 24, abs=0.8)


def test_a_performed_source_that_falls_silent(clock):
    """It stood still, and did not go on as it went."""
    ob, empties = moved_by_hand(clock, "STRIDE")
    found = perform(ob, empties, clock, play.dots(np.linspace(1, 20, 48)))
    clock.now += 60.0
    after = perform(ob, empties, clock, play.dots(np.array([20.2])))
    step = np.abs(found[-1].mean(axis=0) - found[0].mean(axis=0)).max() / 48
    assert np.abs(after[0].mean(axis=0) - found[-1].mean(axis=0)).max() < 0.15 + 10 * step


def test_gaps_of_a_performed_source(clock):
    ob, empties = moved_by_hand(clock)
    places = play.dots(np.linspace(1, 40, 60))
    perform(ob, empties, clock, places[:30])
    empties[2].hide_viewport = True
    found = perform(ob, empties, clock, places[30:40])
    assert healthy(ob) and np.isfinite(found).all()
    play.press("map_add_pair")
    for empty in empties:
        empty.hide_viewport = True
    found = perform(ob, empties, clock, places[40:45])
    assert healthy(ob) and np.isfinite(found).all()


def test_performed_pairs(clock, tmp_path):
    """Made while it moves, they give what pairs of frames would have given."""
    pairs = (6, 1), (13, 8), (22, 15), (34, 20)
    ob = play.add_ready(pairs)
    settings = ob.motion_loom_map
    settings.travel = "NONE"
    expected = play.shown(play.bake(ob))
    play.toggle(ob)
    empties = unkeyed(ob)
    settings.live_input = True
    for number in range(len(pairs)):
        settings.pairs[number].use = number < 2
    for source, target in pairs:
        perform(ob, empties, clock, play.dots(np.linspace(source - 8, source, 21)))
        settings.target_frame = target
        play.press("map_add_pair")
        assert settings.pairs[-1].performed
        clock.now += 1.0
    for _ in pairs:
        play.press("map_remove_pair", index=0)
    assert len(settings.pairs) == len(pairs)
    settings.live_input = False
    for empty, places in zip(empties, np.moveaxis(play.dots(), 1, 0), strict=True):
        play.write_keys(empty, "location", FRAMES, places)
    found = play.shown(settings.live_copy)
    assert healthy(ob)
    assert np.abs(found - expected).max() < 0.1
    path = str(tmp_path / "performed.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    ob = bpy.data.objects["Worm"]
    np.testing.assert_allclose(play.shown(ob.motion_loom_map.live_copy), found, atol=SAME)


def test_a_performed_pair_without_live(clock):
    ob = play.add_ready()
    ob.motion_loom_map.live_input = True
    play.press("map_add_pair")
    bpy.data.objects["Dots 1"].hide_viewport = True
    play.press("map_add_pair")
    play.bake(ob)


def test_a_damaged_performed_pair():
    ob = play.add_live()
    pair = ob.motion_loom_map.pairs[1]
    for text in ("broken", "~~~~~", "00000"):
        pair.performed = text
        ob.update_tag()
        assert "remove that pair" in problem(ob)
    pair.performed = ""
    ob.update_tag()
    assert problem(ob) is None


# ------------------------------------------------------------------------------------------------------- files, undo


def test_a_new_file_and_disabling_leave_nothing(tmp_path):
    ob = play.add_live()
    path = str(tmp_path / "live.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    assert not live_runs.runs
    bpy.ops.wm.open_mainfile(filepath=path)
    ob = bpy.data.objects["Worm"]
    live.stop_all()
    play.toggle(ob)
    assert not ob.hide_viewport and live_mesh.live_of(ob) is None


def test_a_copy_of_a_live_target():
    """Shift+D of the original or of its live copy makes no second live one."""
    ob = play.add_live()
    before = play.shuffled(ob)
    for of in (ob, ob.motion_loom_map.live_copy):
        twin = of.copy()
        twin.data = of.data.copy()
        bpy.context.scene.collection.objects.link(twin)
        bpy.context.view_layer.update()
        np.testing.assert_array_equal(play.shuffled(ob), before)
        assert healthy(ob)
    play.toggle(ob)
    assert not ob.hide_viewport
