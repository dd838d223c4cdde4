"""Surfaces as they are at a frame and over a range of frames: what is read, what is refused by its name."""

import math

import bmesh
import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import meshes
from bl_ext.devrepo.motion_loom.solvers.core.errors import InputError, SceneError

from checkout import PACKAGE
from tests.counting import steps_of
from tests.linked import linked_instead
from tests.map_scenes import add_mesh
from tests.mesh_scenes import FRAMES, add_sea, key_location, live, read, read_state, reference, volume
from tests.objects import add_box, add_line, add_object, drive, edit, evaluate, handled, into_collection, key


@pytest.mark.parametrize("scale", [(-1, 1, 1), (1, -2, 3), (-1, -1, 1), (-1, -1, -1), (0.01, 5, 1)])
@pytest.mark.parametrize("moving", [False, True])
def test_normals_point_out_whatever_the_signs_of_the_scale(scale, moving):
    box, parent = add_box(), add_object("Parent")
    box.parent = parent
    parent.rotation_euler, parent.scale = (0.4, 1, -0.3), (1, 0.5, 2)
    box.rotation_euler, box.scale = (1, 0.2, 0.1), scale
    if moving:
        key_location(box)
    for look in (read, live):
        assert math.isclose(volume(look(box)[0]), 8 * abs(math.prod(scale)), rel_tol=1e-4)


def test_unit_scale_does_not_count():
    bpy.context.scene.unit_settings.scale_length = 0.01
    assert np.ptp(read(add_box())[0].vertices[0], axis=0) == pytest.approx([2, 2, 2])


def test_linked_and_override_objects(tmp_path):
    source = add_box("Wall")
    source.scale = (1, 2, -3)
    key_location(source)
    linked = linked_instead(source, tmp_path / "library.blend")
    override = linked.override_create()
    bpy.context.scene.collection.objects.link(override)
    override.scale.y = 5
    tracks = read(linked, override)
    assert len({track.name for track in tracks}) == 2
    for track, ob in zip(tracks, (linked, override), strict=True):
        assert np.allclose(track.vertices[-1], reference(ob, FRAMES[-1]), atol=1e-5)
        assert volume(track, 0) > 0


# ------------------------------------------------------------------------------------------ hidden and stale


def hide_with_a_child(box, layer):
    """Which has Blender update it, but not once the hiding is animated."""
    box.hide_viewport = True
    add_box("Child").parent = box


UNSEEN = {
    "object": lambda box, layer: setattr(box, "hide_viewport", True),
    "object with a child": hide_with_a_child,
    "collection": lambda box, layer: setattr(layer.collection, "hide_viewport", True),
    "excluded": lambda box, layer: setattr(layer, "exclude", True),
    "unlinked": lambda box, layer: layer.collection.objects.unlink(box),
}
OUT_OF_SIGHT = {
    "eye": lambda box, layer: box.hide_set(True),
    "collection eye": lambda box, layer: setattr(layer, "hide_viewport", True),
}


@pytest.mark.parametrize("how", UNSEEN)
def test_what_blender_does_not_update_is_refused(how):
    box = add_box()
    UNSEEN[how](box, into_collection(box))
    for look in (read, live):
        with pytest.raises(SceneError, match="'Box' is hidden, excluded.*viewports"):
            look(box)


@pytest.mark.parametrize("how", OUT_OF_SIGHT)
def test_what_is_only_out_of_sight_is_read_fresh(how):
    box = add_box()
    OUT_OF_SIGHT[how](box, into_collection(box))
    box.location.x = 9
    for look in (read, live):
        assert math.isclose(look(box)[0].vertices[..., 0].mean(), 9)


def states_of_a_render(box, folder):
    """Vertices, or the error, that a handler reads during the render of two frames."""
    scene, seen = bpy.context.scene, {}

    def look(scene, depsgraph):
        try:
            seen[scene.frame_current, depsgraph.mode] = read_state(depsgraph, [box])[0].vertices
        except SceneError as error:
            seen[scene.frame_current, depsgraph.mode] = str(error)

    look.__module__ = f"{PACKAGE}.tests"
    scene.render.filepath = f"{folder}/"
    scene.camera = add_object("Camera", bpy.data.cameras.new("Camera"))
    scene.render.engine, scene.cycles.samples = "CYCLES", 1
    scene.render.resolution_x = scene.render.resolution_y = 4
    scene.frame_start, scene.frame_end = 4, 5
    with handled(look, "frame_change_post"):
        bpy.ops.render.render(animation=True)
    return seen


def test_a_render_reads_its_own_frame_and_refuses_what_is_hidden_there(tmp_path):
    box = add_box()
    key_location(box)
    seen = states_of_a_render(box, tmp_path)
    for frame in (4, 5):
        assert np.allclose(seen[frame, "RENDER"], reference(box, frame), atol=1e-6)
    box.hide_render = True
    words = states_of_a_render(box, tmp_path)[4, "RENDER"]
    assert "'Box' is hidden" in words and "in renders" in words


def test_edit_mode_is_read_as_edited():
    box = add_box()
    edit(box)
    edited = bmesh.from_edit_mesh(box.data)
    bmesh.ops.translate(edited, verts=list(edited.verts), vec=(0, 0, 3))
    bmesh.update_edit_mesh(box.data)
    for look in (live, read):
        assert math.isclose(look(box)[0].vertices[..., 2].mean(), 3, rel_tol=1e-6)
    bpy.ops.object.mode_set(mode="OBJECT")


# ------------------------------------------------------------------------------------------------- bad input


BAD = {
    "flat": (lambda box: setattr(box.scale, "y", 0), "'Box' has a scale of zero;.*scale above zero"),
    "dots": (lambda box: setattr(box, "data", add_mesh("Dots", [(0, 0, 0)], []).data), "'Box' has no faces"),
    "not numbers": (
        lambda box: setattr(box.data.vertices[3].co, "y", math.nan),
        "'Box' has vertices that are not numbers",
    ),
    "no area": (
        lambda box: setattr(
            box, "data", add_mesh("Line", [(0, 0, 0), (1, 1, 1), (2, 2, 2), (4, 4, 4)], [(0, 1, 2), (1, 2, 3)]).data
        ),
        "No triangle of 'Box' has any area",
    ),
}


@pytest.mark.parametrize("how", BAD)
def test_bad_objects_are_refused(how):
    box = add_box()
    box.rotation_euler = (1, 2, 3)
    change, words = BAD[how]
    change(box)
    for look in (read, live):
        with pytest.raises(InputError, match=words):
            look(box)


def test_a_curve_without_faces_and_bad_frames_are_refused():
    line = add_line()
    for look in (read, live):
        with pytest.raises(InputError, match="'Path' has no faces"):
            look(line)
    for frames in ([], [1.0, math.nan]):
        with pytest.raises(InputError, match="frame range"):
            read(add_box(), frames=frames)


def test_some_triangles_without_area_non_manifold_meshes_and_tiny_ones_are_fine():
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, -1), (2, 0, 0)]
    fan = add_mesh("Fan", corners, [(0, 1, 5), (0, 1, 2), (0, 1, 3), (0, 1, 4)])
    assert len(read(fan)[0].triangles) == 4
    read(add_mesh("Tiny", [(0, 0, 0), (1e-6, 0, 0), (0, 1e-6, 0)], [(0, 1, 2)]))


def drive_parent(box):
    box.parent = add_object("Parent")
    drive(box.parent, "scale", "0 if frame == 4 else 1", 0)


def hide_on_the_way(box):
    key_location(box)
    key(box, "hide_viewport", {1: False, 4: True})


ON_THE_WAY = {
    "flat": (drive_parent, InputError, "'Box' has a scale of zero at frame 4"),
    "inside out": (
        lambda box: drive(box, "scale", "-1 if frame > 5 else 1", 0),
        InputError,
        "'Box' turns inside out at frame 6",
    ),
    "topology": (
        lambda box: key(box.modifiers.new("Array", "ARRAY"), "count", {1: 2, 5: 3}),
        InputError,
        "topology of 'Box' changes at frame [345]: 24 vertices.*16 and 12",
    ),
    "hidden": (hide_on_the_way, SceneError, "'Box' is hidden.* at frame 4"),
}


@pytest.mark.parametrize("how", ON_THE_WAY)
def test_what_goes_wrong_on_the_way_names_the_frame_and_brings_the_frame_back(how):
    box = add_box()
    change, error, words = ON_THE_WAY[how]
    change(box)
    bpy.context.scene.frame_set(3, subframe=0.25)
    with pytest.raises(error, match=words):
        read(box)
    assert bpy.context.scene.frame_current_final == 3.25


@pytest.mark.parametrize("after", [1, 4, 8])
def test_progress_and_the_frame_comes_back_also_half_way(after):
    box = add_box()
    drive(box, "location", "frame / 10", 2)
    bpy.context.scene.frame_set(3, subframe=0.25)
    sweep = meshes.sweep_environment(bpy.context, [box], FRAMES)
    assert [next(sweep) for _ in range(after)] == pytest.approx(np.arange(1, after + 1) / 8)
    if after < 8:
        sweep.close()
    assert next(sweep, None) is None and bpy.context.scene.frame_current_final == 3.25


@pytest.mark.parametrize("is_bound", (False, True))
def test_a_mesh_is_read_live_without_python_for_each_polygon(is_bound):
    seas = [add_sea(size, f"Sea {size}") for size in (5, 50)]
    bound = {mesh.name: mesh.triangles for mesh in live(*seas)} if is_bound else None
    depsgraph = evaluate()
    few, many = (steps_of(lambda sea=sea: read_state(depsgraph, [sea], bound)) for sea in seas)
    assert few == many
