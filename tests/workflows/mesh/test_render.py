"""Renders without a window while a mesh is live show the moved mesh: the pixels are those of the bake."""

import bpy
import pytest

from tests.map_play import MAP
from tests.mesh_play import check_render, set_stage, still, three_frames


@pytest.mark.parametrize("blur", (False, True), ids=("sharp", "blurred"))
@pytest.mark.parametrize("render", (still, three_frames))
def test_a_render_is_that_of_the_bake(tmp_path, play, ready, render, blur):
    if play is MAP:
        set_stage((4.0, -0.7, 0.6), (1.45, 0.0, 1.5708))
    else:
        bpy.data.objects["Ann"].hide_render = bpy.data.objects["Ann Again"].hide_render = True
        set_stage((1.0, -9.0, 2.0), (1.55, 0.0, 0.0))
    check_render(play, ready, tmp_path, render, blur)
