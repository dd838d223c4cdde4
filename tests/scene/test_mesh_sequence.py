"""A mesh's motion against what Blender evaluates at each frame."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions, shape_keys
from bl_ext.devrepo.motion_loom.scene.mesh_sequence import key_poses, mesh_sequence_steps
from bl_ext.devrepo.motion_loom.solvers.core.errors import InputError, SceneError

from tests import map_scenes as scenes
from tests import rig_scenes
from tests.objects import add_object, edit, key

FRAMES = np.array([-3.0, 1.0, 2.5, 4.0, 5.0, 7.25, 9.0, 14.0, 20.0])


def keyed(name="Strip"):
    """A strip whose shape keys are keyed."""
    ob = scenes.add_strip(name)
    scenes.key_values(scenes.add_keys(ob))
    return ob


def absolute(values):
    """A strip with shape keys by evaluation time, keyed by frame."""
    ob = scenes.add_strip()
    keys = scenes.add_keys(ob, 5)
    keys.use_relative = False
    key(keys, "eval_time", values)
    return ob


def read(ob, frames=FRAMES):
    return scenes.run(mesh_sequence_steps(bpy.context, ob, frames))[0]


def assert_as_seen(ob, by_curves=True, frames=FRAMES):
    found = read(ob, frames)
    assert (found.sampled_because is None) == by_curves, found.sampled_because
    vertices, worlds = scenes.seen(ob, frames)
    np.testing.assert_allclose(found.vertices, vertices, atol=1e-5)
    np.testing.assert_allclose(found.worlds, worlds, atol=1e-5)
    return found


# ------------------------------------------------------------------------------------------------ by curves


def test_relative_keys():
    ob = keyed()
    found = assert_as_seen(ob)
    assert found.vertices.dtype == np.float32
    assert len(found.triangles) == 2 * len(ob.data.polygons)


def test_relative_keys_of_every_kind():
    ob = scenes.add_strip()
    keys = scenes.add_keys(ob, 6)
    blocks = keys.key_blocks
    group = ob.vertex_groups.new(name='odd name "x"')
    for vertex in range(0, 20):
        group.add([vertex], vertex / 20, "REPLACE")
    blocks[1].vertex_group = group.name
    blocks[2].relative_key = blocks[1]
    blocks[3].slider_min, blocks[3].slider_max = -2.0, 3.0
    blocks[5].vertex_group = "gone"
    scenes.key_values(keys, low=-3, high=4)
    blocks[4].mute = True
    blocks[6].driver_remove("value")
    blocks[6].keyframe_delete("value", frame=1)
    bpy.context.scene.frame_set(3)
    assert_as_seen(ob)


def test_curves_beyond_the_slider_and_unkeyed_values():
    ob = scenes.add_strip()
    keys = scenes.add_keys(ob, 3)
    keys.key_blocks[1].value, keys.key_blocks[2].value = 0.1, 0.7
    keys.key_blocks[1].keyframe_insert("value", frame=1)
    curve = actions.all_curves(*actions.assigned(keys))[0]
    curve.keyframe_points.add(1)
    curve.keyframe_points[1].co = (9, 5.0)
    curve.update()
    assert_as_seen(ob)


@pytest.mark.parametrize("remapped", (False, True))
def test_absolute_keys(remapped):
    ob = absolute({1: 0.0, 5: 12.0, 9: 48.0, 14: 70.0})
    if remapped:
        bpy.context.scene.render.frame_map_new = 130
    assert_as_seen(ob)


def test_absolute_keys_joined_by_curves_are_stepped_through():
    ob = absolute({1: 0.0, 14: 50.0})
    ob.data.shape_keys.key_blocks[2].interpolation = "KEY_BSPLINE"
    assert_as_seen(ob, by_curves=False)


def test_moving_object_with_an_uneven_mirrored_scale_and_a_parent():
    ob, parent = keyed('骨 "x"'), add_object("Parent")
    ob.parent = parent
    parent.scale, parent.rotation_euler = (1, -2, 0.5), (0.3, 0.4, 1)
    key(ob, "location", {1: (1, 0, 2), 12: (12, 0, 2)})
    key(ob, "rotation_euler", {1: (0.1, 0, 0.3), 12: (1.2, 0, 0.3)})
    assert_as_seen(ob)


def test_timeless_modifiers_at_the_end_are_left_out_and_stay_on():
    ob = keyed()
    ob.modifiers.new("Sub", "SUBSURF")
    found = read(ob)
    assert found.sampled_because is None and found.vertices.shape[1] == len(ob.data.vertices)
    ob.modifiers["Sub"].show_viewport = False
    np.testing.assert_allclose(found.vertices, scenes.seen(ob, FRAMES)[0], atol=1e-5)


@pytest.mark.parametrize("name", ("Horse", "Flamingo", "Parrot"))
def test_real_morphs_from_the_importer(data, name):
    bpy.ops.import_scene.gltf(filepath=str(data / "morph_glb" / f"{name}.glb"))
    ob = next(ob for ob in bpy.context.scene.objects if ob.type == "MESH" and ob.data.shape_keys)
    extent = np.ptp(scenes.positions(ob.data), axis=0).max()
    frames = np.arange(1, 15, 0.5)
    found = read(ob, frames)
    assert found.sampled_because is None
    np.testing.assert_allclose(found.vertices, scenes.seen(ob, frames)[0], atol=1e-6 * extent)


# ---------------------------------------------------------------------------------------------- by stepping


def turning_skin():
    ob = scenes.add_strip("Skin")
    rig = rig_scenes.add_chain(("a", "b", "c"))
    rig_scenes.animate_at_random(rig, frames=(1, 7, 14), scale=False)
    for number, bone in enumerate(("a", "b", "c")):
        ob.vertex_groups.new(name=bone).add(range(12 * number, 12 * number + 12), 1.0, "REPLACE")
    ob.modifiers.new("Armature", "ARMATURE").object = rig
    ob.parent = rig
    return ob


def test_armature():
    assert "Armature" in assert_as_seen(turning_skin(), by_curves=False).sampled_because


def test_armature_after_a_mirror_is_read_with_it_and_before_a_subdivision_without():
    ob = turning_skin()
    ob.modifiers.new("Mirror", "MIRROR")
    ob.modifiers.move(1, 0)
    ob.modifiers.new("Sub", "SUBSURF").levels = 2
    found = read(ob)
    assert all(modifier.show_viewport for modifier in ob.modifiers)
    ob.modifiers["Sub"].show_viewport = False
    vertices, _ = scenes.seen(ob, FRAMES)
    assert vertices.shape[1] > len(ob.data.vertices)
    np.testing.assert_allclose(found.vertices, vertices, atol=1e-6)


def test_drivers_and_strips_are_stepped_through():
    ob = scenes.add_strip()
    keys = scenes.add_keys(ob)
    keys.key_blocks[1].driver_add("value").driver.expression = "frame * 0.05"
    assert_as_seen(ob, by_curves=False)
    keys.key_blocks[1].driver_remove("value")
    scenes.key_values(keys)
    data = keys.animation_data
    action, slot = data.action, getattr(data, "action_slot", None)
    data.action = None
    rig_scenes.add_strip(keys, action, slot, 3)
    assert_as_seen(ob, by_curves=False)


def test_a_hidden_mesh_with_keys_that_stands_on_a_moved_parent():
    ob, parent = keyed(), add_object("Parent")
    ob.parent, parent.location, ob.location = parent, (1, 2, 3), (1, 1, 1)
    ob.hide_viewport = True
    for found in (read(ob), key_poses(bpy.context, ob)):
        np.testing.assert_allclose(found.worlds[:, :3, 3], np.tile((2.0, 3.0, 4.0), (len(found.frames), 1)))


def test_alembic(tmp_path):
    ob = keyed("Abc")
    key(ob, "location", {1: (1, 0, 0), 12: (12, 0, 0)})
    frames = np.arange(1, 15)
    expected, worlds = scenes.seen(ob, frames)
    path = str(tmp_path / "a.abc")
    bpy.ops.wm.alembic_export(filepath=path, start=1, end=14, as_background_job=False)
    bpy.data.objects.remove(ob)
    bpy.ops.wm.alembic_import(filepath=path, as_background_job=False)
    ob = next(ob for ob in bpy.context.scene.objects if ob.type == "MESH")
    found = read(ob, frames)
    assert found.sampled_because
    np.testing.assert_allclose(found.vertices, expected, atol=1e-5)
    np.testing.assert_allclose(found.worlds, worlds, atol=1e-5)


@pytest.mark.parametrize("override", (False, True))
def test_linked_targets(tmp_path, override):
    ob = keyed()
    ob.modifiers.new("Wave", "WAVE")
    ob.modifiers.new("Sub", "SUBSURF")
    ob = scenes.linked(ob, tmp_path, override)
    found = read(ob)
    assert ob.modifiers["Sub"].show_viewport
    ob.modifiers["Sub"].show_viewport = False
    np.testing.assert_allclose(found.vertices, scenes.seen(ob, FRAMES)[0], atol=1e-6)


def test_closing_half_way_puts_all_back():
    ob = turning_skin()
    ob.modifiers.new("Sub", "SUBSURF")
    bpy.context.scene.frame_set(6, subframe=0.5)
    before = rig_scenes.fingerprint(ob.parent.animation_data.action)
    steps = mesh_sequence_steps(bpy.context, ob, FRAMES)
    assert 0 < next(steps) < next(steps) < 1
    assert not ob.modifiers["Sub"].show_viewport
    steps.close()
    assert ob.modifiers["Sub"].show_viewport
    assert (bpy.context.scene.frame_current, bpy.context.scene.frame_subframe) == (6, 0.5)
    assert rig_scenes.fingerprint(ob.parent.animation_data.action) == before


def test_a_modifier_or_the_object_removed_on_the_way():
    ob = turning_skin()
    ob.modifiers.new("Sub", "SUBSURF")
    steps = mesh_sequence_steps(bpy.context, ob, FRAMES)
    next(steps)
    ob.modifiers.remove(ob.modifiers["Sub"])
    next(steps)
    bpy.data.objects.remove(ob)
    with pytest.raises(SceneError, match="Skin"):
        next(steps)


# ---------------------------------------------------------------------------------------------------- poses


def test_keys_as_poses():
    ob = scenes.add_strip()
    keys = scenes.add_keys(ob, 3)
    keys.key_blocks[2].mute = True
    found = key_poses(bpy.context, ob)
    assert found.poses == ("Basis", "Key 0", "Key 1", "Key 2") and found.frames.tolist() == [1, 2, 3, 4]
    for shape, block in zip(found.vertices, keys.key_blocks, strict=True):
        np.testing.assert_allclose(shape.ravel(), shape_keys.read_points(block), atol=1e-6)


# ------------------------------------------------------------------------------------------------- bad input


def refused(words, ob, frames=FRAMES, error=InputError):
    with pytest.raises(error, match=words):
        read(ob, frames)


def test_what_may_rest():
    """One frame, or a shape that is the same at all of them."""
    ob = scenes.add_strip("Still")
    for frames in ([3], [1, 5]):
        sequence = scenes.run(mesh_sequence_steps(bpy.context, ob, frames, may_rest=True))[0]
        assert len(sequence.vertices) == len(frames) and np.ptp(sequence.vertices, axis=0).max() == 0.0
    with pytest.raises(InputError, match="a frame or more"):
        scenes.run(mesh_sequence_steps(bpy.context, ob, [], may_rest=True))


def test_what_keeps_a_shape_at_rest_is_named():
    bone = {"name": "Bone", "head": (0, 0, 0), "tail": (0, 0, 1)}
    ob, rig = scenes.add_strip("Still"), rig_scenes.add_armature("Rig", [bone])
    armature = ob.modifiers.new("Bends", "ARMATURE")
    armature.object = rig
    refused("does not change from frame", ob)
    rig.data.pose_position = "REST"
    refused("armature 'Rig' shows its rest position; switch it to Pose Position", ob)
    armature.show_viewport = False
    refused("modifier 'Bends' is switched off in viewports", ob)
    assert len(scenes.run(mesh_sequence_steps(bpy.context, ob, [1, 5], may_rest=True))[0].vertices) == 2


def test_refusals():
    ob = scenes.add_strip("Still")
    refused("does not change", ob)
    scenes.key_values(scenes.add_keys(ob))
    for frames in ([], [1], [1, np.nan]):
        refused("two frames", ob, frames)
    ob.show_only_shape_key = True
    refused("alone", ob, error=SceneError)
    ob.show_only_shape_key = False
    ob.data.shape_keys.key_blocks[1].points[3].co = (float("nan"), 0, 0)
    refused("not numbers at frame", ob)
    refused("no faces", add_object("Nothing", bpy.data.meshes.new("Nothing")))
    refused("choose a mesh", add_object("Camera", bpy.data.cameras.new("Camera")), error=SceneError)


def test_refusals_of_what_moves_or_changes_on_the_way():
    grows, sledge = scenes.add_strip("Grows"), scenes.add_strip("Sledge")
    key(grows.modifiers.new("Array", "ARRAY"), "count", {1: 1, 9: 9})
    refused(r"'Grows' changes at frame 5: .*vertices", grows, [1, 5, 9])
    key(sledge, "location", {1: (1, 0, 0), 9: (9, 0, 0)})
    refused("Only its object moves", sledge)
    skin = turning_skin()
    edit(skin)
    refused("leave Edit Mode", skin, error=SceneError)
    bpy.ops.object.mode_set(mode="OBJECT")
    skin.hide_viewport = True
    refused("hidden.* at frame -3", skin, error=SceneError)
