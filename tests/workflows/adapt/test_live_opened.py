"""A file in which something is live and has a problem: the panel says so once Blender has evaluated it, no frame later.

Without a window, where no timer fires, what the timer calls is called here.
"""

import bpy
import pytest
from bl_ext.devrepo.motion_loom import handlers
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.workflows.core import live

from tests import adapt_play, adapt_scenes, map_play, mesh_steps, transfer_play

pytestmark = [pytest.mark.usefixtures("silent"), pytest.mark.versions]


@pytest.fixture(autouse=True)
def interactive(monkeypatch):
    monkeypatch.setattr(live_runs, "at_once", False)


def adapted():
    rig = adapt_play.bind(adapt_scenes.add_scene())
    adapt_play.press(rig)
    return rig


# What makes it live, and something that it cannot do without.
KINDS = {
    "adapt": (adapted, lambda rig: rig.motion_loom_adapt.surfaces[1].target),
    "map": (map_play.add_live, lambda ob: ob.motion_loom_map.live_copy),
    "transfer": (lambda: transfer_play.add_live()[1], lambda ob: ob.motion_loom_transfer.performed),
}


def opened(ob, tmp_path):
    return adapt_play.reopen(tmp_path / "live.blend", ob.name)


def is_awaited():
    return bpy.app.timers.is_registered(live._look)


def fired():
    """As Blender does with a timer that is due."""
    if is_awaited():
        bpy.app.timers.unregister(live._look)
        assert live._look() is None


@pytest.mark.parametrize("workflow", KINDS)
def test_a_problem_is_told_without_another_frame(tmp_path, workflow):
    make, needed = KINDS[workflow]
    ob = make()
    for held in needed(ob).users_collection:
        held.objects.unlink(needed(ob))
    needed(ob).use_fake_user = True
    problem = mesh_steps.problem(ob, workflow)
    ob = opened(ob, tmp_path)
    assert live.status(ob, workflow).problem is None
    fired()
    assert live.status(ob, workflow).problem == problem and problem is not None
    assert not is_awaited()


@pytest.mark.parametrize("workflow", KINDS)
def test_what_has_none_is_shown_as_it_was(tmp_path, workflow):
    make, _ = KINDS[workflow]
    ob = opened(make(), tmp_path)
    fired()
    found = live.status(ob, workflow)
    # A rig's track is in its action; what a drag needs of it is solved beforehand.
    assert found.problem is None and found.track == ("WAITING" if workflow == "adapt" else "READY")
    assert found.ms is not None


def test_nothing_is_awaited_where_nothing_is_live(tmp_path):
    rig = adapted()
    map_play.press("live", workflow="adapt")
    opened(rig, tmp_path)
    assert not is_awaited()


def test_another_file_and_the_end_of_the_extension_end_it(tmp_path):
    opened(adapted(), tmp_path)
    assert is_awaited()
    bpy.ops.wm.read_homefile(use_empty=True)
    assert not is_awaited()
    opened(adapted(), tmp_path)
    assert is_awaited()
    handlers.unregister()
    try:
        assert not is_awaited()
    finally:
        handlers.register()
