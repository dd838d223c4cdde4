"""What stands still is read once, what moves or deforms at every frame, whatever moves it."""

import math

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene.stillness import can_deform, can_move
from mathutils import Matrix

from tests.mesh_scenes import (
    FRAMES,
    add_rig,
    add_sea,
    assert_follows,
    key_location,
    read,
    reference,
    shape_key,
    volume,
)
from tests.objects import add_box, add_line, add_nodes, add_object, drive, frames_set, handled, key


def test_a_still_box_has_one_state_and_no_frame_is_set():
    box = add_box()
    box.location, box.rotation_euler, box.scale = (1, 2, 3), (0.3, 0.4, 0.5), (1, 2, 3)
    bpy.context.scene.frame_set(5)
    with frames_set() as seen:
        (track,) = read(box)
    assert not seen
    assert track.is_static and track.name == "Box" and track.triangles.shape == (12, 3)
    assert np.allclose(track.vertices[0], reference(box, 1), atol=1e-6)
    assert math.isclose(volume(track), 8 * 6, rel_tol=1e-6)


def test_what_does_not_change_it_leaves_one_state():
    box = add_box()
    box.modifiers.new("Bevel", "BEVEL")
    box.modifiers.new("Subdivision", "SUBSURF").levels = 2
    assert not can_move(box) and not can_deform(box)
    assert_follows(box, states=1)
    key_location(box, (1, 1, 1), (1, 1, 1))
    assert_follows(box, states=1)


def test_keyed_transform_is_sampled_with_geometry_read_once():
    box = add_box()
    key_location(box)
    assert can_move(box) and not can_deform(box)
    assert_follows(box)
    assert_follows(box, np.array([-3.5, 1.0, 2.25, 4.75, 8.0]))


def turning_rig(box):
    """That the box hangs on by its weights."""
    rig = add_rig()
    key(rig.pose.bones["Bone"], "rotation_quaternion", {1: (1, 0.1, 0, 0), 8: (1, 0.8, 0, 0)})
    box.vertex_groups.new(name="Bone").add(range(8), 1.0, "REPLACE")
    return rig


def on_parents(box, depth):
    parents = [add_object(f"Level {level}") for level in range(depth)]
    for child, parent in zip([box, *parents], parents, strict=False):
        child.parent = parent
    box.matrix_parent_inverse = Matrix.Translation((0, 1, 0))
    parents[-1].rotation_euler = (0.5, 0.2, 1)
    key_location(parents[-1])


def moving_target():
    target = add_object("Target")
    key_location(target)
    return target


def on_bone(box):
    rig = add_rig()
    box.parent, box.parent_type, box.parent_bone = rig, "BONE", "Bone"
    return rig.pose.bones["Bone"]


def on_vertices(box):
    carrier = add_box("Carrier")
    drive(shape_key(carrier), "value", "frame * 0.1")
    box.parent, box.parent_type, box.parent_vertices = carrier, "VERTEX", (0, 0, 0)


def in_lattice(box):
    lattice = bpy.data.lattices.new("Lattice")
    lattice.points_u = lattice.points_v = lattice.points_w = 2
    ob = add_object("Lattice", lattice)
    ob.scale = (3, 3, 3)
    drive(shape_key(ob), "value", "frame * 0.1")
    box.modifiers.new("Lattice", "LATTICE").object = ob


def deforming_parent(box):
    box.parent, box.parent_type = turning_rig(box), "ARMATURE"


def with_scene_time(box):
    tree, source, (move, clock), sink = add_nodes(box, "GeometryNodeSetPosition", "GeometryNodeInputSceneTime")
    tree.links.new(source.outputs[0], move.inputs["Geometry"])
    tree.links.new(clock.outputs["Seconds"], move.inputs["Offset"])
    tree.links.new(move.outputs[0], sink.inputs[0])


MOVED = {
    "driver": lambda box: drive(box, "location", "frame * 0.1", 2),
    "parent": lambda box: on_parents(box, 1),
    "parents": lambda box: on_parents(box, 3),
    "constraint": lambda box: setattr(box.constraints.new("COPY_LOCATION"), "target", moving_target()),
    "bone": lambda box: key(on_bone(box), "location", {1: 1, 8: 8}, index=0),
    "bone's constraint": lambda box: setattr(on_bone(box).constraints.new("COPY_LOCATION"), "target", moving_target()),
    "vertices": on_vertices,
    "shape key": lambda box: drive(shape_key(box), "value", "frame * 0.1"),
    "armature": lambda box: setattr(box.modifiers.new("Armature", "ARMATURE"), "object", turning_rig(box)),
    "lattice": in_lattice,
    "deforming parent": deforming_parent,
    "keyed modifier": lambda box: key(box.modifiers.new("Cast", "CAST"), "factor", {1: 0.1, 8: 0.8}),
    "modifier with a target": lambda box: setattr(
        box.modifiers.new("Mirror", "MIRROR"), "mirror_object", moving_target()
    ),
    "scene time": with_scene_time,
}


@pytest.mark.parametrize("kind", MOVED)
def test_what_moves_or_deforms_it_is_followed(kind):
    box = add_box()
    MOVED[kind](box)
    assert can_move(box) or can_deform(box)
    assert_follows(box)


def test_modifier_that_runs_on_time_alone():
    assert_follows(add_sea(20))


def test_still_shape_key_shows_its_value():
    box = add_box()
    shape_key(box).value = 0.5
    track = assert_follows(box, states=1)
    assert math.isclose(track.vertices[..., 2].max(), 1.5, rel_tol=1e-6)


def test_rigid_body():
    floor, ball = add_box("Floor"), add_box("Ball")
    floor.location.z, ball.location.z = -3, 5
    bpy.context.view_layer.update()
    for ob, kind in ((floor, "PASSIVE"), (ball, "ACTIVE")):
        bpy.context.view_layer.objects.active = ob
        bpy.ops.rigidbody.object_add(type=kind)
    (track,) = read(ball)
    assert track.vertices[-1, :, 2].mean() < track.vertices[0, :, 2].mean() - 0.01


def test_a_script_that_moves_it_on_frame_change_is_not_missed():
    box = add_box()
    with handled(lambda scene, *_: setattr(box.location, "x", scene.frame_current), "frame_change_pre"):
        (track,) = read(box)
    assert np.allclose(track.vertices[:, :, 0].mean(axis=1), FRAMES)


def test_curves_text_surfaces_and_metaballs():
    pipe, text, ball = add_line("Pipe", (3, 0, 0)), bpy.data.curves.new("Text", "FONT"), bpy.data.metaballs.new("Ball")
    pipe.data.bevel_depth, text.body = 0.1, "Я"
    ball.elements.new()
    ball = add_object("Ball", ball)
    for ob in (pipe, add_object("Text", text), ball):
        assert_follows(ob, states=1)
    for ob in (pipe, ball):
        key_location(ob)
        assert_follows(ob)


def test_a_curve_bevelled_by_a_moving_profile():
    profile, path = add_line("Profile"), add_line("Path")
    profile.data.splines[0].points.add(1)
    for point, place in zip(profile.data.splines[0].points, [(0, 0.1), (0.1, -0.1), (-0.1, -0.1)], strict=True):
        point.co = (*place, 0, 1)
    path.data.bevel_mode, path.data.bevel_object = "OBJECT", profile
    assert can_deform(path)


def test_real_props_stand_still_and_follow_their_parent(data):
    for path in sorted((data / "scene_props").rglob("*.glb")):
        bpy.ops.import_scene.gltf(filepath=str(path))
    props = [ob for ob in bpy.context.scene.objects if ob.type == "MESH"]
    tracks = read(*props)
    assert len(tracks) >= 7
    for track, ob in zip(tracks, props, strict=True):
        assert track.is_static
        assert np.allclose(track.vertices[0], reference(ob, 1), atol=1e-5)
    carrier = add_object("Carrier")
    carrier.rotation_euler = (0, 0, 1)
    for ob in props:
        (ob if ob.parent is None else ob.parent).parent = carrier
    key_location(carrier)
    for ob in props:
        assert_follows(ob)
