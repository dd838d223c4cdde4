"""Renders without a window while Map is live show the moved mesh: the pixels are those of the bake."""

import pytest

from tests import map_play as play
from tests.mesh_play import check_render, set_stage, still, three_frames


@pytest.mark.parametrize("blur", (False, True), ids=("sharp", "blurred"))
@pytest.mark.parametrize("render", (still, three_frames))
def test_a_render_is_that_of_the_bake(tmp_path, render, blur):
    ob = play.add_ready()
    set_stage((4.0, -0.7, 0.6), (1.45, 0.0, 1.5708))
    check_render(play, ob, tmp_path, render, blur)
