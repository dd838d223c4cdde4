"""Live copies of targets: what they show, what they leave alone, and how all comes back."""

import hashlib

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import live_mesh
from bl_ext.devrepo.motion_loom.scene.mesh_sequence import mesh_sequence_steps
from bl_ext.devrepo.motion_loom.solvers.core.errors import OutputError, SceneError, StaleBindingError
from mathutils import Matrix

from tests import map_scenes as scenes
from tests import rig_scenes
from tests.counting import steps_of
from tests.objects import add_object, evaluate, key

TURN = np.array(Matrix.LocRotScale((1, 2, 3), Matrix.Rotation(0.7, 3, (1, 2, 3)), (1, -2, 0.5)))


def target(name="Strip"):
    ob = scenes.add_strip(name)
    scenes.key_values(scenes.add_keys(ob))
    ob.data.materials.append(bpy.data.materials.new("Skin"))
    return ob


def write(live, vertices, world=TURN):
    return live_mesh.write(live, evaluate(), vertices, world)


def world_of(vertices, world):
    return vertices @ world[:3, :3].T + world[:3, 3]


def assert_shows(live, vertices=None, world=TURN):
    """What is written is shown, in the world."""
    vertices = bumps(live) if vertices is None else vertices
    write(live, vertices, world)
    np.testing.assert_allclose(scenes.world_positions(live), world_of(vertices, world), atol=2e-5)


def bumps(ob, seed=0):
    return np.random.default_rng(seed).normal(size=(len(ob.data.vertices), 3)).astype(np.float32)


def fingerprint(ob):
    """All that the user made of a target, its visibility included."""
    keys = ob.data.shape_keys
    parts = [
        ob.name, ob.parent, ob.matrix_basis.copy().freeze(), ob.hide_viewport, ob.hide_render, ob.hide_get(),
        tuple(m.name for m in ob.modifiers), tuple(m.show_viewport for m in ob.modifiers),
        hashlib.md5(scenes.positions(ob.data).tobytes()).hexdigest(),
    ]  # fmt: skip
    if keys is not None:
        parts += [(b.name, b.mute, [tuple(p.co) for p in b.points]) for b in keys.key_blocks]
        parts += rig_scenes.fingerprint(keys.animation_data.action)
    return parts


def datablocks():
    return {name: len(getattr(bpy.data, name)) for name in ("objects", "meshes", "shape_keys", "actions")}


def test_made_written_and_restored():
    ob = target()
    ob.hide_render = True
    before, blocks = fingerprint(ob), datablocks()
    live = live_mesh.make(bpy.context, ob)
    assert live.name == "Strip (live)" and live.data != ob.data and live.data.shape_keys is None
    assert live.users_collection == ob.users_collection and live.data.materials[0].name == "Skin"
    assert ob.hide_viewport and ob.hide_render and not live.hide_viewport
    assert live_mesh.live_of(ob) == live and live_mesh.original_of(live) == ob
    vertices = bumps(ob)
    assert write(live, vertices)
    np.testing.assert_allclose(scenes.world_positions(live), world_of(vertices, TURN), atol=1e-5)
    assert not write(live, vertices)
    assert write(live, vertices, np.eye(4)) and write(live, bumps(ob, 1), np.eye(4))
    assert_shows(live, world=TURN @ np.array(Matrix.Shear("XY", 4, (0.4, 0.7))))
    write(live, bumps(ob, 1), np.eye(4))
    bpy.context.scene.frame_set(9)
    np.testing.assert_allclose(scenes.world_positions(live), bumps(ob, 1), atol=1e-5)
    bpy.context.scene.frame_set(1)
    assert live_mesh.restore(live) == ob
    assert fingerprint(ob) == before and datablocks() == blocks


def test_normals_follow():
    ob = target()
    live = live_mesh.make(bpy.context, ob)
    flat = np.array(ob.data.polygons[0].normal)
    write(live, scenes.positions(ob.data) @ np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]], np.float32).T, np.eye(4))
    np.testing.assert_allclose(live.data.polygons[0].normal, [flat[2], flat[1], -flat[0]], atol=1e-5)


@pytest.mark.parametrize("moving", (False, True))
def test_a_parent_with_an_uneven_scale(moving):
    ob = target()
    parent = add_object("Parent")
    parent.scale, parent.rotation_euler = (1, -3, 0.5), (0.3, 0.4, 1)
    ob.parent = parent
    ob.matrix_parent_inverse = Matrix.Rotation(0.4, 4, "X") @ Matrix.Translation((1, 2, 3))
    if moving:
        key(parent, "location", {1: (1, 2, 3), 9: (9, 2, 3)})
    live = live_mesh.make(bpy.context, ob)
    assert live.parent == parent
    for frame in (1, 6):
        bpy.context.scene.frame_set(frame)
        assert_shows(live)
        assert not write(live, bumps(ob))


def test_what_deforms_goes_and_what_finishes_stays():
    ob = scenes.add_strip("Skin")
    rig = rig_scenes.add_chain(("a", "b"))
    rig_scenes.animate_at_random(rig, scale=False)
    ob.vertex_groups.new(name="a").add(range(36), 1.0, "REPLACE")
    ob.modifiers.new("Mirror", "MIRROR")
    ob.modifiers.new("Armature", "ARMATURE").object = rig
    ob.modifiers.new("Off", "ARMATURE").show_viewport = False
    ob.modifiers.new("Sub", "SUBSURF")
    ob.parent, ob.parent_type, ob.parent_bone = rig, "BONE", "b"
    ob.constraints.new("COPY_ROTATION").target = rig
    ob.delta_location, ob.rotation_mode = (1, 2, 3), "XYZ"
    before = fingerprint(ob)
    sequence = scenes.run(mesh_sequence_steps(bpy.context, ob, [1, 5, 9]))[0]
    live = live_mesh.make(bpy.context, ob)
    assert [modifier.name for modifier in live.modifiers] == ["Motion Blur", "Sub"] and not live.constraints
    live.modifiers["Sub"].show_viewport = False
    assert_shows(live, sequence.vertices[1], sequence.worlds[1])
    live_mesh.restore(live)
    assert fingerprint(ob) == before


def test_a_lattice_or_armature_as_deforming_parent():
    ob = scenes.add_strip("Skin")
    ob.parent = rig_scenes.add_chain(("a", "b"))
    ob.parent_type = "ARMATURE"
    live = live_mesh.make(bpy.context, ob)
    assert live.parent_type == "OBJECT"
    assert_shows(live)


@pytest.mark.parametrize("by", ("operator", "data"))
def test_a_deleted_original(by):
    ob = target()
    live = live_mesh.make(bpy.context, ob)
    if by == "data":
        bpy.data.objects.remove(ob)
    else:
        ob.hide_viewport = False
        bpy.context.view_layer.update()
        bpy.ops.object.select_all(action="DESELECT")
        ob.select_set(True)
        bpy.ops.object.delete()
    write(live, bumps(live))
    assert live_mesh.original_of(live) is None and live_mesh.restore(live) is None
    assert live.name in bpy.context.scene.objects and not live_mesh.is_live(live)


def test_a_shared_mesh_stays_with_the_others():
    ob = target()
    other = add_object("Twin", ob.data)
    before = scenes.seen(other, [1, 5])[0]
    live = live_mesh.make(bpy.context, ob)
    write(live, bumps(ob))
    np.testing.assert_array_equal(scenes.seen(other, [1, 5])[0], before)
    live_mesh.restore(live)
    assert other.data == ob.data


def test_refusals(tmp_path):
    ob = target()
    ob.keyframe_insert("hide_render", frame=1)
    with pytest.raises(SceneError, match="visibility of 'Strip' is animated"):
        live_mesh.make(bpy.context, ob)
    ob.animation_data_clear()
    live = live_mesh.make(bpy.context, ob)
    with pytest.raises(SceneError, match="live already, as 'Strip \\(live\\)'"):
        live_mesh.make(bpy.context, ob)
    with pytest.raises(SceneError, match="itself a live copy"):
        live_mesh.make(bpy.context, live)
    with pytest.raises(SceneError, match="not a live copy"):
        live_mesh.restore(ob)
    before = scenes.world_positions(live)
    for vertices, world, error in (
        (bumps(ob)[1:], TURN, StaleBindingError), (bumps(ob) * np.nan, TURN, OutputError),
        (bumps(ob), TURN * np.nan, OutputError), (bumps(ob), TURN @ np.diag([1, 0, 1, 1]), OutputError),
    ):  # fmt: skip
        with pytest.raises(error):
            write(live, vertices, world)
    np.testing.assert_array_equal(scenes.world_positions(live), before)
    with pytest.raises(SceneError, match="choose a mesh"):
        live_mesh.make(bpy.context, add_object("Nothing"))
    with pytest.raises(SceneError, match="library override or a local copy"):
        live_mesh.make(bpy.context, scenes.linked(ob, tmp_path, False))


def test_vertices_are_written_without_python_for_each():
    counts = []
    for size in (3, 40):
        x, y = np.meshgrid(np.arange(size), np.arange(size))
        corners = np.stack((x, y, 0 * x), axis=-1).reshape(-1, 3).astype(float)
        ob = scenes.add_mesh(f"Target {size}", corners, [(0, 1, size + 1, size)])
        live = live_mesh.make(bpy.context, ob)
        write(live, corners)
        counts.append(steps_of(lambda live=live, shape=corners + 1.0: write(live, shape)))
    assert counts[0] == counts[1]
