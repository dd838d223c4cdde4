"""Renders without a window while Transfer is live show the moved mesh: the pixels are those of the bake."""

import bpy
import numpy as np
import pytest

from tests import transfer_play as play
from tests.mesh_play import set_stage, still, three_frames


@pytest.mark.parametrize("blur", (False, True), ids=("sharp", "blurred"))
@pytest.mark.parametrize("render", (still, three_frames))
def test_a_render_is_that_of_the_bake(tmp_path, render, blur):
    ann, bob, new = play.add_trained()
    for ob in (ann, new):
        ob.hide_render = True
    set_stage((1.0, -9.0, 2.0), (1.55, 0.0, 0.0))
    scene = bpy.context.scene
    scene.render.use_motion_blur, scene.render.motion_blur_shutter = blur, 1.0
    scene.frame_set(20)
    original = render(tmp_path, "original")
    play.toggle(bob)
    scene.frame_set(20)
    followed = render(tmp_path, "live")
    assert play.status(bob).problem is None
    assert np.abs(followed - original).max() > 0.05
    result = play.bake(bob)
    play.toggle(bob)
    bob.hide_render = True
    scene.frame_set(20)
    baked = render(tmp_path, "baked")
    assert result.users_scene and baked[..., :3].std() > 0.01
    if blur:
        # The bake goes straight from frame to frame, live transfers the pose between.
        assert np.abs(followed - baked).mean() < 0.02 * np.abs(followed - original).mean()
    else:
        assert np.abs(followed - baked).max() < 0.02 and np.abs(followed - baked).mean() < 1e-4
