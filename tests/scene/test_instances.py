"""What an object shows as instances counts as its surface, as if it were real."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene.interference import refuse_dependent
from bl_ext.devrepo.motion_loom.scene.mesh_sequence import mesh_sequence_steps
from bl_ext.devrepo.motion_loom.scene.meshes import read_object, sweep_environment, sweep_states
from bl_ext.devrepo.motion_loom.scene.surfaces import expand
from bl_ext.devrepo.motion_loom.scene.topology import fingerprint
from bl_ext.devrepo.motion_loom.solvers.core.errors import InputError, SceneError
from bl_ext.devrepo.motion_loom.solvers.core.steps import result_of
from mathutils import Matrix

from tests import adapt_scenes as scenes
from tests.instance_scenes import grow, on_each, scatter
from tests.mesh_scenes import read_state
from tests.objects import edit, evaluate, key

FRAMES = np.arange(1.0, 4.0)
PLACES = ((0, 0, 0.2), (0.5, -0.3, 0.1), (-0.4, 0.6, 0.4))


@pytest.fixture
def floor():
    ob = scenes.add_grid("Floor", (-1, 1), (-1, 1), cells=2)
    ob.location, ob.rotation_euler, ob.scale = (1, 2, 3), (0.3, 0.2, 0.5), (1.5, 1.5, 1.5)
    bpy.context.view_layer.update()
    return ob


def faces_of(meshes):
    """(T, 6) centre and normal of each triangle, in an order of their own."""
    corners = np.concatenate([mesh.vertices[mesh.triangles] for mesh in meshes])
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    rows = np.hstack((corners.mean(axis=1), normals)).round(3) + 0.0
    return rows[np.lexsort(rows.T)]


def now(*objects):
    return read_state(evaluate(), objects)


def made_real(ob):
    """The objects that Blender makes of the instances."""
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = ob
    ob.select_set(True)
    before = set(bpy.data.objects)
    bpy.ops.object.duplicates_make_real()
    bpy.context.view_layer.update()
    return [each for each in bpy.data.objects if each not in before and each.type == "MESH"]


@pytest.mark.parametrize("keep", (True, False))
def test_geometry_nodes(floor, keep):
    scatter(floor, PLACES, keep)
    found = now(floor)
    again = read_state(evaluate(), [floor], {"Floor": found[0].triangles})
    assert again[0].triangles is found[0].triangles and len(found[0].triangles) == 36 + 8 * keep
    floor.show_instancer_for_viewport = False
    bpy.context.view_layer.update()
    assert len(now(floor)[0].triangles) == 36
    floor.show_instancer_for_viewport = True
    floor.modifiers.clear()
    scatter(floor, PLACES, keep, realize=True)
    np.testing.assert_allclose(faces_of(found), faces_of(now(floor)), atol=2e-3)


def test_mirrored_instances_face_outward(floor):
    """Realized they would be inside out, which is not how they are seen."""
    scatter(floor, PLACES[:1], keep=False, scale=(1, -2, 0.5))
    found = now(floor)[0]
    centre = np.array(floor.matrix_world)[:3] @ (*PLACES[0], 1)
    rows = faces_of([found])
    assert (((rows[:, :3] - centre) * rows[:, 3:]).sum(axis=1) > 0).all()
    again = read_state(evaluate(), [floor], {"Floor": found.triangles})
    assert again[0].triangles is found.triangles


def test_a_collection_with_a_thick_curve(floor):
    group, line = bpy.data.collections.new("Set"), bpy.data.curves.new("Line", "CURVE")
    line.bevel_depth = 0.1
    line.splines.new("POLY").points.add(1)
    line.splines[0].points[1].co = (1, 0.5, 0, 1)
    members = scenes.add_box("Box", (0, 0, 0), (1, 1, 1)), bpy.data.objects.new("Line", line)
    for ob in members:
        group.objects.link(ob)
    points = scatter(floor, PLACES[:1])[0]
    tree = points.id_data
    node, shown = tree.nodes.new("GeometryNodeCollectionInfo"), points.outputs[0].links[0].to_node
    node.inputs["Collection"].default_value = group
    tree.links.new(node.outputs[0], shown.inputs["Instance"])
    bpy.context.view_layer.update()
    found = now(floor)
    floor.modifiers.clear()
    place = floor.matrix_world @ Matrix.Translation(PLACES[0])
    for ob in members:
        ob.matrix_world = place
    bpy.context.scene.collection.objects.link(members[1])
    bpy.context.view_layer.update()
    np.testing.assert_allclose(faces_of(found), faces_of(now(floor, *members)), atol=2e-3)


@pytest.mark.parametrize("itself", (True, False))
@pytest.mark.parametrize("kind", ("VERTS", "FACES", "PARTICLES"))
def test_vertices_faces_and_particles(floor, kind, itself):
    stone = grow(floor) if kind == "PARTICLES" else on_each(kind, floor)
    floor.show_instancer_for_viewport = itself
    bpy.context.view_layer.update()
    found = now(floor)
    real = made_real(floor)
    floor.instance_type = "NONE"
    floor.modifiers.clear()
    floor.show_instancer_for_viewport = True
    bpy.context.view_layer.update()
    assert stone not in real and len(real) == {"VERTS": 9, "FACES": 4, "PARTICLES": 7}[kind]
    np.testing.assert_allclose(faces_of(found), faces_of(now(*([floor] if itself else []), *real)), atol=2e-3)


def test_what_is_shown_moves(floor):
    """Also where the object itself stands still, and with the present state telling it from others."""
    stone = on_each("FACES", floor)
    key(stone, "scale", {1: 1, 3: 3}, index=2)
    ((track, states),) = result_of(sweep_states(bpy.context, [floor], FRAMES))
    for row, frame in enumerate(FRAMES):
        bpy.context.scene.frame_set(int(frame))
        np.testing.assert_allclose(track.vertices[row], now(floor)[0].vertices, atol=1e-5)
        assert states.matches(row, read_object(floor, evaluate()))
        assert not states.matches((row + 1) % 3, read_object(floor, evaluate()))
    assert fingerprint(track) == fingerprint(now(floor)[0])


def test_what_is_shown_begins_to_move_on_the_way(floor):
    stone = on_each("FACES", floor)
    key(stone, "scale", {1: 1, 2: 1, 3: 2}, index=2)
    track = result_of(sweep_environment(bpy.context, [floor], FRAMES))[0]
    assert np.array_equal(track.vertices[0], track.vertices[1])
    for row, frame in enumerate(FRAMES):
        bpy.context.scene.frame_set(int(frame))
        np.testing.assert_allclose(track.vertices[row], now(floor)[0].vertices, atol=1e-5)


def test_their_number_changes(floor):
    key(scatter(floor, PLACES)[0].inputs["Count"], "default_value", {1: 1, 3: 3})
    with pytest.raises(InputError, match="topology of 'Floor' changes at frame 2"):
        result_of(sweep_environment(bpy.context, [floor], FRAMES))


def test_an_object_that_is_hidden_from_view(floor):
    """Blender does not tell its instances."""
    scatter(floor, PLACES)
    floor.hide_set(True)
    bpy.context.view_layer.update()
    with pytest.raises(SceneError, match="'Floor' is hidden from view.*Realize Instances"):
        now(floor)
    floor.modifiers.clear()
    scatter(floor, PLACES, realize=True)
    if bpy.app.version >= (5, 0):  # 4.2 cannot tell
        assert len(now(floor)[0].triangles) == 44


def test_a_child_that_is_shown_by_its_parent_alone(floor):
    stone = on_each("VERTS", floor)
    with pytest.raises(SceneError, match="'Stone' is shown as instances of 'Floor'; choose that one"):
        expand([stone])
    assert expand([bpy.context.scene.collection]) == [floor]


def test_what_the_rig_moves_is_shown(floor):
    stone, rig = grow(floor), scenes.add_walker()
    stone.parent = rig
    with pytest.raises(SceneError, match=r"'Floor' cannot be in .*\(instances 'Stone', parent\)"):
        refuse_dependent([floor], rig)


def test_a_mesh_to_learn_from(floor):
    """Its instances would be left out without a word."""
    scatter(floor, PLACES)
    with pytest.raises(InputError, match="'Floor' shows instances at frame 1.*Realize Instances"):
        result_of(mesh_sequence_steps(bpy.context, floor, FRAMES))


@pytest.mark.parametrize("made_by", (lambda ob: scatter(ob, PLACES), lambda ob: on_each("VERTS", ob), grow))
def test_what_blender_does_not_update(floor, made_by):
    made_by(floor)
    floor.hide_viewport = True
    for read in (now, lambda ob: result_of(sweep_environment(bpy.context, [ob], FRAMES))):
        with pytest.raises(SceneError, match="'Floor' is hidden, excluded"):
            read(floor)


@pytest.mark.parametrize("kind", ("nodes", "faces"))
def test_while_they_are_edited(floor, kind):
    if kind == "nodes":
        scatter(floor, PLACES)
    stone = floor if kind == "nodes" else on_each("FACES", floor)
    before = faces_of(now(floor))
    edit(stone)
    bpy.context.view_layer.update()
    np.testing.assert_allclose(faces_of(now(floor)), before, atol=1e-6)
