"""An influence that a driver tells: each frame has its own, and only stepping through the frames tells them all."""

import json

import bpy
import numpy as np
import pytest

from tests import adapt_play as play
from tests.adapt_play import STEP, at, lift, live_is_bake, needs_refresh, press, ready_at_all_frames, settle, status
from tests.adapt_scenes import joints_of
from tests.objects import add_object, drive, drive_by, key_custom

pytestmark = pytest.mark.usefixtures("both_ways")

INFLUENCE = "motion_loom_adapt.influence"


def by_property(rig):
    """The influence is a handle's property."""
    handle = bpy.data.objects.get("Handle") or add_object("Handle")
    handle["share"] = handle.get("share", 0.5)
    drive_by(rig, INFLUENCE, handle, "share")


def by_keyed_property(rig):
    key_custom(add_object("Handle"), "share", {6: 0.0, 18: 1.0})
    by_property(rig)


def by_frame(rig):
    drive(rig, INFLUENCE, "frame / 24")


DRIVERS = [by_property, by_keyed_property, by_frame]


def share(value):
    handle = bpy.data.objects["Handle"]
    handle["share"] = value
    handle.update_tag()
    settle()


@pytest.mark.parametrize("drive", DRIVERS)
def test_a_driven_influence_is_followed_after_one_refresh(bound, drive, tmp_path):
    """A change of the set takes the influence that each frame has, not the present one for all."""
    press(bound)
    lift()
    whole = joints_of(bound)
    drive(bound)
    at(12)
    assert needs_refresh(bound) and status(bound).note.startswith("A driver tells the influence")
    press(bound, "live_refresh")
    ready_at_all_frames(bound)
    assert np.abs(joints_of(bound) - whole)[11].max() > 0.2 * STEP
    at(12)
    lift(0.04)
    ready_at_all_frames(bound)
    rig = play.reopen(tmp_path / "live.blend")
    ready_at_all_frames(rig)
    at(12)
    lift(0.04)
    live_is_bake(rig)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_what_drives_it_is_changed(bound, value):
    original = joints_of(bound)
    by_property(bound)
    press(bound)
    lift()
    half = joints_of(bound)
    at(20)
    share(value)
    assert needs_refresh(bound)
    here = joints_of(bound, [20])[0]
    if value == 0.0:
        assert np.abs(here - original[19]).max() < 1e-5
    else:
        assert np.abs(here - original[19]).max() > 1.5 * np.abs(half[19] - original[19]).max()
    # Nothing is written that takes the present value for all frames.
    lift(0.02)
    assert needs_refresh(bound)
    lift(-0.02)
    share(0.5)
    assert play.is_ready(bound)
    np.testing.assert_allclose(joints_of(bound), half, atol=play.SAME)
    at(20)
    share(value)
    press(bound, "live_refresh")
    np.testing.assert_allclose(live_is_bake(bound)[19], here, atol=1e-5)


@pytest.mark.parametrize("end", ["removed", "muted"])
@pytest.mark.parametrize("drive", DRIVERS)
def test_the_driver_goes(bound, drive, end):
    drive(bound)
    press(bound)
    lift()
    at(20)
    if end == "removed":
        bound.driver_remove(INFLUENCE)
    else:
        bound.animation_data.drivers[0].mute = True
    bound.motion_loom_adapt.influence = 0.25
    settle()
    if status(bound).track == "SWEEP":
        press(bound, "live_refresh")
    ready_at_all_frames(bound)
    live_is_bake(bound)


def test_other_frames_are_bound(bound):
    by_frame(bound)
    press(bound)
    lift()
    settings = bound.motion_loom_adapt
    settings.use_range, settings.start, settings.end = True, 6, 18
    lift(-STEP)
    press(bound, "fit")
    lift()
    at(12)
    assert needs_refresh(bound), status(bound)
    press(bound, "live_refresh")
    live_is_bake(bound)


def test_a_file_that_kept_no_values_asks_for_a_refresh(bound, tmp_path):
    by_frame(bound)
    press(bound)
    lift()
    notes = bound.motion_loom_adapt.live_action.motion_loom_adapt
    notes.stamp = json.dumps(json.loads(notes.stamp)[:-1])
    rig = play.reopen(tmp_path / "live.blend")
    at(12)
    assert needs_refresh(rig)
    press(rig, "live_refresh")
    live_is_bake(rig)
