"""The caterpillar as an object: its shape keys play back what was made."""

import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.map_scenes import positions, world_positions

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def caterpillar(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import caterpillar_in_blender

    return caterpillar_in_blender


@pytest.mark.parametrize("travel_on_object", [False, True])
def test_plays_back_what_was_made(caterpillar, travel_on_object):
    made = caterpillar.make_caterpillar()
    ob = caterpillar.add_caterpillar(made, start=11, travel_on_object=travel_on_object)
    scene = bpy.context.scene
    assert (scene.frame_start, scene.frame_end, scene.render.fps) == (11, 710, 24)
    for frame in (0, 4, 100, 340, 540, 696, 699):
        scene.frame_set(11 + frame)
        np.testing.assert_allclose(world_positions(ob), made.vertices[frame], atol=1e-5)
    for frame in (62, 454):
        scene.frame_set(11 + frame)
        between = 0.5 * (made.vertices[frame - 2] + made.vertices[frame + 2])
        np.testing.assert_allclose(world_positions(ob), between, atol=1e-5)
    if travel_on_object:
        assert np.abs(positions(ob.data.shape_keys.key_blocks[-1])).max() < 0.8


def test_its_script_saves_a_file(tmp_path):
    out = tmp_path / "caterpillar.blend"
    subprocess.run([sys.executable, str(EXAMPLES / "caterpillar_in_blender.py"), str(out)], check=True, timeout=120)
    bpy.ops.wm.open_mainfile(filepath=str(out))
    assert len(bpy.data.objects["Caterpillar"].data.shape_keys.key_blocks) == 176
