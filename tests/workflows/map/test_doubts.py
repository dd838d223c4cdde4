"""What Learn Target says of a range that is not the mesh's own, of a body that stands along Y, and of headings."""

import json
import re

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.scene import pc2
from bl_ext.devrepo.motion_loom.workflows.map.doubts import all_doubts, source_doubts
from bl_ext.devrepo.motion_loom.workflows.map.model import target_of
from bl_ext.devrepo.motion_loom.workflows.map.notes import notes_of_pairs

from tests import map_play as play
from tests import map_scenes, mesh_steps, transfer_play
from tests.map_play import FRAMES

pytestmark = pytest.mark.usefixtures("no_traceback")


def far():
    """Dots that walk farther."""
    places = play.dots()
    return places - [0.0, 3.0, 0.0] * (FRAMES[:, None, None] - 1) / 24.0


def tipping():
    """Dots that turn a somersault about X."""
    half = np.random.default_rng(2).normal(0, (0.2, 0.8, 0.2), (3, 3))
    rest = np.concatenate((half, half * [-1.0, 1.0, 1.0])) + np.random.default_rng(3).normal(0, 0.01, (6, 3))
    rest -= rest.mean(axis=0)
    angle = np.linspace(0, 2 * np.pi, len(FRAMES))[:, None]
    cosine, sine = np.cos(angle), np.sin(angle)
    y, z = rest[:, 1] * cosine - rest[:, 2] * sine, rest[:, 1] * sine + rest[:, 2] * cosine
    return np.stack((np.broadcast_to(rest[:, 0], y.shape), y, z), axis=-1)


def test_nothing_is_doubted_of_a_walker(capfd):
    ob = play.learn(play.add_target(), play.add_dots(places=far()))
    assert all_doubts(ob) == () and "seems" not in capfd.readouterr().out


def test_a_source_that_stands_along_y_is_told_until_it_is_turned(capfd):
    dots = play.add_dots(places=far()[..., [0, 2, 1]] * [1, 1, -1])
    ob = play.learn(play.add_target(), dots)
    told = capfd.readouterr().out
    assert "'Dots' goes" in told and "stand along Y instead of Z" in told and "by 90 degrees about X" in told
    upright = bpy.data.objects.new("Upright", None)
    bpy.context.scene.collection.objects.link(upright)
    upright.rotation_euler.x = np.pi / 2
    for empty in dots.objects:
        empty.parent = upright
    play.learn(ob)
    assert source_doubts(ob) == ()


def turning(tilt):
    """Dots that bob a little and turn twice about the vertical of a world that is tilted about Y, by radians."""
    rest = np.random.default_rng(3).normal(0, (0.3, 0.2, 0.5), (6, 3))
    places = rest + 0.2 * (play.dots() - play.dots().mean(axis=0))
    angle = np.linspace(0, 4 * np.pi, len(FRAMES))[:, None]
    cosine, sine = np.cos(angle), np.sin(angle)
    x, y, z = np.moveaxis(places - places.mean(axis=(0, 1)), 2, 0)
    x, y = x * cosine - y * sine, x * sine + y * cosine
    return np.stack((x * np.cos(tilt) + z * np.sin(tilt), y, z * np.cos(tilt) - x * np.sin(tilt)), axis=-1)


def test_a_world_that_is_tilted_is_told_with_the_turn_that_levels_it(capfd):
    """It was mapped without a word; Transfer levels it."""
    ob = play.learn(play.add_target(), play.add_dots("Level", turning(0.0)))
    assert all_doubts(ob) == ()
    dots = play.add_dots("Tilted", turning(np.radians(20.0)))
    ob.motion_loom_map.source_collection = dots
    play.learn(ob)
    said = "world of 'Tilted' seems tilted by (.*?) degrees.* by X (.*?), Y (.*?), Z (.*?) degrees"
    told = re.search(said, capfd.readouterr().out)
    tilt, *turn = (float(word) for word in told.groups())
    assert abs(tilt - 20.0) < 3.0
    level = bpy.data.objects.new("Level", None)
    bpy.context.scene.collection.objects.link(level)
    level.rotation_euler = np.radians(turn)
    for empty in dots.objects:
        empty.parent = level
    play.learn(ob)
    assert source_doubts(ob) == ()


def test_a_heading_that_jumps_is_told_by_frame_until_place_alone_is_taken_off(capfd):
    ob = play.learn(play.add_target(), play.add_dots(places=tipping()))
    told = capfd.readouterr().out
    assert ". The heading of 'Dots' jumps by up to" in told and "Set Source Without to Place" in told
    play.pair(ob, *play.PAIRS)
    assert jobs.main(["map", "--target", "Worm", "--bake", "absolute-keys", "--json"]) == 0
    report = json.loads(capfd.readouterr().out.splitlines()[-1])
    assert any("The heading of 'Dots'" in note for note in report["notes"])
    ob.motion_loom_map.ground = "PLACE"
    play.learn(ob)
    assert source_doubts(ob) == ()


def test_what_is_doubtful_of_a_target_is_kept_with_it():
    shapes, faces = play.worm_shapes()
    walk = np.zeros((len(shapes), 1, 3)) - [0.0, 0.4, 0.0] * np.arange(len(shapes))[:, None, None]
    shapes = (shapes + walk)[..., [0, 2, 1]] * [1, 1, -1]
    ob = play.learn(play.add_target(shapes=shapes, faces=faces), play.add_dots())
    (doubt,) = target_of(ob).doubts
    assert "'Worm' goes" in doubt and "stand along Y" in doubt
    ob.motion_loom_map.target_ground = "NONE"
    play.learn(ob)
    assert target_of(ob).doubts == ()


def test_poses_that_face_elsewhere_are_told_by_name():
    """Shape keys are turned to lie on the first, so that one that faces backwards came out forwards."""
    shapes, faces = play.worm_shapes()
    shapes = shapes[::6].copy()
    shapes[2, :, :2] *= -1.0
    ob = play.add_target(shapes=shapes, faces=faces)
    ob.motion_loom_map.target_motion = "SHAPE_KEYS"
    play.learn(ob, play.add_dots())
    (doubt,) = target_of(ob).doubts
    assert "in 'Pose 2', by which" in doubt and "Target Without to Place" in doubt
    ob.motion_loom_map.target_ground = "PLACE"
    play.learn(ob)
    assert target_of(ob).doubts == ()


def test_a_cache_is_learnt_over_its_own_range_and_a_wave_over_the_scenes(tmp_path, capfd):
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 30
    shapes, faces = play.worm_shapes()
    ob = map_scenes.add_mesh("Worm", shapes[0], faces)
    with pc2.writing(tmp_path / "worm.pc2", shapes.shape[1], len(shapes), 1.0, 1.0) as writer:
        writer.write(shapes.astype(np.float32))
    cache = ob.modifiers.new("Cache", "MESH_CACHE")
    cache.cache_format, cache.filepath, cache.frame_start = "PC2", str(tmp_path / "worm.pc2"), 20.0
    play.learn(ob, play.add_dots())
    settings = ob.motion_loom_map
    assert settings.learnt_summary.endswith("frames 20 to 43") and settings.clip_summary.endswith("frames 1 to 40")
    ob.modifiers.remove(cache)
    ob.modifiers.new("Wave", "WAVE")
    capfd.readouterr()
    play.learn(ob)
    told = "frames 1 to 30 (with those of the scene, as modifier 'Wave' of 'Worm' goes by the frame)"
    assert settings.learnt_summary.endswith(told) and told in capfd.readouterr().out
    settings.use_target_range, settings.target_start, settings.target_end = True, 3, 9
    play.learn(ob)
    assert settings.learnt_summary.endswith("frames 3 to 9")


def test_a_clip_of_transfer_says_whose_range_it_is():
    bob = transfer_play.TRANSFER.add_ready()
    settings = bob.motion_loom_transfer
    settings.performed.modifiers.new("Wave", "WAVE")
    mesh_steps.activate(bob)
    transfer_play.bake(bob)
    assert "goes by the frame" in settings.clip_summary


def test_a_pair_that_is_off_is_named_until_it_is_mended(capfd):
    """A source that was far off in a pair's phase was mapped without a word."""
    shapes, faces = play.worm_shapes()
    ob = play.learn(play.add_target(shapes=shapes, faces=faces), play.add_target("Other", shapes, faces))
    settings = ob.motion_loom_map
    play.pair(ob, *((frame, frame) for frame in range(1, 25, 3)))
    assert "far off" not in capfd.readouterr().out and notes_of_pairs(ob) == []
    settings.pairs[2].target_frame = 19.0
    (note,) = [note for note in notes_of_pairs(ob) if "far off" in note]
    assert note.startswith("Pair 3 is far off by the other pairs: they say target frame") and "where it has 19" in note
    play.bake(ob)
    assert "pair 3 is far off" in capfd.readouterr().out
    assert jobs.main(["map", "--target", "Worm", "--bake", "absolute-keys", "--json"]) == 0
    report = json.loads(capfd.readouterr().out.splitlines()[-1])
    assert report["odd_pair"]["pair"] == 3 and abs(report["odd_pair"]["others_say"] - 7) <= 2
    assert any("Pair 3 is far off" in each for each in report["notes"])
    settings.pairs[2].target_frame = report["odd_pair"]["others_say"]
    assert notes_of_pairs(ob) == []
    play.pair(ob, (16, 4))
    assert "far off" in capfd.readouterr().out
