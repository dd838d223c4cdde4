"""The range of a cache file that a modifier plays, against what Blender shows; and which range is read of a mesh."""

import struct

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import pc2
from bl_ext.devrepo.motion_loom.scene.animated_range import animated_range, range_to_read
from bl_ext.devrepo.motion_loom.scene.cache_range import cache_range

from tests import map_scenes
from tests.objects import add_nodes, key

SAMPLES = 8


def heights(path):
    """A mesh whose vertices are as high as the number of the sample, by a cache file."""
    ob = map_scenes.add_mesh("Sheet", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    values = np.arange(SAMPLES, dtype=np.float32)[:, None, None] * np.ones((1, 3, 3), np.float32)
    cache = ob.modifiers.new("Cache", "MESH_CACHE")
    cache.cache_format, cache.filepath = path.suffix[1:].upper(), str(path)
    if path.suffix == ".pc2":
        with pc2.writing(path, 3, SAMPLES, 1.0, 1.0) as writer:
            writer.write(values)
    else:
        times = struct.pack(f">{SAMPLES}f", *range(SAMPLES))
        path.write_bytes(struct.pack(">2i", SAMPLES, 3) + times + values.astype(">f4").tobytes())
    return ob, cache


@pytest.mark.parametrize(("start", "scale", "stretch"), [(0.0, 1.0, 1), (30.0, 2.0, 1), (6.5, 0.5, 1), (5.0, 1.0, 2)])
@pytest.mark.parametrize("suffix", (".pc2", ".mdd"))
def test_the_range_is_that_in_which_the_shape_changes(tmp_path, suffix, start, scale, stretch):
    """The scene's range, which may end before the cache or begin after it, was read instead."""
    ob, cache = heights(tmp_path / f"cache{suffix}")
    cache.frame_start, cache.frame_scale = start, scale
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.frame_map_new = 1, 6, 100 * stretch
    first, last = animated_range(scene, [ob])
    np.testing.assert_allclose((first, last), np.array([start, start + SAMPLES - 1]) / scale * stretch)
    assert range_to_read(scene, [ob]) == (first, last, None)
    at = [first - 2.0, first, first + 0.25 * stretch, last - 0.25 * stretch, last, last + 2.0]
    found = map_scenes.seen(ob, at)[0][:, 0, 2]
    np.testing.assert_allclose(found[[0, 1, 4, 5]], [0, 0, SAMPLES - 1, SAMPLES - 1], atol=1e-4)
    assert 0.0 < found[2] < found[3] < SAMPLES - 1


def test_a_cache_that_does_not_tell_is_read_over_the_scene_and_that_is_said(tmp_path):
    ob, cache = heights(tmp_path / "cache.pc2")
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 6
    told = (1.0, 6.0, "with those of the scene, as modifier 'Cache' of 'Sheet' goes by the frame")
    for changes in ({"time_mode": "FACTOR"}, {"filepath": str(tmp_path / "none.pc2")}, {"frame_scale": 0.0}):
        before = {name: getattr(cache, name) for name in changes}
        for name, value in changes.items():
            setattr(cache, name, value)
        assert cache_range(ob, cache) is None and range_to_read(scene, [ob]) == told
        for name, value in before.items():
            setattr(cache, name, value)
    (tmp_path / "short.pc2").write_bytes(b"POINTCACHE2\0")
    cache.filepath = str(tmp_path / "short.pc2")
    assert range_to_read(scene, [ob]) == told
    cache.filepath = str(tmp_path / "cache.pc2")
    assert range_to_read(scene, [ob])[2] is None
    key(cache, "frame_start", {2: 0.0, 4: 3.0})
    assert range_to_read(scene, [ob]) == told


def test_baked_nodes_are_read_over_the_scene_and_that_is_said():
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 6
    ob = map_scenes.add_strip()
    key(ob, "location", {2: 0.0, 4: 1.0}, index=0)
    assert range_to_read(scene, [ob]) == (2, 4, None)
    tree = add_nodes(ob, "GeometryNodeBake")[0]
    assert range_to_read(scene, [ob]) == (
        1, 6, f"with those of the scene, as the nodes '{tree.name}' go by the frame"
    )  # fmt: skip


def test_keys_strips_and_keys_of_shapes_are_read_over_their_own_range():
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 6
    ob = map_scenes.add_strip()
    assert range_to_read(scene, [ob]) == (1, 6, "those of the scene, as nothing is known to move it")
    keys = map_scenes.add_keys(ob)
    map_scenes.key_values(keys, frames=(-3, 20))
    assert range_to_read(scene, [ob]) == (-3, 20, None)
    action = keys.animation_data.action
    slot = getattr(keys.animation_data, "action_slot", None)
    keys.animation_data.action = None
    strip = keys.animation_data.nla_tracks.new().strips.new("Strip", 31, action)
    if slot is not None:
        strip.action_slot = slot
    assert range_to_read(scene, [ob]) == (31, 54, None)
    ob.modifiers.new("Wave", "WAVE")
    told = "with those of the scene, as modifier 'Wave' of 'Strip' goes by the frame"
    assert range_to_read(scene, [ob]) == (1, 54, told)
