"""Renders without a window while Map is live show the moved mesh: the pixels are those of the bake."""

import bpy
import numpy as np
import pytest

from tests import map_play as play
from tests.mesh_play import set_stage, still, three_frames


@pytest.mark.parametrize("blur", (False, True), ids=("sharp", "blurred"))
@pytest.mark.parametrize("render", (still, three_frames))
def test_a_render_is_that_of_the_bake(tmp_path, render, blur):
    ob = play.add_ready()
    set_stage((4.0, -0.7, 0.6), (1.45, 0.0, 1.5708))
    scene = bpy.context.scene
    scene.render.use_motion_blur, scene.render.motion_blur_shutter = blur, 1.0
    scene.frame_set(20)
    original = render(tmp_path, "original")
    play.toggle(ob)
    scene.frame_set(20)
    followed = render(tmp_path, "live")
    assert play.status(ob).problem is None
    assert np.abs(followed - original).max() > 0.05
    new = play.bake(ob)
    play.toggle(ob)
    ob.hide_render = True
    scene.frame_set(20)
    baked = render(tmp_path, "baked")
    assert new.users_scene and baked[..., :3].std() > 0.01
    if blur:
        # The bake goes straight from frame to frame, live maps the pose between.
        assert np.abs(followed - baked).mean() < 0.02 * np.abs(followed - original).mean()
    else:
        assert np.abs(followed - baked).max() < 0.02 and np.abs(followed - baked).mean() < 1e-4
