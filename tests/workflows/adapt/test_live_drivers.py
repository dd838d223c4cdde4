"""An influence that a driver tells: each frame has its own, and only stepping through the frames tells them all."""

import json

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.workflows.core import live

from tests import adapt_scenes as scenes

pytestmark = pytest.mark.usefixtures("both_ways")

PATH = "motion_loom_adapt.influence"
STEP = 0.12
SAME = 1e-6


@pytest.fixture
def rig():
    """A bound walker and an object whose property is to drive."""
    rig = scenes.add_scene()
    bpy.context.view_layer.objects.active = rig
    for name in ("Floor", "Step"):
        rig.motion_loom_adapt.surfaces.add().target = bpy.data.objects[name]
    assert bpy.ops.motion_loom.fit(workflow="adapt") == {"FINISHED"}
    handle = bpy.data.objects.new("Handle", None)
    bpy.context.scene.collection.objects.link(handle)
    handle["share"] = 0.5
    return rig


def by_property(rig):
    """The influence is the handle's property."""
    driver = rig.driver_add(PATH).driver
    variable = driver.variables.new()
    variable.name = "share"
    variable.targets[0].id, variable.targets[0].data_path = bpy.data.objects["Handle"], '["share"]'
    driver.expression = "share"


def by_keyed_property(rig):
    handle = bpy.data.objects["Handle"]
    for frame, value in ((6, 0.0), (18, 1.0)):
        handle["share"] = value
        handle.keyframe_insert('["share"]', frame=frame)
    by_property(rig)


def by_frame(rig):
    rig.driver_add(PATH).driver.expression = "frame / 24"


DRIVERS = [by_property, by_keyed_property, by_frame]


def press(button):
    assert getattr(bpy.ops.motion_loom, button)(workflow="adapt") == {"FINISHED"}


def status(rig):
    return live.status(rig, "adapt")


def settle():
    layer = bpy.context.view_layer
    layer.update()
    while live._tick() is not None:
        for run in live_runs.runs.values():
            if run.job is not None:
                run.job.wait()
    layer.update()


def lift(height=STEP):
    bpy.data.objects["Step"].location.z += height
    settle()


def share(value):
    handle = bpy.data.objects["Handle"]
    handle["share"] = value
    handle.update_tag()
    settle()


def at(frame):
    bpy.context.scene.frame_set(frame)
    settle()


def live_is_bake(rig):
    assert status(rig).track == "READY" and status(rig).problem is None, status(rig)
    followed = scenes.joints_of(rig)
    press("bake")
    np.testing.assert_allclose(scenes.joints_of(rig), followed, atol=SAME)
    return followed


def ready_at_all_frames(rig):
    for frame in (1, 7, 12, 24, 30):
        at(frame)
        assert status(rig).track == "READY", (frame, status(rig))


@pytest.mark.parametrize("drive", DRIVERS)
def test_a_driven_influence_is_followed_after_one_refresh(rig, drive):
    press("live")
    lift()
    whole = scenes.joints_of(rig)
    drive(rig)
    at(12)
    assert status(rig).track == "SWEEP"
    press("live_refresh")
    ready_at_all_frames(rig)
    assert np.abs(scenes.joints_of(rig) - whole)[11].max() > 0.2 * STEP
    at(12)
    # A change of the set takes the influence that each frame has, not the present one for all.
    lift(0.04)
    ready_at_all_frames(rig)
    at(12)
    live_is_bake(rig)


@pytest.mark.parametrize("drive", DRIVERS)
def test_it_is_known_after_the_file_was_opened(rig, drive, tmp_path):
    drive(rig)
    press("live")
    lift()
    path = str(tmp_path / "live.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rig = bpy.data.objects["Rig"]
    ready_at_all_frames(rig)
    lift(0.04)
    live_is_bake(rig)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_what_drives_it_is_changed(rig, value):
    original = scenes.joints_of(rig)
    by_property(rig)
    press("live")
    lift()
    half = scenes.joints_of(rig)
    at(20)
    share(value)
    assert status(rig).track == "SWEEP" and status(rig).remedy == "REFRESH"
    here = scenes.joints_of(rig, np.array([20]))[0]
    if value == 0.0:
        assert np.abs(here - original[19]).max() < 1e-5
    else:
        assert np.abs(here - original[19]).max() > 1.5 * np.abs(half[19] - original[19]).max()
    # Nothing is written that takes the present value for all frames.
    lift(0.02)
    assert status(rig).track == "SWEEP"
    lift(-0.02)
    press("live_refresh")
    refreshed = live_is_bake(rig)
    np.testing.assert_allclose(refreshed[19], here, atol=1e-5)


def test_a_small_change_back(rig):
    by_property(rig)
    press("live")
    lift()
    before = scenes.joints_of(rig)
    at(20)
    share(0.8)
    assert status(rig).track == "SWEEP"
    share(0.5)
    assert status(rig).track == "READY"
    np.testing.assert_allclose(scenes.joints_of(rig), before, atol=SAME)


@pytest.mark.parametrize("end", ["removed", "muted"])
@pytest.mark.parametrize("drive", DRIVERS)
def test_the_driver_goes(rig, drive, end):
    drive(rig)
    press("live")
    lift()
    at(20)
    if end == "removed":
        rig.driver_remove(PATH)
    else:
        rig.animation_data.drivers[0].mute = True
    rig.motion_loom_adapt.influence = 0.25
    settle()
    if status(rig).track == "SWEEP":
        press("live_refresh")
    ready_at_all_frames(rig)
    live_is_bake(rig)


def test_other_frames_are_bound(rig):
    by_frame(rig)
    press("live")
    lift()
    settings = rig.motion_loom_adapt
    settings.use_range, settings.start, settings.end = True, 6, 18
    lift(-STEP)
    press("fit")
    lift()
    at(12)
    assert status(rig).track == "SWEEP" and status(rig).remedy == "REFRESH", status(rig)
    press("live_refresh")
    live_is_bake(rig)


def test_a_file_that_kept_no_values_asks_for_a_refresh(rig, tmp_path):
    by_frame(rig)
    press("live")
    lift()
    notes = rig.motion_loom_adapt.live_action.motion_loom_adapt
    notes.stamp = json.dumps(json.loads(notes.stamp)[:-1])
    path = str(tmp_path / "live.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rig = bpy.data.objects["Rig"]
    at(12)
    assert status(rig).track == "SWEEP" and status(rig).problem is None
    press("live_refresh")
    live_is_bake(rig)
