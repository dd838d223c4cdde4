"""What Blender does not evaluate has the state that it was left in: whoever reads it refuses it by its name."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene.mesh_sequence import key_poses
from bl_ext.devrepo.motion_loom.scene.meshes import read_state
from bl_ext.devrepo.motion_loom.scene.point_source import objects_source, point_track_steps, points_now
from bl_ext.devrepo.motion_loom.scene.points import object_positions, still_place
from bl_ext.devrepo.motion_loom.scene.present import shape_now
from bl_ext.devrepo.motion_loom.scene.sampling import sample_frames
from bl_ext.devrepo.motion_loom.solvers.core.errors import SceneError

from tests import map_scenes, rig_scenes

FRAMES = np.array([1.0, 2.0, 3.0])
UNSEEN = "'Prop' is hidden, excluded or not in this view layer"


def left_behind(ob, keyed=False):
    """An object of an excluded collection that the settings of another refer to, and that was moved since."""
    props, user = bpy.data.collections.new("Props"), map_scenes.add_strip("User")
    bpy.context.scene.collection.children.link(props)
    for collection in ob.users_collection:
        collection.objects.unlink(ob)
    props.objects.link(ob)
    ob.name = "Prop"
    user.motion_loom_map.source = ob
    bpy.context.view_layer.update()
    bpy.context.view_layer.layer_collection.children["Props"].exclude = True
    bpy.context.view_layer.update()
    for frame in FRAMES if keyed else ():
        ob.location.x = frame
        ob.keyframe_insert("location", frame=frame)
    ob.location.z = 5
    bpy.context.view_layer.update()
    return ob


def empty():
    ob = bpy.data.objects.new("Prop", None)
    bpy.context.scene.collection.objects.link(ob)
    return ob


@pytest.mark.parametrize("keyed", (False, True))
def test_a_position(keyed):
    ob = left_behind(empty(), keyed)
    with pytest.raises(SceneError, match=UNSEEN):
        object_positions(bpy.context, [ob], FRAMES)


def test_a_position_that_is_not_needed():
    ob = empty()
    for frame, hidden in ((1, True), (2, False)):
        ob.hide_viewport, ob.location.x = hidden, frame
        ob.keyframe_insert("hide_viewport", frame=frame)
        ob.keyframe_insert("location", frame=frame)
    with pytest.raises(SceneError, match=f"{UNSEEN} at frame 1"):
        object_positions(bpy.context, [ob], FRAMES)
    found = object_positions(bpy.context, [ob], FRAMES, np.array([[False, True, True]]))
    np.testing.assert_allclose(found[0, 1:, 0], 2.0)


def test_the_present_position():
    assert still_place(left_behind(empty()), bpy.context.evaluated_depsgraph_get()) is None


def test_an_object_as_a_point():
    source = objects_source([left_behind(empty())])
    assert np.isnan(points_now(source, bpy.context.evaluated_depsgraph_get())).all()
    assert np.isnan(map_scenes.run(point_track_steps(bpy.context, source, FRAMES))[0][1]).all()


def test_a_rig():
    ob = left_behind(rig_scenes.add_chain(("one", "two")))
    with pytest.raises(SceneError, match=f"{UNSEEN} at frame 1"):
        sample_frames(bpy.context, ob, ("one", "two"), FRAMES)


def test_a_surface():
    ob, depsgraph = left_behind(map_scenes.add_strip()), bpy.context.evaluated_depsgraph_get()
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
