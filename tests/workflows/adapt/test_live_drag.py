"""A drag in a window: single frames are shown over the track, until it is solved anew or the drag is taken back."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.workflows.core import live

from tests import adapt_scenes as scenes

STEP = 0.12
SAME = 1e-5  # curves and poses hold single precision


@pytest.fixture(autouse=True)
def interactive(monkeypatch):
    """No track is begun by itself: the pause never ends."""
    monkeypatch.setattr(live_runs, "at_once", False)


@pytest.fixture
def rig():
    """A live walker with a track in memory, in front of a step that was raised."""
    rig = scenes.add_scene()
    bpy.context.view_layer.objects.active = rig
    for name in ("Floor", "Step"):
        rig.motion_loom_adapt.surfaces.add().target = bpy.data.objects[name]
    assert bpy.ops.motion_loom.fit(workflow="adapt") == {"FINISHED"}
    assert bpy.ops.motion_loom.live(workflow="adapt") == {"FINISHED"}
    drag(STEP)
    assert bpy.ops.motion_loom.live_refresh(workflow="adapt") == {"FINISHED"}
    bpy.context.scene.frame_set(20)
    return rig


def drag(height):
    """One step of it: the step goes up by a height."""
    bpy.data.objects["Step"].location.z += height
    bpy.context.view_layer.update()


def place(height):
    bpy.data.objects["Step"].location.z = height
    bpy.context.view_layer.update()


def status(rig):
    return live.status(rig, "adapt")


def shown(rig):
    """Heads (B, 3) of what is shown, without another frame."""
    evaluated = rig.evaluated_get(bpy.context.view_layer.depsgraph)
    return np.array([rig.matrix_world @ bone.head for bone in evaluated.pose.bones])


def test_the_pose_comes_back_with_what_was_dragged(rig):
    before, stamp = shown(rig), rig.animation_data.action.motion_loom_adapt.stamp
    place(STEP + 0.1)
    assert status(rig).track == "WAITING" and np.abs(shown(rig) - before).max() > 0.05
    place(STEP)
    assert status(rig).track == "READY"
    assert np.abs(shown(rig) - before).max() < SAME
    assert rig.animation_data.action.motion_loom_adapt.stamp == stamp


def test_between_frames_as_well(rig):
    bpy.context.scene.frame_set(20, subframe=0.4)
    before = shown(rig)
    place(STEP + 0.1)
    assert np.abs(shown(rig) - before).max() > 0.05
    place(STEP)
    assert np.abs(shown(rig) - before).max() < SAME


def test_after_a_problem_as_well(rig):
    """What is shown stands still while nothing can be followed."""
    before, step = shown(rig), bpy.data.objects["Step"]
    place(STEP + 0.1)
    step.hide_viewport = True
    place(STEP)
    assert status(rig).problem is not None
    step.hide_viewport = False
    bpy.context.view_layer.update()
    assert status(rig).problem is None and status(rig).track == "READY"
    assert np.abs(shown(rig) - before).max() < SAME


def test_a_choice_is_taken_back(rig):
    before, settings = shown(rig), rig.motion_loom_adapt
    for name, value in (("influence", 0.2), ("orientation", 0.0)):
        old = getattr(settings, name)
        setattr(settings, name, value)
        bpy.context.view_layer.update()
        assert status(rig).track == "WAITING"
        setattr(settings, name, old)
        bpy.context.view_layer.update()
        assert status(rig).track == "READY"
        assert np.abs(shown(rig) - before).max() < SAME, name


def test_a_pose_by_hand_is_left_alone(rig):
    """Nothing was shown over the track, so that nothing is to be taken back."""
    rig.pose.bones["knee.R"].rotation_quaternion.x += 0.3
    bpy.context.view_layer.update()
    posed = shown(rig)
    bpy.context.view_layer.update()
    rig.update_tag()
    bpy.context.view_layer.update()
    assert np.array_equal(shown(rig), posed)


def test_after_another_frame_nothing_is_shown_again(rig):
    place(STEP + 0.1)
    bpy.context.scene.frame_set(12)
    place(STEP)
    before = shown(rig)
    bpy.context.scene.frame_set(12)
    assert np.abs(shown(rig) - before).max() < SAME
