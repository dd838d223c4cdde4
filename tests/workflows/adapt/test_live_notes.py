"""What the status says beside the state of the track: why a refresh is needed, and what the frames outside do."""

import bpy
import pytest
from bl_ext.devrepo.motion_loom.scene import actions

from tests import adapt_scenes as scenes
from tests.rig_scenes import add_strip
from tests.workflows.adapt.test_live_drivers import at, by_frame, lift, press, status

pytestmark = pytest.mark.usefixtures("both_ways")


def bound(**kind):
    """A bound walker."""
    rig = scenes.add_scene(**kind)
    bpy.context.view_layer.objects.active = rig
    for name in ("Floor", "Step"):
        rig.motion_loom_adapt.surfaces.add().target = bpy.data.objects[name]
    press("fit")
    return rig


@pytest.fixture
def rig():
    rig = bound()
    press("live")
    return rig


def test_a_script_that_acts_on_frame_changes_is_named(rig):
    lift(0.1)
    assert status(rig).note is None

    def foreign(_scene, _depsgraph):
        """It does nothing, which nobody can know."""

    foreign.__module__ = "some_addon.physics"
    bpy.app.handlers.frame_change_post.append(foreign)
    try:
        lift(0.02)
        assert status(rig).track == "SWEEP"
        assert status(rig).note == "The script 'some_addon.physics' acts on frame changes"
        press("live_refresh")
        assert status(rig).track == "READY" and status(rig).note is None
    finally:
        bpy.app.handlers.frame_change_post.remove(foreign)
    lift(0.02)
    assert status(rig).track == "READY" and status(rig).note is None


def test_what_deforms_is_named(rig):
    step = bpy.data.objects["Step"]
    step.shape_key_add(name="Basis")
    key = step.shape_key_add(name="High")
    key.value = 1.0
    key.keyframe_insert("value", frame=1)
    lift(0.1)
    assert status(rig).track == "SWEEP" and status(rig).note == "'Step' deforms, or moves by more than keys"


def test_a_driver_of_the_influence_is_named(rig):
    by_frame(rig)
    at(12)
    assert status(rig).track == "SWEEP" and status(rig).note == "A driver tells the influence"


def test_a_source_that_is_sampled_from_now_on_is_named(rig):
    rig["mood"] = 0.0
    rig.driver_add('["mood"]').driver.expression = "frame"
    lift(0.1)
    assert status(rig).track == "SWEEP" and status(rig).note == "The keys of 'Rig' do not tell its motion"
    press("live_refresh")
    assert status(rig).note is None


HELD = "Frames outside 6 to 18 hold the pose of the nearest one"


def bound_in_part(rig):
    settings = rig.motion_loom_adapt
    settings.use_range, settings.start, settings.end = True, 6, 18
    press("fit")
    press("live")


def test_frames_outside_of_those_that_are_bound_are_said_to_hold_still(rig):
    press("live")
    bound_in_part(rig)
    assert status(rig).note is None  # nothing has changed: the source plays on
    lift(0.1)
    assert status(rig).track == "READY" and status(rig).note == HELD
    lift(-0.1)
    assert status(rig).note is None
    lift(0.1)
    by_frame(rig)
    at(12)
    assert status(rig).note == f"A driver tells the influence. {HELD}"


def test_the_same_of_strips_alone():
    rig = scenes.add_scene()
    add_strip(rig, *actions.assigned(rig), 1)
    rig.animation_data.action = None
    bpy.context.view_layer.objects.active = rig
    for name in ("Floor", "Step"):
        rig.motion_loom_adapt.surfaces.add().target = bpy.data.objects[name]
    bound_in_part(rig)
    lift(0.1)
    assert status(rig).track == "READY" and status(rig).note == HELD


def test_a_range_between_whole_frames_is_no_part(rig):
    """Keys begin and end where they like; whole frames are bound."""
    press("live")
    for curve in actions.all_curves(*actions.assigned(rig)):
        for key in curve.keyframe_points:
            key.co.x += 0.4
        curve.update()
    press("fit")
    press("live")
    lift(0.1)
    assert status(rig).track == "READY" and status(rig).note is None
