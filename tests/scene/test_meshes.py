import math
from pathlib import Path

import bmesh
import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import meshes, stillness, surfaces, topology
from bl_ext.devrepo.motion_loom.solvers.core.errors import InputError, SceneError
from bl_ext.devrepo.motion_loom.solvers.core.steps import result_of
from bl_ext.devrepo.motion_loom.solvers.core.types import TriangleMesh
from mathutils import Matrix

from tests.counting import steps_of

FRAMES = np.arange(1, 9)
PROPS = Path(__file__).parents[3] / "shared" / "data" / "scene_props"


# ------------------------------------------------------------------------------------------------- the scene


def _add(name, data, collection=None):
    ob = bpy.data.objects.new(name, data)
    (collection or bpy.context.scene.collection).objects.link(ob)
    return ob


def _mesh(name, vertices, faces):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    return mesh


def _box(name="Box", collection=None):
    mesh, builder = bpy.data.meshes.new(name), bmesh.new()
    bmesh.ops.create_cube(builder, size=2)
    builder.to_mesh(mesh)
    builder.free()
    return _add(name, mesh, collection)


def _grid(name, x, y):
    mesh, builder = bpy.data.meshes.new(name), bmesh.new()
    bmesh.ops.create_grid(builder, x_segments=x, y_segments=y, size=1)
    builder.to_mesh(mesh)
    builder.free()
    return _add(name, mesh)


def _key_location(ob, start=(0, 0, 0), end=(7, 0, 0)):
    for frame, place in ((FRAMES[0], start), (FRAMES[-1], end)):
        ob.location = place
        ob.keyframe_insert("location", frame=int(frame))
    bpy.context.scene.frame_set(1)


def _drive(owner, path, expression, index=-1):
    driver = owner.driver_add(path, index).driver if index >= 0 else owner.driver_add(path).driver
    driver.expression = expression


def _shape_key(ob, offset=(0, 0, 1)):
    ob.shape_key_add(name="Basis")
    key = ob.shape_key_add(name="Moved")
    basis = np.empty(len(key.data) * 3, np.float32)
    key.data.foreach_get("co", basis)
    key.data.foreach_set("co", (basis.reshape(-1, 3) + np.float32(offset)).ravel())
    return key


def _armature(name="Rig"):
    """One bone from the origin 1 m up."""
    rig = _add(name, bpy.data.armatures.new(name))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("Bone").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def _driven_lattice():
    lattice = bpy.data.lattices.new("Lattice")
    lattice.points_u = lattice.points_v = lattice.points_w = 2
    ob = _add("Lattice", lattice)
    ob.scale = (3, 3, 3)
    _drive(_shape_key(ob), "value", "frame * 0.1")
    return ob


def _turning_rig():
    rig = _armature()
    bone = rig.pose.bones["Bone"]
    for frame in (1, 8):
        bone.rotation_quaternion = (1, frame * 0.1, 0, 0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    return rig


def _weigh(ob):
    ob.vertex_groups.new(name="Bone").add(range(len(ob.data.vertices)), 1.0, "REPLACE")


# ------------------------------------------------------------------------------------------------- measuring


def _read(*objects, frames=FRAMES, bound=None):
    return result_of(meshes.sweep_environment(bpy.context, objects, frames, bound))


def _live(*objects, bound=None):
    return meshes.read_state(bpy.context.evaluated_depsgraph_get(), objects, bound)


def _reference(ob, frame):
    """(V, 3) by the slow and plain way: one vertex at a time."""
    bpy.context.scene.frame_set(math.floor(frame), subframe=frame - math.floor(frame))
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    vertices = np.array([evaluated.matrix_world @ vertex.co for vertex in mesh.vertices])
    evaluated.to_mesh_clear()
    return vertices


def _volume(vertices, triangles):
    """Positive where the normals of a closed mesh point out."""
    a, b, c = np.moveaxis(np.asarray(vertices)[triangles], 1, 0)
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6


def _assert_follows(ob, frames=FRAMES, states=None):
    (track,) = _read(ob, frames=frames)
    assert len(track.vertices) == (len(frames) if states is None else states)
    assert track.vertices.dtype == float
    for index, frame in enumerate(frames):
        expected = _reference(ob, frame)
        assert np.allclose(track.state(index).vertices, expected, atol=2e-6), frame
    return track


# ----------------------------------------------------------------------------------- still, rigid, deforming


def test_a_still_box_has_one_state_and_no_frame_is_set():
    box = _box()
    box.location, box.rotation_euler, box.scale = (1, 2, 3), (0.3, 0.4, 0.5), (1, 2, 3)
    bpy.context.scene.frame_set(5)
    seen = []

    def watch(scene, depsgraph=None):
        seen.append(scene.frame_current)

    watch.__module__ = stillness._PACKAGE + ".tests"  # a foreign handler would make everything uncertain
    bpy.app.handlers.frame_change_post.append(watch)
    try:
        (track,) = _read(box)
    finally:
        bpy.app.handlers.frame_change_post.remove(watch)
    assert not seen
    assert track.is_static
    assert track.name == "Box"
    assert track.triangles.shape == (12, 3)
    assert np.allclose(track.vertices[0], _reference(box, 1), atol=1e-6)
    assert math.isclose(_volume(track.vertices[0], track.triangles), 8 * 6, rel_tol=1e-6)


def test_timeless_modifiers_keep_an_object_still():
    box = _box()
    box.modifiers.new("Bevel", "BEVEL")
    box.modifiers.new("Subdivision", "SUBSURF").levels = 2
    assert not stillness.can_move(box) and not stillness.can_deform(box)
    _assert_follows(box, states=1)


def test_keyed_transform_is_sampled_with_geometry_read_once():
    box = _box()
    _key_location(box)
    assert stillness.can_move(box) and not stillness.can_deform(box)
    _assert_follows(box)


def test_subframes_and_negative_frames():
    box = _box()
    _key_location(box)
    _assert_follows(box, np.array([-3.5, 1.0, 2.25, 4.75, 8.0]))


def test_keys_that_change_nothing_leave_one_state():
    box = _box()
    _key_location(box, (1, 1, 1), (1, 1, 1))
    _assert_follows(box, states=1)


def test_driven_transform():
    box = _box()
    _drive(box, "location", "frame * 0.1", 2)
    _assert_follows(box)


@pytest.mark.parametrize("depth", [1, 3])
def test_parents_that_move_carry_it(depth):
    top = parent = _add("Top", None)
    for level in range(depth - 1):
        child = _add(f"Level {level}", None)
        child.parent, parent = parent, child
    box = _box()
    box.parent = parent
    box.matrix_parent_inverse = Matrix.Translation((0, 1, 0))
    top.rotation_euler = (0.5, 0.2, 1)
    _key_location(top)
    _assert_follows(box)


def test_constraint_to_a_moving_target():
    box, target = _box(), _add("Target", None)
    _key_location(target)
    box.constraints.new("COPY_LOCATION").target = target
    _assert_follows(box)


def test_bone_parent():
    rig, box = _armature(), _box()
    box.parent, box.parent_type, box.parent_bone = rig, "BONE", "Bone"
    for frame in (1, 8):
        rig.pose.bones["Bone"].location.x = frame
        rig.pose.bones["Bone"].keyframe_insert("location", frame=frame)
    _assert_follows(box)


def test_bone_parent_with_a_constraint_on_the_bone_only():
    rig, box, target = _armature(), _box(), _add("Target", None)
    _key_location(target)
    rig.pose.bones["Bone"].constraints.new("COPY_LOCATION").target = target
    box.parent, box.parent_type, box.parent_bone = rig, "BONE", "Bone"
    _assert_follows(box)


def test_vertex_parent_on_a_deforming_mesh():
    carrier, box = _box("Carrier"), _box()
    _drive(_shape_key(carrier), "value", "frame * 0.1")
    box.parent, box.parent_type, box.parent_vertices = carrier, "VERTEX", (0, 0, 0)
    _assert_follows(box)


def test_driven_shape_key_deforms():
    box = _box()
    _drive(_shape_key(box), "value", "frame * 0.1")
    assert stillness.can_deform(box)
    _assert_follows(box)


def test_still_shape_key_shows_its_value():
    box = _box()
    _shape_key(box).value = 0.5
    track = _assert_follows(box, states=1)
    assert math.isclose(track.vertices[..., 2].max(), 1.5, rel_tol=1e-6)


def test_armature_and_lattice_deform():
    box = _box()
    _weigh(box)
    box.modifiers.new("Armature", "ARMATURE").object = _turning_rig()
    _assert_follows(box)

    lattice, other = _driven_lattice(), _box("Other")
    other.modifiers.new("Lattice", "LATTICE").object = lattice
    _assert_follows(other)


def test_deforming_parent_without_a_modifier():
    rig, box = _turning_rig(), _box()
    _weigh(box)
    box.parent, box.parent_type = rig, "ARMATURE"
    _assert_follows(box)


def test_keyed_modifier_deforms():
    box = _box()
    modifier = box.modifiers.new("Cast", "CAST")
    for frame in (1, 8):
        modifier.factor = frame * 0.1
        modifier.keyframe_insert("factor", frame=frame)
    _assert_follows(box)


def test_modifier_that_runs_on_time_alone():
    _assert_follows(_with_wave(_grid("Sea", 20, 20)))


def _with_wave(ob):
    ob.modifiers.new("Wave", "WAVE")
    return ob


def test_modifier_that_follows_another_object():
    box, target = _box(), _add("Target", None)
    _key_location(target)
    box.modifiers.new("Mirror", "MIRROR").mirror_object = target
    _assert_follows(box)


def test_geometry_nodes_with_scene_time():
    box = _box()
    tree = bpy.data.node_groups.new("Rise", "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    kinds = ("NodeGroupInput", "NodeGroupOutput", "GeometryNodeSetPosition", "GeometryNodeInputSceneTime")
    source, sink, move, clock = (tree.nodes.new(kind) for kind in kinds)
    tree.links.new(source.outputs[0], move.inputs["Geometry"])
    tree.links.new(clock.outputs["Seconds"], move.inputs["Offset"])
    tree.links.new(move.outputs[0], sink.inputs[0])
    box.modifiers.new("Nodes", "NODES").node_group = tree
    _assert_follows(box)


def test_rigid_body():
    floor, ball = _box("Floor"), _box("Ball")
    floor.location.z, ball.location.z = -3, 5
    bpy.context.view_layer.update()
    for ob, kind in ((floor, "PASSIVE"), (ball, "ACTIVE")):
        bpy.context.view_layer.objects.active = ob
        bpy.ops.rigidbody.object_add(type=kind)
    (track,) = _read(ball)
    assert track.vertices[-1, :, 2].mean() < track.vertices[0, :, 2].mean() - 0.01


def test_a_script_that_moves_it_on_frame_change_is_not_missed():
    box = _box()

    def move(scene, depsgraph=None):
        box.location.x = scene.frame_current

    bpy.app.handlers.frame_change_pre.append(move)
    try:
        (track,) = _read(box)
    finally:
        bpy.app.handlers.frame_change_pre.remove(move)
    assert np.allclose(track.vertices[:, :, 0].mean(axis=1), FRAMES)


# ------------------------------------------------------------------------------------ transforms and winding


@pytest.mark.parametrize("scale", [(-1, 1, 1), (1, -2, 3), (-1, -1, 1), (-1, -1, -1), (0.01, 5, 1)])
@pytest.mark.parametrize("moving", [False, True])
def test_normals_point_out_whatever_the_signs_of_the_scale(scale, moving):
    box, parent = _box(), _add("Parent", None)
    box.parent = parent
    parent.rotation_euler, parent.scale = (0.4, 1, -0.3), (1, 0.5, 2)
    box.rotation_euler, box.scale = (1, 0.2, 0.1), scale
    if moving:
        _key_location(box)
    (track,) = _read(box)
    (state,) = _live(box)
    volume = 8 * abs(math.prod(scale))
    assert math.isclose(_volume(track.vertices[-1], track.triangles), volume, rel_tol=1e-4)
    assert math.isclose(_volume(state.vertices, state.triangles), volume, rel_tol=1e-4)


def test_unit_scale_does_not_count():
    box = _box()
    bpy.context.scene.unit_settings.scale_length = 0.01
    assert np.ptp(_read(box)[0].vertices[0], axis=0) == pytest.approx([2, 2, 2])


def test_zero_scale_names_the_object_and_the_frame():
    box = _box()
    box.rotation_euler = (1, 2, 3)
    box.scale.y = 0
    with pytest.raises(InputError, match="'Box' has a scale of zero;.*scale above zero"):
        _read(box)
    with pytest.raises(InputError, match="'Box' has a scale of zero;"):
        _live(box)
    parent = _add("Parent", None)
    box.scale.y, box.parent = 1, parent
    _drive(parent, "scale", "0 if frame == 4 else 1", 0)
    with pytest.raises(InputError, match="'Box' has a scale of zero at frame 4"):
        _read(box)


def test_turning_inside_out_on_the_way_names_the_frame():
    box = _box()
    _drive(box, "scale", "-1 if frame > 5 else 1", 0)
    with pytest.raises(InputError, match="'Box' turns inside out at frame 6"):
        _read(box)


# ------------------------------------------------------------------------------------------ kinds of objects


def test_curves_text_surfaces_and_metaballs():
    pipe = bpy.data.curves.new("Pipe", "CURVE")
    pipe.bevel_depth = 0.1
    pipe.splines.new("POLY").points.add(1)
    pipe.splines[0].points[1].co = (3, 0, 0, 1)
    text = bpy.data.curves.new("Text", "FONT")
    text.body = "Я"
    ball = bpy.data.metaballs.new("Ball")
    ball.elements.new()
    objects = [_add("Pipe", pipe), _add("Text", text), _add("Ball", ball)]
    for ob in objects:
        _assert_follows(ob, states=1)
    _key_location(objects[0])
    _assert_follows(objects[0])
    _key_location(objects[2])
    _assert_follows(objects[2])


def test_a_curve_bevelled_by_a_moving_profile():
    profile = bpy.data.curves.new("Profile", "CURVE")
    profile.splines.new("POLY").points.add(2)
    for point, place in zip(profile.splines[0].points, [(0, 0.1), (0.1, -0.1), (-0.1, -0.1)], strict=True):
        point.co = (*place, 0, 1)
    path = bpy.data.curves.new("Path", "CURVE")
    path.splines.new("POLY").points.add(1)
    path.splines[0].points[1].co = (0, 0, 3, 1)
    path.bevel_mode, path.bevel_object = "OBJECT", _add("Profile", profile)
    assert stillness.can_deform(_add("Path", path))


def test_collections_give_their_surfaces_once_and_in_order():
    outer, inner = bpy.data.collections.new("Outer"), bpy.data.collections.new("Inner")
    bpy.context.scene.collection.children.link(outer)
    outer.children.link(inner)
    boxes = [_box("A", outer), _box("B", inner)]
    _add("Camera", bpy.data.cameras.new("Camera"), outer)
    _add("Empty", None, inner)
    _add("Path", bpy.data.curves.new("Path", "CURVE"), inner)
    assert set(surfaces.expand([outer])) == set(boxes)
    assert surfaces.expand([boxes[1], outer, boxes[1]]) == boxes[::-1]
    assert [track.name for track in _read(boxes[1], outer)] == ["B", "A"]


def test_kinds_without_a_surface_are_refused():
    empty = _add("Empty", None)
    with pytest.raises(SceneError, match="'Empty' is of type EMPTY"):
        _read(empty)
    bare = bpy.data.collections.new("Bare")
    with pytest.raises(SceneError, match="'Bare' holds no object"):
        _read(bare)
    filled = bpy.data.collections.new("Filled")
    _box("Inside", filled)
    empty.instance_type, empty.instance_collection = "COLLECTION", filled
    with pytest.raises(SceneError, match="'Empty' is an instance.*Make Instances Real"):
        _read(empty)
    bare.objects.link(empty)
    with pytest.raises(SceneError, match="'Empty' is an instance"):
        _read(bare)


NAMES = ['Box "quoted"', "it's.001", "箱子 Ящик", "a[0].b\\c", ".hidden"]


@pytest.mark.parametrize("name", NAMES)
def test_odd_names(name):
    box = _box(name)
    assert surfaces.find(bpy.context, [name]) == [box]
    (track,) = _read(box)
    assert track.name == name
    assert _live(box)[0].name == name


def test_find_gives_collections_and_suggests_close_names():
    boxes = bpy.data.collections.new("Boxes")
    bpy.context.scene.collection.children.link(boxes)
    floor = _box("Floor", boxes)
    assert surfaces.find(bpy.context, ["Boxes", "Floor"]) == [boxes, floor]
    with pytest.raises(SceneError, match="no object or collection 'flor'.*did you mean 'Floor'"):
        surfaces.find(bpy.context, ["flor"])
    with pytest.raises(SceneError, match="'Zebra'.*renamed or deleted"):
        surfaces.find(bpy.context, ["Zebra"])
    bpy.data.objects.new("Elsewhere", None)
    with pytest.raises(SceneError, match="'Elsewhere' is not in the scene"):
        surfaces.find(bpy.context, ["Elsewhere"])


def test_deleted_objects_are_refused():
    box = _box()
    bpy.data.objects.remove(box)
    with pytest.raises(SceneError, match="deleted"):
        _read(box)
    with pytest.raises(SceneError, match="deleted"):
        _live(None)


def test_linked_and_override_objects(tmp_path):
    source = _box("Wall")
    source.scale = (1, 2, -3)
    _key_location(source)
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Wall"]
    linked = wanted.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    override = linked.override_create()
    bpy.context.scene.collection.objects.link(override)
    override.scale.y = 5
    tracks = _read(linked, override)
    assert len({track.name for track in tracks}) == 2
    for track, ob in zip(tracks, (linked, override), strict=True):
        assert np.allclose(track.vertices[-1], _reference(ob, FRAMES[-1]), atol=1e-5)
        assert _volume(track.vertices[0], track.triangles) > 0


# ------------------------------------------------------------------------------------------ hidden and stale


def _layer(collection):
    return bpy.context.view_layer.layer_collection.children[collection.name]


@pytest.mark.parametrize("how", ["object", "object with a child", "collection", "excluded", "unlinked"])
def test_what_blender_does_not_update_is_refused(how):
    collection = bpy.data.collections.new("Props")
    bpy.context.scene.collection.children.link(collection)
    box = _box("Box", collection)
    bpy.context.view_layer.update()
    if how == "object":
        box.hide_viewport = True
    elif how == "object with a child":  # which has Blender update it, but not once the hiding is animated
        box.hide_viewport = True
        _box("Child").parent = box
    elif how == "collection":
        collection.hide_viewport = True
    elif how == "excluded":
        _layer(collection).exclude = True
    else:
        collection.objects.unlink(box)
    for read in (_read, _live):
        with pytest.raises(SceneError, match="'Box' is hidden, excluded.*viewports"):
            read(box)


@pytest.mark.parametrize("how", ["eye", "collection eye"])
def test_what_is_only_out_of_sight_is_read_fresh(how):
    collection = bpy.data.collections.new("Props")
    bpy.context.scene.collection.children.link(collection)
    box = _box("Box", collection)
    bpy.context.view_layer.update()
    if how == "eye":
        box.hide_set(True)
    else:
        _layer(collection).hide_viewport = True
    box.location.x = 9
    assert math.isclose(_read(box)[0].vertices[..., 0].mean(), 9)
    assert math.isclose(_live(box)[0].vertices[..., 0].mean(), 9)


def test_hidden_on_the_way_names_the_frame():
    box = _box()
    _key_location(box)
    for frame, hidden in ((1, False), (4, True)):
        box.hide_viewport = hidden
        box.keyframe_insert("hide_viewport", frame=frame)
    with pytest.raises(SceneError, match="'Box' is hidden.* at frame 4"):
        _read(box)


def _states_of_a_render(box):
    """Vertices, or the error, that a handler reads during the render of two frames."""
    scene, seen = bpy.context.scene, {}

    def read(scene, depsgraph):
        try:
            seen[scene.frame_current, depsgraph.mode] = meshes.read_state(depsgraph, [box])[0].vertices
        except SceneError as error:
            seen[scene.frame_current, depsgraph.mode] = str(error)

    read.__module__ = stillness._PACKAGE + ".tests"
    scene.camera = _add("Camera", bpy.data.cameras.new("Camera"))
    scene.render.engine, scene.cycles.samples = "CYCLES", 1
    scene.render.resolution_x = scene.render.resolution_y = 4
    scene.frame_start, scene.frame_end = 4, 5
    bpy.app.handlers.frame_change_post.append(read)
    try:
        bpy.ops.render.render(animation=True)
    finally:
        bpy.app.handlers.frame_change_post.remove(read)
    return seen


def test_a_render_reads_its_own_frame(tmp_path):
    box = _box()
    _key_location(box)
    bpy.context.scene.render.filepath = str(tmp_path) + "/"
    seen = _states_of_a_render(box)
    for frame in (4, 5):
        assert np.allclose(seen[frame, "RENDER"], _reference(box, frame), atol=1e-6)


def test_hidden_in_renders_is_refused_there(tmp_path):
    box = _box()
    box.hide_render = True
    bpy.context.scene.render.filepath = str(tmp_path) + "/"
    assert "'Box' is hidden" in _states_of_a_render(box)[4, "RENDER"]
    assert "in renders" in _states_of_a_render(box)[4, "RENDER"]


def test_edit_mode_is_read_as_edited():
    box = _box()
    bpy.context.view_layer.objects.active = box
    bpy.ops.object.mode_set(mode="EDIT")
    edited = bmesh.from_edit_mesh(box.data)
    bmesh.ops.translate(edited, verts=list(edited.verts), vec=(0, 0, 3))
    bmesh.update_edit_mesh(box.data)
    assert math.isclose(_live(box)[0].vertices[:, 2].mean(), 3, rel_tol=1e-6)
    assert math.isclose(_read(box)[0].vertices[..., 2].mean(), 3, rel_tol=1e-6)
    bpy.ops.object.mode_set(mode="OBJECT")


# ------------------------------------------------------------------------------------------------- bad input


def test_objects_without_faces():
    for ob in (
        _add("Dots", _mesh("Dots", [(0, 0, 0)], [])),
        _add("Path", bpy.data.curves.new("Path", "CURVE")),
    ):
        for read in (_read, _live):
            with pytest.raises(InputError, match=f"'{ob.name}' has no faces"):
                read(ob)


def test_vertices_that_are_not_numbers():
    box = _box()
    box.data.vertices[3].co.y = math.nan
    for read in (_read, _live):
        with pytest.raises(InputError, match="'Box' has vertices that are not numbers"):
            read(box)


def test_a_mesh_without_any_area():
    line = _add("Line", _mesh("Line", [(0, 0, 0), (1, 1, 1), (2, 2, 2), (4, 4, 4)], [(0, 1, 2), (1, 2, 3)]))
    for read in (_read, _live):
        with pytest.raises(InputError, match="No triangle of 'Line' has any area"):
            read(line)


def test_some_triangles_without_area_and_non_manifold_meshes_are_fine():
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, -1), (2, 0, 0)]
    faces = [*[(0, 1, 5)] * 1, (0, 1, 2), (0, 1, 3), (0, 1, 4)]
    assert len(_read(_add("Fan", _mesh("Fan", corners, faces)))[0].triangles) == 4


def test_a_tiny_mesh_has_area():
    size = 1e-6
    _read(_add("Tiny", _mesh("Tiny", [(0, 0, 0), (size, 0, 0), (0, size, 0)], [(0, 1, 2)])))


def test_topology_that_changes_names_the_frame():
    box = _box()
    modifier = box.modifiers.new("Array", "ARRAY")
    for frame, count in ((1, 2), (5, 3)):
        modifier.count = count
        modifier.keyframe_insert("count", frame=frame)
    with pytest.raises(InputError, match="topology of 'Box' changes at frame [345]: 24 vertices.*16 and 12"):
        _read(box)


@pytest.mark.parametrize("frames", [[], [1.0, math.nan]])
def test_bad_frames(frames):
    with pytest.raises(InputError, match="frame range"):
        _read(_box(), frames=frames)


# ---------------------------------------------------------------------------------- progress and coming back


def _frame():
    scene = bpy.context.scene
    return scene.frame_current, round(scene.frame_subframe, 5)


def test_progress_and_the_frame_comes_back():
    box = _box()
    _drive(box, "location", "frame / 10", 2)
    bpy.context.scene.frame_set(3, subframe=0.25)
    sweep = meshes.sweep_environment(bpy.context, [box], FRAMES)
    done = list(sweep)
    assert done == pytest.approx(np.arange(1, 9) / 8)
    assert _frame() == (3, 0.25)


def test_what_curves_tell_needs_no_stepping():
    box = _box()
    _key_location(box)
    carrier = bpy.data.objects.new("Carrier", None)
    bpy.context.scene.collection.objects.link(carrier)
    _key_location(carrier)
    box.parent = carrier
    box.rotation_euler = 0.3, 0.2, 0.1
    bpy.context.view_layer.update()
    assert list(meshes.sweep_environment(bpy.context, [box], FRAMES)) == []
    (told,) = _read(box)
    _drive(carrier, "scale", "1", 0)
    (stepped,) = _read(box)
    assert len(told.vertices) == len(FRAMES)
    assert np.abs(told.vertices - stepped.vertices).max() < 2e-6


@pytest.mark.parametrize("after", [1, 4])
def test_esc_half_way_brings_the_frame_back(after):
    box = _box()
    _drive(box, "location", "frame / 10", 2)
    bpy.context.scene.frame_set(3, subframe=0.25)
    sweep = meshes.sweep_environment(bpy.context, [box], FRAMES)
    for _ in range(after):
        next(sweep)
    sweep.close()
    assert _frame() == (3, 0.25)


def test_an_error_brings_the_frame_back():
    box = _box()
    _drive(box, "scale", "0 if frame == 4 else 1", 0)
    bpy.context.scene.frame_set(3, subframe=0.25)
    with pytest.raises(InputError):
        _read(box)
    blob = _box("Blob")
    modifier = blob.modifiers.new("Array", "ARRAY")
    _drive(modifier, "count", "frame")
    bpy.context.scene.frame_set(3, subframe=0.25)
    with pytest.raises(InputError):
        _read(blob)
    assert _frame() == (3, 0.25)


# -------------------------------------------------------------------------------------- topology and binding


def test_track_and_live_state_agree():
    box = _with_wave(_grid("Sea", 12, 7))
    _key_location(box)
    (track,) = _read(box)
    for index, frame in enumerate(FRAMES):
        bpy.context.scene.frame_set(int(frame))
        (state,) = _live(box)
        assert np.array_equal(state.vertices, track.state(index).vertices)
        assert np.array_equal(state.triangles, track.triangles)
        assert topology.fingerprint(state) == topology.fingerprint(track)


def test_fingerprint_is_the_topology_only():
    box = _box()
    (before,) = _read(box)
    box.location, box.scale = (1, 2, 3), (4, 5, 6)
    box.data.vertices[0].co.x += 0.25
    (moved,) = _read(box)
    assert topology.fingerprint(before) == topology.fingerprint(moved)
    assert topology.explain_change("Box", topology.fingerprint(before), topology.fingerprint(moved)) == ""


def test_fingerprint_does_not_depend_on_the_session():
    triangle = TriangleMesh("T", np.zeros((3, 3)), np.array([[0, 1, 2]]))
    assert topology.fingerprint(triangle) == "3:1:99a5826197698e6d:99a5826197698e6d"


def _explain(before, after):
    return topology.explain_change("Box", *(topology.fingerprint(mesh) for mesh in (before, after)))


def test_changes_are_explained():
    box = _box()
    (before,) = _read(box)
    box.modifiers.new("Bevel", "BEVEL")
    assert _explain(before, _read(box)[0]) == "'Box' had 8 vertices at bind, 24 now."
    box.modifiers.clear()
    box.scale.x = -1
    assert "mirrored" in _explain(before, _read(box)[0])
    fewer = TriangleMesh("Box", before.vertices[0], before.triangles[1:])
    assert _explain(before, fewer) == "'Box' had 12 triangles at bind, 11 now."
    other = TriangleMesh("Box", before.vertices[0], (before.triangles + 1) % 8)
    assert "connected differently" in _explain(before, other)


def test_a_quad_that_is_split_the_other_way_keeps_the_bound_triangles():
    """Blender splits a quad along the diagonal that lies inside it, which an edit can change."""
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], float)
    quad = _add("Quad", _mesh("Quad", corners.tolist(), [(0, 1, 2, 3)]))
    (before,) = _read(quad)
    bound = {"Quad": before.triangles}
    quad.data.vertices[1].co = (0.4, 0.6, 0)  # concave: the old diagonal now lies outside
    (fresh,) = _read(quad)
    assert topology.fingerprint(fresh) != topology.fingerprint(before)
    for (mesh,) in (_read(quad, bound=bound), _live(quad, bound=bound)):
        assert np.array_equal(mesh.triangles, before.triangles)


@pytest.mark.parametrize("scale", [1, -1])
def test_bound_triangles_hold_for_any_face_until_the_faces_change(scale):
    builder, mesh = bmesh.new(), bpy.data.meshes.new("Drum")
    bmesh.ops.create_cone(builder, segments=11, radius1=1, radius2=1, depth=1, cap_ends=True)
    builder.to_mesh(mesh)
    builder.free()
    drum = _add("Drum", mesh)
    drum.scale.x = scale
    (before,) = _read(drum)
    bound = {"Drum": before.triangles}
    assert _live(drum, bound=bound)[0].triangles is before.triangles
    assert _read(drum, bound=bound)[0].triangles is before.triangles
    drum.scale.x = -scale
    (mirrored,) = _live(drum, bound=bound)
    assert "mirrored" in _explain(before, mirrored)
    assert _volume(mirrored.vertices, mirrored.triangles) > 0
    drum.scale.x = scale
    drum.modifiers.new("Triangulate", "TRIANGULATE")
    drum.modifiers.new("Subdivision", "SUBSURF")
    assert len(_live(drum, bound=bound)[0].triangles) > len(before.triangles)


def test_other_triangles_of_the_same_number_are_not_taken_for_a_split():
    box = _box()
    (track,) = _read(box)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    faces = topology.read_faces(box.evaluated_get(depsgraph).data)
    assert topology.splits(faces, track.triangles, mirrored=False)
    assert not topology.splits(faces, track.triangles, mirrored=True)
    assert not topology.splits(faces, track.triangles[::-1], mirrored=False)
    assert not topology.splits(faces, (track.triangles + 1) % 8, mirrored=False)
    assert not topology.splits(faces, track.triangles[1:], mirrored=False)


# ------------------------------------------------------------------------------------------------ real props


def test_real_props_stand_still_and_follow_their_parent():
    if not PROPS.is_dir():
        pytest.skip(f"needs the real props in {PROPS}")
    for path in sorted(PROPS.rglob("*.glb")):
        bpy.ops.import_scene.gltf(filepath=str(path))
    props = [ob for ob in bpy.context.scene.objects if ob.type == "MESH"]
    tracks = _read(*props)
    assert len(tracks) >= 7
    for track, ob in zip(tracks, props, strict=True):
        assert track.is_static
        assert np.allclose(track.vertices[0], _reference(ob, 1), atol=1e-5)
    carrier = _add("Carrier", None)
    carrier.rotation_euler = (0, 0, 1)
    for ob in props:
        (ob if ob.parent is None else ob.parent).parent = carrier
    _key_location(carrier)
    for ob in props:
        _assert_follows(ob)


# ----------------------------------------------------------------------------------------------------- speed


@pytest.mark.parametrize("is_bound", (False, True))
def test_a_mesh_is_read_live_without_python_for_each_polygon(is_bound):
    seas = [_with_wave(_grid(f"Sea {size}", size, size)) for size in (5, 50)]
    first = _live(*seas)
    bound = {mesh.name: mesh.triangles for mesh in first} if is_bound else None
    depsgraph = bpy.context.evaluated_depsgraph_get()
    few, many = (steps_of(lambda sea=sea: meshes.read_state(depsgraph, [sea], bound)) for sea in seas)
    assert few == many
