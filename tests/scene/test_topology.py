"""Triangles that were bound hold until the faces change, and what changed is told."""

import bmesh
import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import topology
from bl_ext.devrepo.motion_loom.solvers.core.types import TriangleMesh

from tests.map_scenes import add_mesh
from tests.mesh_scenes import FRAMES, add_sea, key_location, live, read, volume
from tests.objects import add_box, add_shape, evaluate


def explain(before, after):
    return topology.explain_change("Box", *(topology.fingerprint(mesh) for mesh in (before, after)))


def test_track_and_live_state_agree():
    sea = add_sea((12, 7))
    key_location(sea)
    (track,) = read(sea)
    for index, frame in enumerate(FRAMES):
        bpy.context.scene.frame_set(int(frame))
        (state,) = live(sea)
        assert np.array_equal(state.vertices, track.state(index).vertices)
        assert np.array_equal(state.triangles, track.triangles)
        assert topology.fingerprint(state) == topology.fingerprint(track)


def test_changes_are_explained_and_only_those_of_topology():
    box = add_box()
    (before,) = read(box)
    box.location, box.scale = (1, 2, 3), (4, 5, 6)
    box.data.vertices[0].co.x += 0.25
    (moved,) = read(box)
    assert topology.fingerprint(before) == topology.fingerprint(moved) and explain(before, moved) == ""
    box.modifiers.new("Bevel", "BEVEL")
    assert explain(before, read(box)[0]) == "'Box' had 8 vertices at bind, 24 now."
    box.modifiers.clear()
    box.scale.x = -1
    assert "mirrored" in explain(before, read(box)[0])
    fewer = TriangleMesh("Box", before.vertices[0], before.triangles[1:])
    assert explain(before, fewer) == "'Box' had 12 triangles at bind, 11 now."
    other = TriangleMesh("Box", before.vertices[0], (before.triangles + 1) % 8)
    assert "connected differently" in explain(before, other)


def test_fingerprint_does_not_depend_on_the_session():
    triangle = TriangleMesh("T", np.zeros((3, 3)), np.array([[0, 1, 2]]))
    assert topology.fingerprint(triangle) == "3:1:99a5826197698e6d:99a5826197698e6d"


def test_faces_are_those_that_blender_lists():
    mesh, builder = bpy.data.meshes.new("Drums"), bmesh.new()
    for segments in (3, 4, 5, 17):
        bmesh.ops.create_cone(builder, segments=segments, radius1=1, radius2=1, depth=1, cap_ends=True)
    builder.to_mesh(mesh)
    builder.free()
    faces = topology.read_faces(mesh)
    np.testing.assert_array_equal(faces.starts, [face.loop_start for face in mesh.polygons])
    np.testing.assert_array_equal(faces.corners, [loop.vertex_index for loop in mesh.loops])
    again = topology.read_faces(mesh)
    assert faces.same_as(again) and faces.digest == again.digest


def test_a_quad_that_is_split_the_other_way_keeps_the_bound_triangles():
    """Blender splits a quad along the diagonal that lies inside it, which an edit can change."""
    quad = add_mesh("Quad", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2, 3)])
    (before,) = read(quad)
    quad.data.vertices[1].co = (0.4, 0.6, 0)  # concave: the old diagonal now lies outside
    assert topology.fingerprint(read(quad)[0]) != topology.fingerprint(before)
    for look in (read, live):
        assert np.array_equal(look(quad, bound={"Quad": before.triangles})[0].triangles, before.triangles)


@pytest.mark.parametrize("scale", [1, -1])
def test_bound_triangles_hold_for_any_face_until_the_faces_change(scale):
    drum = add_shape("Drum", "create_cone", segments=11, radius1=1, radius2=1, depth=1, cap_ends=True)
    drum.scale.x = scale
    (before,) = read(drum)
    bound = {"Drum": before.triangles}
    assert live(drum, bound=bound)[0].triangles is before.triangles
    assert read(drum, bound=bound)[0].triangles is before.triangles
    drum.scale.x = -scale
    (mirrored,) = live(drum, bound=bound)
    assert "mirrored" in explain(before, mirrored) and volume(mirrored) > 0
    drum.scale.x = scale
    drum.modifiers.new("Triangulate", "TRIANGULATE")
    drum.modifiers.new("Subdivision", "SUBSURF")
    assert len(live(drum, bound=bound)[0].triangles) > len(before.triangles)


def test_other_triangles_of_the_same_number_are_not_taken_for_a_split():
    box = add_box()
    triangles = read(box)[0].triangles
    faces = topology.read_faces(box.evaluated_get(evaluate()).data)
    assert topology.splits(faces, triangles, mirrored=False)
    assert not topology.splits(faces, triangles, mirrored=True)
    for other in (triangles[::-1], (triangles + 1) % 8, triangles[1:]):
        assert not topology.splits(faces, other, mirrored=False)
