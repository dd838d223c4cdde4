"""World positions of objects over a range of frames."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.scene.points import object_positions
from bl_ext.devrepo.motion_loom.solvers.core.errors import SceneError

from tests.objects import add_object, key

FRAMES = np.array([1.0, 2.5, 5.0])


def add_empty(name, place=(0, 0, 0), parent=None):
    ob = add_object(name, parent=parent)
    ob.location = place
    return ob


def slide(ob):
    key(ob, "location", {1: (0, 0, 0), 5: (4, 0, 0)})
    for curve in actions.all_curves(*actions.assigned(ob)):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


def test_still_moving_and_carried_objects():
    still, moving = add_empty("Still", (1, 2, 3)), add_empty("Moving")
    slide(moving)
    carried = add_empty("Carried", (0, 1, 0), moving)
    follower = add_empty("Follower")
    follower.constraints.new("COPY_LOCATION").target = moving
    bpy.context.scene.frame_set(3, subframe=0.5)
    found = object_positions(bpy.context, [still, moving, carried, follower], FRAMES)
    x = np.array([0.0, 1.5, 4.0])
    np.testing.assert_allclose(found[0], np.tile([1, 2, 3], (3, 1)), atol=1e-6)
    for row, y in ((1, 0), (2, 1), (3, 0)):
        np.testing.assert_allclose(found[row], np.stack([x, 0 * x + y, 0 * x], axis=1), atol=1e-6)
    assert (bpy.context.scene.frame_current, bpy.context.scene.frame_subframe) == (3, 0.5)


def test_the_present_place_of_an_object_that_was_just_moved_and_one_that_is_not_updated():
    ob = add_empty("Target")
    bpy.context.view_layer.update()
    ob.location = (4, 5, 6)
    np.testing.assert_allclose(object_positions(bpy.context, [ob], FRAMES)[0], np.tile([4, 5, 6], (3, 1)))
    assert object_positions(bpy.context, [], FRAMES).shape == (0, 3, 3)
    ob.hide_viewport = True
    with pytest.raises(SceneError, match="'Target' is hidden, excluded or not in this view layer"):
        object_positions(bpy.context, [ob], FRAMES)
