"""Map on input that cannot be used, or only just: the reason names the culprit and the way out, nothing is changed."""

import json
import re
import shlex

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.workflows.map import command, learn
from mathutils import Matrix

from tests import map_play as play
from tests import map_scenes, mesh_play
from tests.adapt_scenes import FRAMES as WALK
from tests.adapt_scenes import add_walker
from tests.map_play import FRAMES, PAIRS
from tests.mesh_play import PLACES

pytestmark = pytest.mark.usefixtures("no_traceback")

SAME = 1e-6


def refused(ob, button, match, **arguments):
    return mesh_play.refused(ob, "motion_loom_map", button, match, **arguments)


def fit_refused(ob, match):
    return refused(ob, "fit", match, workflow="map")


def reports(capfd):
    written = capfd.readouterr()
    return written.out + written.err


# ------------------------------------------------------------------------------------------------------- the source


def test_no_source():
    fit_refused(play.add_target(), "Choose what drives it")


def test_an_empty_collection():
    ob = play.add_target()
    ob.motion_loom_map.source_collection = bpy.data.collections.new("Nothing / 'here'")
    fit_refused(ob, "'Nothing / 'here'' has no objects")


def test_the_source_is_the_target():
    ob = play.add_target()
    ob.motion_loom_map.source = ob
    fit_refused(ob, "'Worm' cannot be its own source")


def test_a_collection_with_the_target_in_it():
    ob = play.add_target()
    dots = play.add_dots()
    dots.objects.link(ob)
    ob.motion_loom_map.source_collection = dots
    fit_refused(ob, "'Worm'.*own source")


@pytest.mark.parametrize("kind", ("dots", "rig", "mesh"))
def test_a_source_without_motion(kind):
    ob = play.add_target()
    settings = ob.motion_loom_map
    if kind == "dots":
        settings.source_collection = play.add_dots(places=np.repeat(play.dots()[:1], 40, axis=0))
    elif kind == "rig":
        settings.source = add_walker()
        settings.source.animation_data_clear()
    else:
        settings.source = play.add_target("Still")
        settings.source.data.shape_keys.animation_data_clear()
    name = {"dots": "Dots", "rig": "Rig", "mesh": "Still"}[kind]
    fit_refused(ob, f"'{name}'.*does not move")


def test_an_armature_without_bones():
    ob = play.add_target()
    bare = bpy.data.objects.new("Bare", bpy.data.armatures.new("Bare"))
    bpy.context.scene.collection.objects.link(bare)
    ob.motion_loom_map.source = bare
    fit_refused(ob, "'Bare' has no bones")


def test_a_group_that_is_not_there_or_empty():
    ob, source = play.add_target(), play.add_target("Source")
    ob.motion_loom_map.source, ob.motion_loom_map.source_group = source, "hand"
    fit_refused(ob, "'Source' has no vertex group 'hand'")
    source.vertex_groups.new(name="hand")
    fit_refused(ob, "'hand' of 'Source' has no vertices")


def test_a_source_that_is_not_in_the_scene():
    ob = play.add_target()
    rig = add_walker()
    bpy.context.scene.collection.objects.unlink(rig)
    ob.motion_loom_map.source = rig
    fit_refused(ob, "'Rig'")


@pytest.mark.parametrize(("start", "end"), [(5, 5), (9, 3)])
@pytest.mark.parametrize("of", ("source", "target"))
def test_ranges_of_one_frame_and_less(of, start, end):
    ob = play.add_target()
    settings = ob.motion_loom_map
    settings.source_collection = play.add_dots()
    setattr(settings, f"use_{of}_range", True)
    setattr(settings, f"{of}_start", start)
    setattr(settings, f"{of}_end", end)
    fit_refused(ob, f"{of}.*{start} to {end}.*fewer than two frames")


@pytest.mark.parametrize(("start", "why"), [(-(2**31), "goes beyond the frames"), (-200_000, "has more than")])
@pytest.mark.parametrize("of", ("source", "target"))
def test_ranges_that_nothing_can_be_read_over(of, start, why):
    """Refused before anything is allocated: such a one took all memory."""
    ob = play.add_target()
    settings = ob.motion_loom_map
    settings.source_collection = play.add_dots()
    setattr(settings, f"use_{of}_range", True)
    setattr(settings, f"{of}_start", start)
    fit_refused(ob, f"The range of the {of} '.*', {start:,} to 250, .*{why}")


def test_a_source_of_too_many_positions(monkeypatch):
    ob = play.add_target()
    ob.motion_loom_map.source_collection = play.add_dots()
    monkeypatch.setattr(learn, "_MOST_NUMBERS", 3 * len(FRAMES) * 6 - 1)
    fit_refused(ob, "'Dots' has 40 frames of 6 points, which are too many to be read together; shorten the range")


@pytest.mark.parametrize("of", ("source", "target"))
def test_a_stray_key_far_off(of):
    ob = play.add_target()
    dots = ob.motion_loom_map.source_collection = play.add_dots()
    play.write_keys(dots.objects[0] if of == "source" else ob, "location", [1, 1_048_574], np.zeros((2, 3)))
    fit_refused(ob, f"The range of the {of} '.*', 1 to 1,048,574, has more than.*remove what is keyed far off")


def test_points_that_are_missing_for_some_frames():
    """They are filled in between; a point that never shows is left out."""
    ob, dots = play.add_target(), play.add_dots()
    for number, hidden in ((1, (10, 16)), (4, (1, 5)), (5, (36, 41))):
        empty = bpy.data.objects[f"Dots {number}"]
        for frame, hide in ((0, False), (hidden[0], True), (hidden[1], False)):
            empty.hide_viewport = hide
            empty.keyframe_insert("hide_viewport", frame=frame)
    never = bpy.data.objects["Dots 2"]
    never.hide_viewport = True
    play.learn(ob, dots)
    play.pair(ob, (3, 1), (12, 8), (22, 15), (38, 20))
    play.toggle(ob)
    bpy.context.scene.frame_set(1)
    found = play.shuffled(ob)
    assert play.status(ob).problem is None and np.isfinite(found).all()
    np.testing.assert_allclose(play.shown(play.bake(ob)), found, atol=SAME)
    step = np.linalg.norm(np.diff(found, axis=0), axis=-1).max(axis=1)
    assert step.max() < 8 * np.median(step)


def test_pairs_at_gaps_go_through_a_file(tmp_path):
    ob, dots = play.add_target(), play.add_dots()
    empty = bpy.data.objects["Dots 1"]
    for frame, hide in ((0, False), (10, True), (16, False)):
        empty.hide_viewport = hide
        empty.keyframe_insert("hide_viewport", frame=frame)
    play.learn(ob, dots)
    play.pair(ob, (3, 1), (12, 8), (22, 15))
    expected = play.shown(play.bake(ob))
    path = str(tmp_path / "pairs.json")
    play.press("map_save_pairs", filepath=path)
    play.press("map_load_pairs", filepath=path)
    np.testing.assert_allclose(play.shown(play.bake(ob)), expected, atol=2e-5)


def test_a_source_of_which_nothing_is_seen():
    ob, dots = play.add_target(), play.add_dots()
    for empty in dots.objects:
        empty.hide_viewport = True
    ob.motion_loom_map.source_collection = dots
    fit_refused(ob, "'Dots'.*No point")


def test_a_tracker_that_jumps():
    """One frame thrown far off and one point that loses itself for a while move nothing."""
    places = play.dots()
    clean = play.learn(play.add_target("Clean"), play.add_dots("Good", places))
    broken = places.copy()
    broken[18] += 20.0
    broken[30:32, 2] = [9.0, -9.0, 9.0]
    ob = play.learn(play.add_target(), play.add_dots(places=broken))
    results = []
    for target in (clean, ob):
        play.pair(target, *PAIRS)
        results.append(play.shown(play.bake(target)))
    apart = np.linalg.norm(results[1] - results[0], axis=-1).max(axis=1)
    assert np.median(apart) < 0.02 and apart.max() < 0.15
    play.activate(ob)
    play.press("map_suggest")
    suggested = {float(word) for word in ob.motion_loom_map.suggestions.split()}
    assert not suggested & {19.0, 31.0, 32.0}


def test_a_tracker_that_gives_no_numbers():
    """Curves cannot hold them, drivers can."""
    ob, dots = play.add_target(), play.add_dots()
    driver = bpy.data.objects["Dots 3"].driver_add("location", 1).driver
    driver.expression = "frame * 0.1 if frame % 9 else (1e38 * 1e38 - 1e38 * 1e38)"
    play.learn(ob, dots)
    play.pair(ob, (3, 1), (9, 8), (22, 15))
    play.toggle(ob)
    found = play.shuffled(ob)
    assert np.isfinite(found).all() and play.status(ob).problem is None


def test_a_linked_source(tmp_path):
    collection = bpy.data.collections.new("Set")
    bpy.context.scene.collection.children.link(collection)
    collection.children.link(play.add_dots())
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, there):
        there.collections = ["Dots"]
    dots = there.collections[0]
    bpy.context.scene.collection.children.link(dots)
    ob = play.learn(play.add_target(), dots)
    play.pair(ob, *PAIRS)
    play.toggle(ob)
    found = play.shuffled(ob)
    np.testing.assert_allclose(play.shown(play.bake(ob)), found, atol=SAME)
    path = str(tmp_path / "user.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    np.testing.assert_allclose(play.shuffled(bpy.data.objects["Worm"]), found, atol=SAME)


# ------------------------------------------------------------------------------------------------------- the target


def test_a_linked_target(tmp_path):
    ob = map_scenes.linked(play.add_target(), tmp_path, False)
    bpy.context.view_layer.objects.active = ob
    with pytest.raises(RuntimeError, match="'Worm' is linked"):
        bpy.ops.motion_loom.fit(workflow="map")
    with pytest.raises(RuntimeError, match="'Worm' is linked"):
        bpy.ops.motion_loom.live(workflow="map")


def test_an_overridden_target(tmp_path):
    ob = map_scenes.linked(play.add_target(), tmp_path, True)
    play.learn(ob, play.add_dots())
    play.pair(ob, *PAIRS)
    play.toggle(ob)
    followed = play.shuffled(ob)
    np.testing.assert_allclose(play.shown(play.bake(ob)), followed, atol=SAME)
    play.toggle(ob)
    assert not ob.hide_viewport


def test_no_mesh_is_active():
    dots = play.add_dots()
    bpy.context.view_layer.objects.active = dots.objects[0]
    for button in ("fit", "live", "bake"):
        with pytest.raises(RuntimeError, match="Select the mesh"):
            getattr(bpy.ops.motion_loom, button)(workflow="map")


@pytest.mark.parametrize("motion", ("none", "object", "zero keys"))
def test_a_target_without_motion(motion):
    ob = play.add_target()
    ob.data.shape_keys.animation_data_clear()
    if motion == "object":
        play.write_keys(ob, "location", [1, 20], [[0, 0, 0], [0, 3, 0]])
    if motion == "zero keys":
        ob.data.shape_keys.use_relative = True
        for block in ob.data.shape_keys.key_blocks[1:]:
            block.value = 0.0
    ob.motion_loom_map.source_collection = play.add_dots()
    fit_refused(ob, "'Worm' does not change.*(shape keys as poses)")
    if motion == "zero keys":
        ob.motion_loom_map.target_motion = "SHAPE_KEYS"
        play.learn(ob)


def test_a_target_without_shape_keys_as_poses():
    ob = map_scenes.add_strip("Strip")
    ob.motion_loom_map.source_collection = play.add_dots()
    ob.motion_loom_map.target_motion = "SHAPE_KEYS"
    fit_refused(ob, "'Strip' has no shape keys")


def test_a_target_without_faces():
    ob = map_scenes.add_mesh("Wire", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [])
    ob.motion_loom_map.source_collection = play.add_dots()
    fit_refused(ob, "'Wire' has no faces")


def test_a_target_in_edit_mode():
    ob = play.add_target()
    ob.motion_loom_map.source_collection = play.add_dots()
    play.activate(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="'Worm' is being edited"):
        bpy.ops.motion_loom.fit(workflow="map")
    bpy.ops.object.mode_set(mode="OBJECT")


def test_topology_that_changes_over_the_range():
    ob = map_scenes.add_strip("Strip")
    build = ob.modifiers.new("Build", "BUILD")
    build.frame_start, build.frame_duration = 1, 20
    ob.motion_loom_map.source_collection = play.add_dots()
    text = fit_refused(ob, "'Strip'.*frame")
    assert "faces" in text or "vertices" in text


def worm_with(change):
    """Worm whose shapes (F, V, 3) and faces (list) were changed by a function that returns both."""
    shapes, faces = play.worm_shapes()
    return play.add_target("Worm", *change(shapes, [list(face) for face in faces]))


def flipped(shapes, faces):
    return shapes, [face[::-1] if number % 3 == 0 else face for number, face in enumerate(faces)]


def zero_area(shapes, faces):
    extra = np.repeat(shapes[:, 5:6], 2, axis=1)
    count = shapes.shape[1]
    return np.concatenate((shapes, extra), axis=1), [*faces, [5, count, count + 1]]


def slivers(shapes, faces):
    edge = shapes[:, :1] + 1e-7 * (shapes[:, 6:7] - shapes[:, :1])
    return np.concatenate((shapes, edge), axis=1), [*faces, [0, shapes.shape[1], 1]]


def two_parts(shapes, faces):
    count = shapes.shape[1]
    other = shapes[::-1] * [1, 1, 0.5] + [1.5, 0.0, 0.5]
    return np.concatenate((shapes, other), axis=1), [*faces, *[[corner + count for corner in face] for face in faces]]


def loose_vertices(shapes, faces):
    return np.concatenate((shapes, shapes[:, :2] + [0, 0, 2.0]), axis=1), faces


def double_faces(shapes, faces):
    return shapes, [*faces, *faces[:6]]


def collapses(shapes, faces):
    shapes = shapes.copy()
    shapes[12, 6:12] = shapes[12, 6:12].mean(axis=0)  # a ring of it closes for one frame
    return shapes, faces


def inside_out(shapes, faces):
    shapes = shapes.copy()
    shapes[8:12, :, 0] *= -1
    return shapes, faces


@pytest.mark.parametrize(
    "change", (flipped, zero_area, slivers, two_parts, loose_vertices, double_faces, collapses, inside_out)
)
def test_meshes_that_are_not_clean(change):
    ob = worm_with(change)
    play.learn(ob, play.add_dots())
    play.pair(ob, *PAIRS)
    play.toggle(ob)
    found = play.shuffled(ob)
    assert play.status(ob).problem is None and np.isfinite(found).all()
    original = play.shown(ob.motion_loom_map.live_copy, [3])[0]
    wanted = play.shown(ob, [1])[0]
    wanted, original = wanted - wanted.mean(axis=0), original - original.mean(axis=0)
    assert np.linalg.norm(original - wanted, axis=1).mean() < 0.3
    assert np.ptp(found, axis=1).max() < 2.5 * np.ptp(play.shown(ob, np.arange(1, 25)), axis=1).max()
    np.testing.assert_allclose(play.shown(play.bake(ob)), found, atol=SAME)


def test_vertices_that_are_no_numbers():
    shapes, faces = play.worm_shapes()
    shapes[9, 4] = np.nan
    ob = play.add_target("Worm", shapes, faces)
    ob.motion_loom_map.source_collection = play.add_dots()
    fit_refused(ob, "'Worm' has vertices that are not numbers at frame")


def test_all_faces_without_area():
    shapes, faces = play.worm_shapes()
    shapes[..., 0] = shapes[..., 2] = 0.0
    ob = play.add_target("Worm", shapes, faces)
    ob.motion_loom_map.source_collection = play.add_dots()
    fit_refused(ob, "(?i)area")


@pytest.mark.parametrize("parented", (False, True))
@pytest.mark.parametrize("place", PLACES)
def test_places_of_the_target(place, parented):
    """The result in the world does not depend on how the target's object is placed there."""
    ob = play.add_target()
    matrix = PLACES[place]
    if parented:
        holder = bpy.data.objects.new("Holder", None)
        bpy.context.scene.collection.objects.link(holder)
        holder.matrix_world = matrix
        ob.parent = holder
        ob.location = 0.3, 0.2, 0.1
    else:
        ob.matrix_world = matrix
    bpy.context.view_layer.update()
    play.learn(ob, play.add_dots())
    size = np.ptp(play.shown(ob, [1])[0], axis=0).max()
    ob.motion_loom_map.travel, ob.motion_loom_map.turn_ratio = "NONE", 0.0
    play.pair(ob, *PAIRS)
    play.toggle(ob)
    found = play.shuffled(ob)
    assert play.status(ob).problem is None
    wanted = np.stack([play.shown(ob, [target])[0] for _, target in PAIRS])
    there = found[[source - 1 for source, _ in PAIRS]]
    centres = [points.mean(axis=1) for points in (wanted, there)]
    assert np.abs(centres[0] - centres[1]).max() < 0.3 * size
    assert np.abs((wanted - centres[0][:, None]) - (there - centres[1][:, None])).max() < 0.3 * size
    np.testing.assert_allclose(play.shown(play.bake(ob)), found, atol=2e-6 * max(1.0, np.abs(found).max()))
    play.toggle(ob)


def test_a_target_whose_scale_is_zero():
    ob = play.add_target()
    ob.scale.z = 0.0
    ob.motion_loom_map.source_collection = play.add_dots()
    fit_refused(ob, "'Worm'.*scale")


def test_a_target_that_goes_flat_on_the_way():
    ob = play.add_target()
    play.write_keys(ob, "scale", [1, 20], [[1, 1, 1], [1, 1, 0]])
    ob.motion_loom_map.source_collection = play.add_dots()
    play.learn(ob)
    play.pair(ob, *PAIRS)
    play.bake(ob)


@pytest.mark.parametrize("place", ("scaled", "rotated", "mirrored"))
def test_places_of_an_armature_as_source(place):
    rig = add_walker()
    ob = play.learn(play.add_target(), rig)
    play.pair(ob, (3, 1), (10, 8), (17, 15))
    before = play.shown(play.bake(ob), WALK)
    rig.matrix_world = Matrix.Scale(2.0, 4) if place == "scaled" else PLACES[place]
    for curve in ("location", "scale", "rotation_euler"):
        rig.keyframe_insert(curve, frame=1)
    play.learn(ob)
    after = play.shown(play.bake(ob), WALK)
    assert np.isfinite(after).all()
    if place == "scaled":
        ob.motion_loom_map.travel = "NONE"
        np.testing.assert_allclose(after, before, atol=1e-3)


def test_a_target_with_keyed_travel_and_turning():
    ob = play.add_target()
    play.write_keys(ob, "location", [1, 24], [[2, 0, 0], [2, -3, 0]])
    play.write_keys(ob, "rotation_euler", [1, 24], [[0, 0, 0], [0, 0, 0.5]])
    before = play.shown(ob, np.arange(1, 25))
    play.learn(ob, play.add_dots())
    play.pair(ob, *PAIRS)
    play.toggle(ob)
    found = play.shuffled(ob)
    assert np.linalg.norm(found[-1].mean(axis=0) - found[0].mean(axis=0)) > 0.5
    np.testing.assert_allclose(play.shown(play.bake(ob)), found, atol=SAME)
    play.toggle(ob)
    np.testing.assert_array_equal(play.shown(ob, np.arange(1, 25)), before)


@pytest.mark.parametrize("channel", ("hide_viewport", "hide_render"))
def test_a_target_whose_visibility_is_keyed(channel):
    ob = play.add_ready()
    ob.keyframe_insert(channel, frame=1)
    refused(ob, "live", "visibility of 'Worm' is animated", workflow="map")
    play.bake(ob)


# --------------------------------------------------------------------------------------------------------- the pairs


@pytest.mark.parametrize("count", (0, 1))
def test_fewer_than_two_pairs(count):
    ob = play.learn(play.add_target(), play.add_dots())
    play.pair(ob, *PAIRS[:count])
    for button in ("live", "bake"):
        refused(ob, button, "two pairs or more", workflow="map")


def test_two_pairs_of_which_one_is_off():
    ob = play.add_ready(PAIRS[:2])
    ob.motion_loom_map.pairs[0].use = False
    for button in ("live", "bake"):
        refused(ob, button, "two pairs or more", workflow="map")


def test_pairs_that_contradict_are_both_named(capfd):
    ob = play.add_ready(PAIRS[:3])
    ob.motion_loom_map.pairs[0].use = False
    capfd.readouterr()
    play.pair(ob, (22.5, 4))
    assert "pairs 3 and 4 contradict" in reports(capfd)
    play.toggle(ob)
    assert np.isfinite(play.shuffled(ob)).all()


def test_the_same_pair_twice():
    ob = play.add_ready((*PAIRS, PAIRS[0]))
    play.toggle(ob)
    assert np.isfinite(play.shuffled(ob)).all()


def test_a_pair_outside_the_range():
    ob = play.add_ready()
    bpy.context.scene.frame_set(77)
    refused(ob, "map_add_pair", "Frame 77 is outside.*1 to 40")


def test_pairs_before_learning():
    ob = play.add_target()
    play.activate(ob)
    for button in ("map_add_pair", "map_suggest", "map_save_pairs", "map_load_pairs", "map_next_suggestion"):
        with pytest.raises(RuntimeError, match="Learn the target first"):
            getattr(bpy.ops.motion_loom, button)()
    for button in ("map_remove_pair", "map_show_pair"):
        with pytest.raises(RuntimeError, match="no pairs"):
            getattr(bpy.ops.motion_loom, button)()


def test_a_pair_that_is_not_there():
    ob = play.add_ready()
    refused(ob, "map_remove_pair", "no pair 8", index=7)
    ob.motion_loom_map.active_pair = -1
    refused(ob, "map_show_pair", "no pair")


@pytest.mark.parametrize(("name", "frame", "of"), [("source_frame", -500.0, "source"), ("target_frame", 1e6, "target")])
def test_pairs_set_to_any_frame_by_hand(name, frame, of):
    ob = play.add_live()
    before = play.now(ob)
    setattr(ob.motion_loom_map.pairs[1], name, frame)
    assert np.array_equal(play.now(ob), before)
    assert f"Pair 2: frame {frame:g} is outside the {of}'s range" in play.status(ob).problem


def test_a_source_of_other_points_after_learning_again():
    """Pairs of frames go on with the new points; performed ones say that they cannot."""
    ob = play.add_ready()
    settings = ob.motion_loom_map
    settings.live_input = True
    play.press("map_add_pair")
    settings.live_input = False
    bpy.data.objects.remove(bpy.data.objects["Dots 5"])
    play.learn(ob)
    settings.bake_kind = "ABSOLUTE_KEYS"
    refused(ob, "bake", "Pair 5 was performed with 6 points.*5.*remove that pair", workflow="map")
    refused(ob, "map_add_pair", "Pair 5 was performed")
    play.press("map_remove_pair", index=len(PAIRS))
    play.bake(ob)


# --------------------------------------------------------------------------------------------------------- pair files


@pytest.fixture
def saved(tmp_path):
    """A ready worm and the path of its saved pairs."""
    ob = play.add_ready()
    path = tmp_path / "pairs.json"
    play.activate(ob)
    play.press("map_save_pairs", filepath=str(path))
    return ob, path


def without(key):
    def change(content):
        del content[key]

    return change


def pair_with(**values):
    def change(content):
        content["pairs"][1] |= values

    return change


def pair_without(key):
    def change(content):
        del content["pairs"][1][key]

    return change


def setting(**values):
    return lambda content: content.update(values)


def nested(depth):
    found = []
    for _ in range(depth):
        found = [found]
    return found


BAD = {
    "another format": setting(format="blend"),
    "a later version": setting(version=2),
    "no version": without("version"),
    "no points": without("points"),
    "points of no list": setting(points="Dots 0"),
    "points of numbers": setting(points=[1, 2, 3, 4, 5, 6]),
    "no names": setting(points=[]),
    "no pairs": without("pairs"),
    "pairs of no list": setting(pairs={"a": 1}),
    "no pair": setting(pairs=[]),
    "a pair of no object": setting(pairs=[3]),
    "a pair of null": setting(pairs=[None]),
    "twice one name": lambda content: content["points"].__setitem__(1, content["points"][0]),
    "no poses": pair_without("poses"),
    "no source frame": pair_without("source_frame"),
    "no use": pair_without("use"),
    "poses of text": pair_with(poses="abc"),
    "ragged poses": pair_with(poses=[[[1, 2, 3]], [[1, 2]]]),
    "poses of null": pair_with(poses=None),
    "one pose": pair_with(poses=[[[0, 0, 0]] * 6]),
    "deep poses": pair_with(poses=[[[[0] * 3] * 6] * 2]),
    "a frame of text": pair_with(source_frame="x"),
    "a frame of null": pair_with(target_frame=None),
    "an endless frame": pair_with(source_frame=float("inf")),
    "a frame that is no number": pair_with(target_frame=float("nan")),
    "a huge frame": pair_with(source_frame=10**400),
    "an endless pose": pair_with(poses=[[[float("inf"), 0, 0]] * 6] * 2),
    "a huge pose": pair_with(poses=[[[10**400, 0, 0]] * 6] * 2),
    "use of text": pair_with(use="no"),
    "a huge lag": setting(lag_seconds=10**400),
    "lists within lists": pair_with(poses=nested(900)),
}


@pytest.mark.parametrize("what", BAD)
def test_damaged_pair_files(saved, what):
    ob, path = saved
    content = json.loads(path.read_text(encoding="utf-8"))
    BAD[what](content)
    path.write_text(json.dumps(content), encoding="utf-8")
    assert "pairs.json" in refused(ob, "map_load_pairs", "damaged|file of pairs|version", filepath=str(path))


@pytest.mark.parametrize(
    "text", (b"", b"{", b"\xff\xfe\x00", b"[]", b"null", b"3", b'"text"', b"{}", b"[" * 200_000, b'{"format": ')
)
def test_files_that_are_no_pair_files(saved, text):
    ob, path = saved
    path.write_bytes(text)
    assert "pairs.json" in refused(ob, "map_load_pairs", "not a file of pairs", filepath=str(path))


def test_a_name_that_is_twice_in_an_object(saved):
    ob, path = saved
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"use": true', '"use": true, "use": false', 1), encoding="utf-8")
    assert '"use" is there twice' in refused(ob, "map_load_pairs", "not a file of pairs", filepath=str(path))


def test_a_number_of_very_many_digits(saved):
    ob, path = saved
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"version": 1', f'"version": {"9" * 5000}', 1), encoding="utf-8")
    refused(ob, "map_load_pairs", "not a file of pairs|another version", filepath=str(path))


def test_a_truncated_pair_file(saved):
    ob, path = saved
    whole = path.read_bytes()
    for length in range(0, len(whole) - 1, 97):
        path.write_bytes(whole[:length])
        refused(ob, "map_load_pairs", "not a file of pairs", filepath=str(path))


def test_points_of_another_source(saved):
    ob, path = saved
    content = json.loads(path.read_text(encoding="utf-8"))
    renamed = content | {"points": ["elbow", *content["points"][1:]]}
    path.write_text(json.dumps(renamed), encoding="utf-8")
    refused(ob, "map_load_pairs", "no point 'elbow'", filepath=str(path))
    fewer = content | {"points": content["points"][:-1]}
    for pair in fewer["pairs"]:
        pair["poses"] = [pose[:-1] for pose in pair["poses"]]
    path.write_text(json.dumps(fewer), encoding="utf-8")
    refused(ob, "map_load_pairs", "nothing of 'Dots 5'", filepath=str(path))


def test_points_in_another_order(saved):
    ob, path = saved
    expected = play.shown(play.bake(ob))
    content = json.loads(path.read_text(encoding="utf-8"))
    content["points"].reverse()
    for pair in content["pairs"]:
        pair["poses"] = [pose[::-1] for pose in pair["poses"]]
    path.write_text(json.dumps(content), encoding="utf-8")
    play.activate(ob)
    play.press("map_load_pairs", filepath=str(path))
    np.testing.assert_allclose(play.shown(play.bake(ob)), expected, atol=2e-5)


@pytest.mark.parametrize("place", ("missing/pairs.json", ".", "pairs.json/pairs.json", "/proc/pairs.json"))
def test_places_that_cannot_be_read_or_written(saved, place):
    ob, path = saved
    refused(ob, "map_load_pairs", "(?s)Cannot read.*", filepath=str(path.parent / place))
    if place != ".":
        before = path.read_bytes()
        told = "Cannot write into '/proc'|'.*missing' does not exist|'.*pairs.json' is not a folder"
        refused(ob, "map_save_pairs", f"({told}).*; choose another place", filepath=str(path.parent / place))
        assert path.read_bytes() == before


def test_saving_without_pairs_or_a_name(saved):
    ob, path = saved
    before = path.read_bytes()
    refused(ob, "map_save_pairs", "Name a file", filepath="")
    ob.motion_loom_map.pairs.clear()
    refused(ob, "map_save_pairs", "no pairs to save", filepath=str(path))
    assert path.read_bytes() == before and [file.name for file in path.parent.iterdir()] == ["pairs.json"]


# --------------------------------------------------------------------------------------------------- files, command


def test_a_cache_file_of_an_unsaved_scene():
    ob = play.add_ready()
    ob.motion_loom_map.bake_kind = "PC2"
    refused(ob, "bake", "Save the file first", workflow="map")


@pytest.mark.parametrize("folder", ("/proc/nothing", "//scene.blend/inside"))
def test_a_cache_folder_that_cannot_be_made(tmp_path, folder):
    ob = play.add_ready()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    ob.motion_loom_map.bake_kind, ob.motion_loom_map.bake_folder = "PC2", folder
    refused(ob, "bake", "folder", workflow="map")


def test_a_range_to_bake_that_is_empty():
    ob = play.add_ready()
    settings = ob.motion_loom_map
    settings.bake_kind = "ABSOLUTE_KEYS"
    settings.use_bake_range, settings.bake_start, settings.bake_end = True, 9, 3
    refused(ob, "bake", "9 to 3 is empty.*1 to 40", workflow="map")


@pytest.mark.parametrize(
    ("argv", "match"),
    [
        (["--target", "Nobody"], "no object 'Nobody'"),
        (["--target", "Dots 0"], "must be a mesh"),
        (["--target", "Worm", "--source", "Nobody"], "no object or collection 'Nobody'"),
        (["--target", "Worm", "--pair", "3"], "'3' is not a pair"),
        (["--target", "Worm", "--pair", "a=b"], "'a=b' is not a pair"),
        (["--target", "Worm", "--pair", "1=1"], "two pairs"),
        (["--target", "Worm", "--pairs", "/nowhere.json"], "Cannot read"),
        (["--target", "Worm", "--start", "3"], "both --start and --end"),
        (["--target", "Worm", "--source-start", "3"], "both --source-start and --source-end"),
        (["--target", "Worm", "--start", "9", "--end", "3"], "is empty"),
        (["--target", "Worm", "--bake", "pc2"], "saved"),
        (["--target", "Worm", "--pair", "nan=1", "2=3"], "not a pair"),
        (["--target", "Worm", "--pair", "inf=1", "2=3"], "not a pair"),
        (["--target", "Worm", "--stride", "nan"], "(?i)stride"),
        (["--target", "Worm", "--step", "0"], "Frame Step"),
        (["--target", "Worm", "--keys", "0", "--bake", "pca-keys"], "(?i)keys"),
    ],
)
def test_command_lines_that_cannot_be_done(capfd, argv, match):
    play.add_ready()
    objects = set(bpy.data.objects.keys())
    assert jobs.main(["map", "--bake", "absolute-keys", *argv]) == 1
    error = capfd.readouterr().err
    assert error.startswith("motion_loom map: ") and error.count("\n") == 1
    assert re.search(match, error)
    assert set(bpy.data.objects.keys()) == objects


NAMES = ("-worm", 'it\'s "odd" $HOME', "back\\slash; ls", "a/b:c", "Wurm 骨", "a=b", 63 * "x")


@pytest.mark.parametrize("name", NAMES)
def test_odd_names(tmp_path, name, capfd):
    ob = play.add_ready()
    ob.name = name
    for number, empty in enumerate(bpy.data.collections["Dots"].objects):
        empty.name = f"{number} {name}"[:60]
    play.learn(ob)
    path = str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    pairs = str(tmp_path / "pairs.json")
    play.press("map_save_pairs", filepath=pairs)
    play.press("map_load_pairs", filepath=pairs)
    for kind in ("PC2", "PCA_KEYS", "ABSOLUTE_KEYS"):
        play.bake(ob, kind)
    play.toggle(ob)
    assert np.isfinite(play.shuffled(ob, FRAMES[::7])).all() and play.status(ob).problem is None
    expected = play.shuffled(ob, FRAMES[::7])
    bpy.ops.wm.save_as_mainfile(filepath=path)
    words = shlex.split(command.command_of(bpy.context, ob, "blender"))
    bpy.ops.wm.open_mainfile(filepath=words[2])
    assert jobs.main(words[words.index("map") :]) == 0
    ob = bpy.data.objects[name]
    np.testing.assert_allclose(play.shown(ob.motion_loom_map.result, FRAMES[::7]), expected, atol=SAME)
