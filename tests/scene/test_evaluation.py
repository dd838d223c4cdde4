"""What Blender does not evaluate has the state that it was left in: whoever reads it refuses it by its name."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene.mesh_sequence import key_poses
from bl_ext.devrepo.motion_loom.scene.point_source import objects_source, point_track_steps, points_now
from bl_ext.devrepo.motion_loom.scene.points import object_positions, still_place
from bl_ext.devrepo.motion_loom.scene.present import shape_now
from bl_ext.devrepo.motion_loom.solvers.core.errors import SceneError

from tests import map_scenes
from tests.mesh_scenes import read_state
from tests.objects import add_object, evaluate, into_collection, key

FRAMES = np.array([1.0, 2.0, 3.0])
UNSEEN = "'Prop' is hidden, excluded or not in this view layer"


def left_behind(ob, keyed=False):
    """An object of an excluded collection that the settings of another refer to, and that was moved since."""
    map_scenes.add_strip("User").motion_loom_map.source = ob
    ob.name = "Prop"
    into_collection(ob).exclude = True
    bpy.context.view_layer.update()
    if keyed:
        key(ob, "location", {frame: frame for frame in FRAMES}, index=0)
    ob.location.z = 5
    bpy.context.view_layer.update()
    return ob


def empty():
    return add_object("Prop")


@pytest.mark.parametrize("keyed", (False, True))
def test_a_position(keyed):
    ob = left_behind(empty(), keyed)
    with pytest.raises(SceneError, match=UNSEEN):
        object_positions(bpy.context, [ob], FRAMES)


def test_a_position_that_is_not_needed():
    ob = empty()
    key(ob, "hide_viewport", {1: True, 2: False})
    key(ob, "location", {1: 1, 2: 2}, index=0)
    with pytest.raises(SceneError, match=f"{UNSEEN} at frame 1"):
        object_positions(bpy.context, [ob], FRAMES)
    found = object_positions(bpy.context, [ob], FRAMES, np.array([[False, True, True]]))
    np.testing.assert_allclose(found[0, 1:, 0], 2.0)


def test_an_object_and_its_present_position():
    ob = left_behind(empty())
    assert still_place(ob, evaluate()) is None
    source = objects_source([ob])
    assert np.isnan(points_now(source, evaluate())).all()
    assert np.isnan(map_scenes.run(point_track_steps(bpy.context, source, FRAMES))[0][1]).all()


def test_a_surface():
    ob, depsgraph = left_behind(map_scenes.add_strip()), evaluate()
    assert shape_now(depsgraph, ob) is None
    with pytest.raises(SceneError, match=UNSEEN):
        read_state(depsgraph, [ob])


def test_a_mesh_whose_world_no_curve_tells():
    ob, parent = map_scenes.add_strip(), map_scenes.add_strip("Parent")
    map_scenes.add_keys(ob)
    ob.parent, ob.parent_type = parent, "VERTEX"
    left_behind(ob)
    with pytest.raises(SceneError, match=UNSEEN):
        key_poses(bpy.context, ob)
