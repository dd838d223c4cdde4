"""The environment without stepping, and whether it is still what it was, against what stepping reads."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions, meshes, topology
from bl_ext.devrepo.motion_loom.scene.environment_state import needs_sweep, present_tracks
from bl_ext.devrepo.motion_loom.scene.object_motion import worlds_by_curves
from bl_ext.devrepo.motion_loom.scene.state_track import ObjectState, Shape, StateTrack
from bl_ext.devrepo.motion_loom.solvers.core.errors import InputError, SceneError, StaleBindingError

from tests.counting import steps_of
from tests.map_scenes import run
from tests.mesh_scenes import read_state
from tests.objects import add_grid, add_nodes, add_object, drive, evaluate, frames_set, key, reopen

FRAMES = np.arange(1.0, 13.0)


def key_path(ob, *places):
    frames = np.linspace(1, 12, len(places))
    key(ob, "location", dict(zip(frames, places, strict=True)))
    key(ob, "rotation_euler", {frame: (0, 0, 0.2 * frame) for frame in frames})
    bpy.context.scene.frame_set(1)


def add_set():
    """Something that stands still, a cart on its way with a bevel and a box on it, and one on a parent far away."""
    still = add_grid("Still")
    still.location, still.scale = (3, 2, 0), (1, -2, 1)
    cart = add_grid("Cart")
    cart.modifiers.new("Bevel", "BEVEL")
    key_path(cart, (0, 0, 0), (3, 1, 0), (2, 5, 1))
    box = add_grid("Box")
    box.parent, box.location.z = cart, 1
    far = add_object("Far")
    far.location, far.rotation_euler = (300, -200, 10), (0.1, 0.2, 2)
    bpy.context.view_layer.update()
    back = add_grid("Back")
    back.parent, back.matrix_parent_inverse = far, far.matrix_world.inverted()
    key_path(back, (0, 0, 0), (1, 1, 1))
    return [still, cart, box, back]


def sweep(objects, frames=FRAMES, bound=None):
    """(MeshTrack, StateTrack) of each; whether the scene was stepped."""
    tracks, shares = run(meshes.sweep_states(bpy.context, objects, frames, bound))
    return tracks, bool(shares)


def present(objects, frames=FRAMES, bound=None):
    return present_tracks(bpy.context.scene, evaluate(), objects, frames, bound or {})


def seen_states(frame, *objects):
    bpy.context.scene.frame_set(int(frame))
    return [meshes.read_object(ob, evaluate()) for ob in objects]


# ------------------------------------------------------------------------------------------ without stepping


def test_what_is_read_without_stepping_is_what_stepping_reads():
    objects = add_set()
    bpy.context.scene.frame_set(5)
    assert needs_sweep(bpy.context.scene, objects) == []
    with frames_set() as seen:
        quick, (by_curves, stepped) = present(objects), sweep(objects)
    assert not stepped and not seen
    bound = {mesh.name: mesh.triangles for mesh, _ in by_curves}
    assert all(mesh.triangles is bound[mesh.name] for mesh, _ in present(objects, bound=bound))
    for ob in objects:  # a constraint that does nothing makes it uncertain
        ob.constraints.new("LIMIT_LOCATION")
    assert needs_sweep(bpy.context.scene, objects) == ["Still", "Cart", "Box", "Back"]
    assert present(objects) is None
    slow, stepped = sweep(objects)
    assert stepped
    slow, stepped = sweep(objects)
    assert stepped
    for name, (fast, _), (curves, _), (real, _) in zip("SCBK", quick, by_curves, slow, strict=True):
        for mesh in (fast, curves):
            assert mesh.name == real.name
            np.testing.assert_array_equal(mesh.triangles, real.triangles)
            assert len(mesh.vertices) == (1 if name == "S" else len(FRAMES))
            np.testing.assert_allclose(mesh.vertices - real.vertices, 0, atol=2e-4 if name == "K" else 2e-6)


def test_keys_that_change_nothing_leave_one_state():
    ob = add_grid("Grid")
    key_path(ob, (1, 2, 3), (1, 2, 3))
    for curve in actions.all_curves(*actions.assigned(ob)):
        if curve.data_path == "rotation_euler":
            curve.mute = True
    ((quick, states),) = present([ob])
    ((swept, _),), _ = sweep([ob])
    assert quick.is_static and swept.is_static and len(states.matrices) == 1


def deform_by_key(ob):
    ob.modifiers.clear()  # bevels of another number
    ob.shape_key_add(name="Basis")
    ob.shape_key_add(name="Up").data[0].co.z = 1
    key(ob.data.shape_keys.key_blocks["Up"], "value", {1: 1 / 12, 12: 1})


MOVING = {
    "shape key": deform_by_key,
    "keyed modifier": lambda ob: key(ob.modifiers.new("Bend", "SIMPLE_DEFORM"), "angle", {1: 1 / 12, 12: 1}),
    "driven modifier": lambda ob: drive(ob.modifiers.new("Bend", "SIMPLE_DEFORM"), "angle", "frame / 12"),
    "driven location": lambda ob: drive(ob, "location", "frame / 12", 0),
}


@pytest.mark.parametrize("change", MOVING)
def test_what_needs_a_sweep_is_named(change):
    still, cart, box, back = add_set()
    MOVING[change](cart)
    assert needs_sweep(bpy.context.scene, [still, back]) == []
    assert needs_sweep(bpy.context.scene, [still, cart, back])[:1] == ["Cart"]
    assert present([still, cart, back]) is None
    ((mesh, states),), stepped = sweep([cart])
    assert stepped
    assert len(mesh.vertices) == len(FRAMES)
    for row, frame in enumerate(FRAMES):
        (state,) = seen_states(frame, cart)
        assert states.matches(row, state) and not states.matches((row + 5) % 12, state)


def test_shading_by_angle_does_not_deform_and_other_nodes_may():
    smooth, timed = add_grid("Smooth"), add_grid("Timed")
    add_nodes(smooth, "GeometryNodeSetShadeSmooth", "GeometryNodeInputMeshEdgeAngle", "FunctionNodeCompare")
    add_nodes(timed, "GeometryNodeSetShadeSmooth", "GeometryNodeInputSceneTime")
    key_path(smooth, (0, 0, 0), (1, 1, 1))
    assert needs_sweep(bpy.context.scene, [smooth, timed]) == ["Timed"]


# ------------------------------------------------------------------------------------------- raw states


BROKEN = {
    "hidden": lambda ob: setattr(ob, "hide_viewport", True),
    "flat": lambda ob: setattr(ob.scale, "x", 0),
    "not numbers": lambda ob: setattr(ob.data.vertices[2].co, "x", float("nan")),
    "no faces": lambda ob: ob.data.clear_geometry(),
}


@pytest.mark.parametrize("change", BROKEN)
def test_a_raw_state_is_refused_as_read_state_refuses_it(change):
    ob = add_grid("Grid")
    known = meshes.read_object(ob, evaluate())
    BROKEN[change](ob)
    ob.data.update()
    errors = []
    for read in (
        lambda: read_state(evaluate(), [ob]),
        lambda: meshes.read_object(ob, evaluate()),
        lambda: meshes.read_object(ob, evaluate(), known),
    ):
        with pytest.raises((SceneError, InputError)) as caught:
            read()
        errors.append(str(caught.value))
    assert errors[0] == errors[1] == errors[2]


def test_a_raw_state_as_a_surface_is_what_read_state_reads():
    ob = add_set()[0]
    (expected,) = read_state(evaluate(), [ob])
    surface = meshes.read_object(ob, evaluate()).surface(expected.triangles)
    assert surface.name == "Still"
    np.testing.assert_array_equal(surface.vertices, expected.vertices)


def test_what_is_the_same_is_kept_with_its_digest():
    ob = add_grid("Grid")
    first = meshes.read_object(ob, evaluate())
    ob.location.x = 1
    moved = meshes.read_object(ob, evaluate(), first)
    assert moved.shape is first.shape
    assert moved.matrix[0, 3] == 1
    ob.data.vertices[0].co.z = 1
    ob.data.update()
    bent = meshes.read_object(ob, evaluate(), first)
    assert bent.faces is first.faces
    assert bent.digest != first.digest
    assert bent.digest == meshes.read_object(ob, evaluate()).digest
    ob.modifiers.new("Triangulate", "TRIANGULATE")
    split = meshes.read_object(ob, evaluate(), first)
    np.testing.assert_array_equal(split.faces.starts, 3 * np.arange(len(split.faces.starts)))


# ----------------------------------------------------------------------- is it still what it was


def test_an_unchanged_set_matches_at_every_frame():
    objects = add_set()
    tracks = [states for _, states in present(objects)]
    swept = [states for _, states in sweep(objects)[0]]
    again = [StateTrack.from_text(states.to_text()) for states in tracks]
    for row, frame in enumerate(FRAMES):
        states = seen_states(frame, *objects)
        states = [meshes.read_object(ob, evaluate()) for ob in objects]
        for known in (tracks, swept, again):
            assert all(track.matches(row, state) for track, state in zip(known, states, strict=True))
    assert not tracks[1].matches(0, states[1])
    assert not tracks[3].matches(0, states[3])


def test_remapped_time_matches_too():
    render = bpy.context.scene.render
    render.frame_map_old, render.frame_map_new = 100, 137
    cart = add_grid("Cart")
    key(cart, "location", {1: 0.5, 4001: 2000.5}, index=0)
    frames = np.arange(900.0, 960.0)
    ((_, states),) = present([cart], frames)
    for row, frame in enumerate(frames):
        assert states.matches(row, *seen_states(frame, cart))


def nudge_vertex(ob):
    ob.data.vertices[5].co.z += 1e-6
    ob.data.update()


EDITS = {
    "location": lambda ob: setattr(ob.delta_location, "x", 1e-3),
    "rotation": lambda ob: setattr(ob.delta_rotation_euler, "x", 1e-4),
    "vertex": nudge_vertex,
    "diagonals": lambda ob: ob.modifiers.new("Triangulate", "TRIANGULATE"),
}


@pytest.mark.parametrize("change", EDITS)
@pytest.mark.parametrize("number", range(4))
def test_small_edits_are_noticed(change, number):
    objects = add_set()
    ob, (_, states) = objects[number], present(objects)[number]
    EDITS[change](ob)
    assert not states.matches(3, *seen_states(4, ob))


def test_between_frames_only_what_stands_still_is_compared():
    objects = add_set()
    tracks = [states for _, states in present(objects)]
    still, cart = objects[:2]
    bpy.context.scene.frame_set(4, subframe=0.5)
    for ob in (still, cart):
        ob.delta_location.x = 1
    states = [meshes.read_object(ob, evaluate()) for ob in (still, cart)]
    assert not tracks[0].matches(None, states[0])
    assert tracks[1].matches(None, states[1])


def test_keys_moved_at_other_frames_are_noticed():
    cart = add_set()[1]
    ((_, states),) = present([cart])
    assert states.goes_along(worlds_by_curves(bpy.context.scene, cart, FRAMES))
    cart.location = 5, 5, 5
    cart.keyframe_insert("location", frame=12)
    assert not states.goes_along(worlds_by_curves(bpy.context.scene, cart, FRAMES))


def triangle(positions, *corners):
    return Shape(positions, topology.Faces(3, np.array(corners, np.int32), np.array([0], np.int32)))


def test_minus_zero_is_zero_and_nothing_else_is():
    positions = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    digest = triangle(positions, 0, 1, 2).digest
    assert triangle(np.where(positions == 0, np.float32(-0.0), positions), 0, 1, 2).digest == digest
    assert triangle(np.nextafter(positions, np.float32(2)), 0, 1, 2).digest != digest
    assert triangle(positions, 0, 2, 1).digest != digest


def test_the_digest_does_not_depend_on_the_session():
    positions = np.arange(9, dtype=np.float32).reshape(3, 3)
    assert ObjectState("T", np.eye(4), triangle(positions, 0, 1, 2)).digest == "503eb5a60c072a76"


def test_text_that_is_none_is_refused():
    ((_, states),) = present([add_set()[0]])
    text = states.to_text()
    for broken in ("", "x", text[3:], text[: len(text) // 3]):
        with pytest.raises(StaleBindingError, match="damaged"):
            StateTrack.from_text(broken)


def test_save_and_reopen(tmp_path):
    objects = add_set()
    add_nodes(objects[0], "GeometryNodeSetShadeSmooth")
    tracks = {ob.name: states for ob, (_, states) in zip(objects, present(objects), strict=True)}
    reopen(tmp_path)
    for row in (0, 7):
        found = seen_states(FRAMES[row], *(bpy.data.objects[name] for name in tracks))
        assert all(states.matches(row, state) for states, state in zip(tracks.values(), found, strict=True))


# ------------------------------------------------------------------------------------------------- how much


def test_objects_are_read_and_compared_live_without_python_for_each_vertex():
    objects = [add_grid("Small", 5, 4), add_grid("Large", 50, 40)]
    depsgraph = evaluate()
    known = [meshes.read_object(ob, depsgraph) for ob in objects]
    tracks = present(objects)

    def look(which):
        (mesh, states), old = tracks[which], known[which]
        assert states.matches(0, meshes.read_object(objects[which], depsgraph, old))
        old.surface(mesh.triangles)

    assert steps_of(lambda: look(0)) == steps_of(lambda: look(1))
