"""Renders without a window while Transfer is live show the moved mesh: the pixels are those of the bake."""

import pytest

from tests import transfer_play as play
from tests.mesh_play import check_render, set_stage, still, three_frames


@pytest.mark.parametrize("blur", (False, True), ids=("sharp", "blurred"))
@pytest.mark.parametrize("render", (still, three_frames))
def test_a_render_is_that_of_the_bake(tmp_path, render, blur):
    ann, bob, new = play.add_trained()
    for ob in (ann, new):
        ob.hide_render = True
    set_stage((1.0, -9.0, 2.0), (1.55, 0.0, 0.0))
    check_render(play, bob, tmp_path, render, blur)
