"""Animations without a window while a mesh is live show the moved mesh: the pixels are those of the bake."""

import bpy
import numpy as np
import pytest

from tests.map_play import MAP
from tests.mesh_play import set_stage, three_frames


@pytest.mark.parametrize("blur", (False, True), ids=("sharp", "blurred"))
def test_a_render_is_that_of_the_bake(tmp_path, play, ready, blur):
    if play is MAP:
        set_stage((4.0, -0.7, 0.6), (1.45, 0.0, 1.5708))
    else:
        bpy.data.objects["Ann"].hide_render = bpy.data.objects["Ann Again"].hide_render = True
        set_stage((1.0, -9.0, 2.0), (1.55, 0.0, 0.0))
    render = bpy.context.scene.render
    render.use_motion_blur, render.motion_blur_shutter = blur, 1.0
    original = three_frames(tmp_path, "original")
    play.toggle(ready)
    followed = three_frames(tmp_path, "live")
    assert play.status(ready).problem is None and np.abs(followed - original).max() > 0.05
    play.bake(ready)
    play.toggle(ready)
    ready.hide_render = True
    baked = three_frames(tmp_path, "baked")
    assert baked[..., :3].std() > 0.01
    if blur:
        # The bake goes straight from frame to frame, live has the pose between.
        assert np.abs(followed - baked).mean() < 0.025 * np.abs(followed - original).mean()
    else:
        assert np.abs(followed - baked).max() < 0.02 and np.abs(followed - baked).mean() < 1e-4
