"""A drag in a window: single frames are shown over the track, until it is solved anew or the drag is taken back."""

import bpy
import numpy as np
import pytest

from tests.adapt_play import STEP, interactive, press, status
from tests.adapt_scenes import raise_step

SAME = 1e-5  # curves and poses hold single precision


@pytest.fixture
def rig(bound):
    """A live walker with a track in memory, in front of a step that was raised; no other track begins by itself."""
    with interactive():
        press(bound)
        raise_step(STEP)
        press(bound, "live_refresh")
        bpy.context.scene.frame_set(20)
        yield bound


def place(height):
    bpy.data.objects["Step"].location.z = height
    bpy.context.view_layer.update()


def choose(rig, name, value):
    setattr(rig.motion_loom_adapt, name, value)
    bpy.context.view_layer.update()


def shown(rig):
    """Heads (B, 3) of what is shown, without another frame."""
    evaluated = rig.evaluated_get(bpy.context.view_layer.depsgraph)
    return np.array([rig.matrix_world @ bone.head for bone in evaluated.pose.bones])


DRAGS = {
    "step": (lambda rig: place(STEP + 0.1), lambda rig: place(STEP)),
    "influence": (lambda rig: choose(rig, "influence", 0.2), lambda rig: choose(rig, "influence", 1.0)),
    "orientation": (lambda rig: choose(rig, "orientation", 0.0), lambda rig: choose(rig, "orientation", 1.0)),
}


@pytest.mark.parametrize("subframe", [0.0, 0.4])
@pytest.mark.parametrize("what", DRAGS)
def test_the_pose_comes_back_with_what_was_dragged(rig, what, subframe):
    bpy.context.scene.frame_set(20, subframe=subframe)
    before, stamp = shown(rig), rig.animation_data.action.motion_loom_adapt.stamp
    away, back = DRAGS[what]
    away(rig)
    assert status(rig).track == "WAITING" and np.abs(shown(rig) - before).max() > (0.05 if what == "step" else 0.0)
    back(rig)
    assert status(rig).track == "READY"
    assert np.abs(shown(rig) - before).max() < SAME
    assert rig.animation_data.action.motion_loom_adapt.stamp == stamp


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
