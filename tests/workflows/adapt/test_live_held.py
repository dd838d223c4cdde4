"""What constraints of the bound rig hold to is moved: another motion, which only stepping through the frames tells."""

import bpy
import numpy as np
import pytest

from tests import adapt_scenes as scenes
from tests.workflows.adapt.test_live_drivers import at, lift, live_is_bake, press, ready_at_all_frames, settle, status

pytestmark = pytest.mark.usefixtures("both_ways")

MOVED = "What constraints of 'Rig' hold to was moved"


@pytest.fixture
def rig():
    """A live walker whose left hand reaches for an object that stands still."""
    rig = scenes.add_scene()
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = 0.5, 0.3, 1.1
    ik = rig.pose.bones["elbow.L"].constraints.new("IK")
    ik.target, ik.chain_count = target, 2
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = rig
    for name in ("Floor", "Step"):
        rig.motion_loom_adapt.surfaces.add().target = bpy.data.objects[name]
    press("fit")
    press("live")
    return rig


def move(by):
    bpy.data.objects["Target"].location.z += by
    settle()


def test_it_is_noticed_and_explained(rig):
    lift(0.1)
    ready_at_all_frames(rig)
    before = scenes.joints_of(rig)
    at(12)
    move(0.2)
    for frame in (12, 3):
        at(frame)
        assert status(rig).track == "SWEEP" and status(rig).note == MOVED and status(rig).problem is None
    with pytest.raises(RuntimeError, match="bone 'elbow.L' has constraints: undo what changed there, or bind again"):
        press("live_refresh")
    move(-0.2)
    ready_at_all_frames(rig)
    assert status(rig).note is None
    np.testing.assert_allclose(scenes.joints_of(rig), before, atol=1e-6)


def test_bound_again_it_is_followed(rig):
    move(0.2)
    assert status(rig).note == MOVED
    press("fit")
    settle()
    assert status(rig).note is None
    lift(0.1)
    ready_at_all_frames(rig)
    live_is_bake(rig)


def test_what_hardly_moves_the_rig_is_taken_over_by_a_refresh(rig):
    move(1e-4)
    assert status(rig).track == "SWEEP"
    press("live_refresh")
    ready_at_all_frames(rig)
    lift(0.1)
    live_is_bake(rig)


def test_it_is_known_after_the_file_was_opened(rig, tmp_path):
    path = str(tmp_path / "live.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rig = bpy.data.objects["Rig"]
    ready_at_all_frames(rig)
    move(0.2)
    assert status(rig).note == MOVED
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rig = bpy.data.objects["Rig"]
    at(12)
    assert status(rig).note == MOVED
