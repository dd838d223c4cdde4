"""Points over time against points at each frame, and sources that changed since they were chosen."""

import json

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import point_source as points
from bl_ext.devrepo.motion_loom.solvers.core.errors import InputError, SceneError, StaleBindingError

from tests import map_scenes as scenes
from tests import rig_scenes
from tests.counting import steps_of
from tests.objects import add_object, edit, evaluate, handled, key, reopen

FRAMES = np.array([-2.0, 1.0, 2.5, 4.0, 7.0, 9.0, 9.75, 12.0, 15.0])


def track(source, frames=FRAMES):
    return scenes.run(points.point_track_steps(bpy.context, source, frames))[0]


def now(source):
    return points.points_now(source, evaluate())


def by_hand(source, frames=FRAMES):
    """(F, J, 3) in a shuffled order of frames."""
    scene, out = bpy.context.scene, {}
    for frame in np.random.default_rng(0).permutation(frames):
        whole = int(np.floor(frame))
        scene.frame_set(whole, subframe=float(frame - whole))
        out[frame] = now(source)
    return np.array([out[frame] for frame in frames])


def assert_agree(source):
    bpy.context.scene.frame_set(3, subframe=0.25)
    names, positions = track(source)
    assert bpy.context.scene.frame_current_final == 3.25
    assert positions.shape == (len(FRAMES), len(names), 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(points, "_by_curves", lambda *_arguments: None)
        np.testing.assert_allclose(positions, track(source)[1], atol=1e-5)
    np.testing.assert_allclose(positions, by_hand(source), atol=1e-5)
    return names, positions


def moving_rig(count=31):
    rig = rig_scenes.add_chain([f"bone {number}" for number in range(count)])
    rig_scenes.animate_at_random(rig, scale=False)
    rig.location, rig.rotation_euler, rig.scale = (1, 2, 3), (0.3, 0.2, 1), (1, -2, 0.5)
    return rig


def moving_empties(count=5):
    collection = bpy.data.collections.new("Markers")
    bpy.context.scene.collection.children.link(collection)
    for number in range(count):
        ob = add_object(f"Marker 骨 {number}", collection=collection)
        key(ob, "location", {frame: (number, frame, number * frame) for frame in (1, 9, 13)})
    return collection


def test_joints():
    rig = moving_rig(5)
    names, positions = assert_agree(points.joints_source(rig))
    assert names == (*(f"bone {k}" for k in range(5)), "bone 4/tail")
    bpy.context.scene.frame_set(4)
    seen = rig.evaluated_get(evaluate())
    head = seen.matrix_world @ seen.pose.bones["bone 3"].head
    tail = seen.matrix_world @ seen.pose.bones["bone 4"].tail
    np.testing.assert_allclose(positions[3, 3], head, atol=1e-5)
    np.testing.assert_allclose(positions[3, 5], tail, atol=1e-5)


def test_joints_of_a_rig_with_constraints_or_without_an_action():
    rig = moving_rig(4)
    rig.pose.bones["bone 1"].constraints.new("COPY_LOCATION").target = next(iter(moving_empties(1).objects))
    assert_agree(points.joints_source(rig))
    rig.animation_data_clear()
    assert_agree(points.joints_source(rig))


def test_objects():
    markers = moving_empties()
    markers.objects[1].parent = markers.objects[2]
    names, _ = assert_agree(points.objects_source(markers))
    assert names == tuple(ob.name for ob in markers.objects)
    markers.objects[0].constraints.new("COPY_LOCATION").target = markers.objects[4]
    assert_agree(points.objects_source(markers))


def test_hidden_objects_are_not_numbers():
    markers = moving_empties()
    markers.objects[3].hide_viewport = True
    _, positions = assert_agree(points.objects_source(markers))
    assert np.isnan(positions[:, 3]).all() and np.isfinite(np.delete(positions, 3, axis=1)).all()
    key(markers.objects[1], "hide_viewport", {1: False, 7: True, 12: False})
    _, positions = assert_agree(points.objects_source(markers))
    assert np.isnan(positions[:, 1]).all(axis=1).tolist() == [7 <= frame < 12 for frame in FRAMES]


def test_vertices():
    ob = scenes.add_strip()
    scenes.key_values(scenes.add_keys(ob))
    ob.scale, ob.rotation_euler = (1, -2, 0.5), (0.3, 0, 1)
    assert_agree(points.vertices_source(ob))
    ob.vertex_groups.new(name="some").add([3, 17, 5], 0.5, "REPLACE")
    names, positions = assert_agree(points.vertices_source(ob, "some"))
    assert names == ("vertex 3", "vertex 5", "vertex 17")
    np.testing.assert_allclose(positions, track(points.vertices_source(ob))[1][:, [3, 5, 17]], atol=1e-6)


def test_renamed_owners_and_bones_are_found():
    rig, markers = moving_rig(4), moving_empties()
    joints, objects = points.joints_source(rig), points.objects_source(markers)
    rig.name, rig.data.bones["bone 2"].name = "Other", 'odd "name"/tail'
    markers.objects[2].name = "Elsewhere"
    bpy.data.objects.new("Rig", None)
    assert_agree(joints)
    assert_agree(objects)


def test_records_survive_another_file(tmp_path):
    rig = moving_rig(4)
    source = points.joints_source(rig)
    _, before = track(source)
    record = json.loads(json.dumps(source.record()))
    rig.name = "Renamed"
    reopen(tmp_path)
    with pytest.raises(StaleBindingError, match="'Rig'"):
        points.from_record(record)
    again = points.from_record(record, [bpy.data.objects["Renamed"]])
    np.testing.assert_array_equal(track(again)[1], before)
    assert again.owners == ("Renamed",)


def refused(words, look, *args, error=InputError):
    with pytest.raises(error, match=words):
        look(*args)


def test_what_is_missing_is_named():
    rig, markers = moving_rig(4), moving_empties()
    joints, objects = points.joints_source(rig), points.objects_source(markers)
    edit(rig)
    rig.data.edit_bones.remove(rig.data.edit_bones["bone 2"])
    bpy.ops.object.mode_set(mode="OBJECT")
    refused("no bone 'bone 2'", now, joints, error=StaleBindingError)
    bpy.data.objects.remove(rig)
    refused("'Rig' of the source was deleted", now, joints, error=StaleBindingError)
    markers.objects.unlink(markers.objects[1])
    refused("'Marker 骨 1'", track, objects, error=StaleBindingError)


def test_refusals():
    rig, ob = moving_rig(4), scenes.add_strip()
    refused("no objects", points.objects_source, bpy.data.collections.new("Empty"))
    refused("choose a mesh", points.vertices_source, rig, error=SceneError)
    refused("no vertex group 'x'", points.vertices_source, ob, "x")
    ob.vertex_groups.new(name="x")
    refused("'x' of 'Strip' has no vertices", points.vertices_source, ob, "x")
    source = points.vertices_source(ob)
    ob.modifiers.new("Sub", "SUBSURF")
    refused("add or remove vertices", now, source)
    joints = points.joints_source(rig)
    refused("empty", track, joints, [])
    rig.hide_viewport = True
    refused("'Rig' is hidden", now, joints, error=SceneError)


@pytest.mark.parametrize("kind", ("joints", "objects"))
def test_now_looks_at_nothing_but_its_owners(kind):
    """Its cost does not grow with what else is in the file, and no frame is stepped to."""
    source = points.joints_source(moving_rig()) if kind == "joints" else points.objects_source(moving_empties(31))
    stepped = []

    def steps():
        now(source)  # Blender makes the objects of Python for what is looked at for the first time
        return steps_of(lambda: now(source))

    with handled(lambda *_: stepped.append(1), "frame_change_pre"):
        before = steps()
        for k in range(20):
            add_object(f"Other {k}")
        bpy.context.view_layer.update()
        assert steps() == before and not stepped
