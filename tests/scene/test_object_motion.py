"""World matrices by curves against what Blender evaluates at each frame."""

import random

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.scene.object_motion import sizes_by_curves, worlds_by_curves
from mathutils import Matrix

from tests import rig_scenes as scenes
from tests.objects import add_line, add_object, drive, evaluate, handled, key

FRAMES = np.array([-3.0, 1.0, 2.0, 3.5, 5.0, 8.0, 12.0, 12.75, 20.0])
DELTAS = ("delta_location", "delta_rotation_euler", "delta_rotation_quaternion", "delta_scale")


def told(ob, frames=FRAMES):
    return worlds_by_curves(bpy.context.scene, ob, frames)


def stepped(ob, frames=FRAMES):
    """(F, 4, 4) as Blender evaluates it."""
    scene, out = bpy.context.scene, []
    for frame in frames:
        whole = int(np.floor(frame))
        scene.frame_set(whole, subframe=frame - whole)
        out.append(ob.evaluated_get(evaluate()).matrix_world.copy())
    scene.frame_set(1)
    return np.array(out, float)


def assert_told(ob, frames=FRAMES):
    np.testing.assert_allclose(told(ob, frames), stepped(ob, frames), atol=1e-5)


def put_at_random(ob, rng):
    def values(count, size=1.0):
        return [rng.uniform(-size, size) for _ in range(count)]

    ob.rotation_mode = rng.choice(scenes.ROTATION_MODES)
    ob.location, ob.rotation_euler = values(3, 2.0), values(3, 3.0)
    ob.rotation_quaternion, ob.rotation_axis_angle = values(4), values(4)
    ob.scale = [rng.choice((-1, 1, 1)) * rng.uniform(0.5, 1.5) for _ in range(3)]
    if rng.random() < 0.5:
        ob.delta_location, ob.delta_rotation_euler = values(3), values(3)
        ob.delta_rotation_quaternion, ob.delta_scale = values(4), [rng.uniform(0.5, 1.5) for _ in range(3)]


def key_at_random(ob, rng):
    """Some channels, own and delta, on some axes, with handles of every kind."""
    for channel in (*scenes.CHANNELS, *DELTAS):
        for index in range(len(getattr(ob, channel))):
            if rng.random() < 0.4:
                for frame in sorted(rng.sample(range(1, 14), 3)):
                    sign = 1 if "scale" in channel else rng.choice((-1, 1))
                    getattr(ob, channel)[index] = sign * rng.uniform(0.4, 1.6)
                    ob.keyframe_insert(channel, index=index, frame=frame)


@pytest.mark.parametrize("seed", range(12))
def test_chains_of_parents_in_every_rotation_mode(seed):
    rng = random.Random(seed)
    if seed % 3 == 2:
        bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = 100, 130
    chain = [add_object(f"Link {k}") for k in range(4)]
    for ob, parent in zip(chain, [None, *chain[:-1]], strict=True):
        put_at_random(ob, rng)
        ob.parent = parent
        if parent is not None and rng.random() < 0.7:
            rows = [[rng.uniform(-1, 1) for _ in range(4)] for _ in range(3)]
            ob.matrix_parent_inverse = Matrix([*rows, [0, 0, 0, 1]])
        if rng.random() < 0.7:
            key_at_random(ob, rng)
    bpy.context.scene.frame_set(1)
    for ob in chain:
        assert_told(ob)


def test_frames_do_not_depend_on_each_other_nor_on_the_present_one_nor_on_evaluation():
    ob, parent = add_object("Mover"), add_object("Parent")
    key_at_random(ob, random.Random(4))
    bpy.context.scene.frame_set(1)
    parent.location = 1, 2, 3
    ob.parent = parent
    before = told(ob)  # nothing was evaluated since
    np.testing.assert_allclose(before, stepped(ob), atol=1e-5)
    for row, frame in enumerate(FRAMES):
        np.testing.assert_array_equal(told(ob, np.array([frame]))[0], before[row])
    bpy.context.scene.frame_set(7, subframe=0.5)
    np.testing.assert_allclose(told(ob), before, atol=1e-6)
    assert bpy.context.scene.frame_current_final == 7.5


def test_remapped_time_far_from_the_first_frame():
    """The program remaps time in single precision, which counts where things are fast."""
    render = bpy.context.scene.render
    render.frame_map_old, render.frame_map_new = 100, 137
    ob = add_object("Mover")
    key(ob, "location", {1: (0.5, 0, 0), 20001: (10000.5, 0, 0)})
    frames = np.arange(9000.0, 9010.5, 0.5)
    np.testing.assert_allclose(told(ob, frames), stepped(ob, frames), rtol=1e-7)


def muted_strips(ob):
    scenes.add_strip(ob, *actions.assigned(ob), 3, mute_track=True)


def muted_curves(ob):
    actions.all_curves(*actions.assigned(ob))[0].mute = True
    ob.animation_data.action.update_tag()


def deforming_parent(ob):
    """Only the parent's own matrix counts."""
    parent = add_object("Sea", bpy.data.meshes.new("Sea"))
    parent.modifiers.new("Wave", "WAVE")
    ob.parent = parent


def on_path(ob, use_path):
    ob.parent = add_line("Path", (4, 5, 6))
    ob.parent.data.dimensions, ob.parent.data.use_path = "3D", use_path
    ob.parent.data.splines[0].points[0].co = (1, 2, 3, 1)


def no_slot(ob):
    if not actions.HAS_SLOTS:
        pytest.skip("there are no slots")
    ob.animation_data.action_slot = None


def curve_of_an_index_that_is_not_there(ob):
    actions.curve_list(*actions.assigned(ob)).fcurves.new("location", index=7).keyframe_points.insert(1, 5)


def other_curves(ob):
    ob["strength"] = 1.0
    ob.keyframe_insert('["strength"]', frame=1)


TOLD = {
    "muted constraint": lambda ob: setattr(ob.constraints.new("COPY_LOCATION"), "mute", True),
    "muted curves": muted_curves,
    "deforming parent": deforming_parent,
    "curve parent without path": lambda ob: on_path(ob, False),
    "muted strips": muted_strips,
    "driver of something else": lambda ob: drive(ob, "color", "frame", 0),
    "no slot": no_slot,
    "curve of no index": curve_of_an_index_that_is_not_there,
    "other curves": other_curves,
}


@pytest.mark.parametrize("change", TOLD)
def test_what_does_not_change_that_curves_tell(change):
    ob = add_object("Mover")
    key_at_random(ob, random.Random(5))
    TOLD[change](ob)
    assert_told(ob)


def constraint_muted_by_a_curve(ob):
    limit = ob.constraints.new("LIMIT_LOCATION")
    limit.mute = True
    limit.keyframe_insert("influence", frame=1)


def beside_muted_strips(ob, name, value):
    muted_strips(ob)
    setattr(ob.animation_data, name, value)


def rigid_body(ob):
    bpy.context.view_layer.objects.active = ob
    bpy.ops.rigidbody.object_add()


def bone_parent(ob):
    ob.parent = scenes.add_chain(("bone",))
    ob.parent_type, ob.parent_bone = "BONE", "bone"


def vertex_parent(ob):
    mesh = bpy.data.meshes.new("Points")
    mesh.from_pydata([(1, 2, 3)], [], [])
    ob.parent, ob.parent_type = add_object("Points", mesh), "VERTEX"


def driven_grandparent(ob):
    grand = add_object("Grand")
    ob.parent = add_object("Parent", parent=grand)
    drive(grand, "location", "frame", 0)


STEPPED = {
    "constraint": lambda ob: ob.constraints.new("LIMIT_LOCATION"),
    "constraint muted by a curve": constraint_muted_by_a_curve,
    "driver": lambda ob: drive(ob, "location", "frame", 0),
    "strips": lambda ob: scenes.add_strip(ob, *actions.assigned(ob), 3),
    "weak action beside muted strips": lambda ob: beside_muted_strips(ob, "action_influence", 0.5),
    "action that ends beside muted strips": lambda ob: beside_muted_strips(ob, "action_extrapolation", "NOTHING"),
    "rigid body": rigid_body,
    "bone parent": bone_parent,
    "vertex parent": vertex_parent,
    "path parent": lambda ob: on_path(ob, True),
    "keyed rotation mode": lambda ob: ob.keyframe_insert("rotation_mode", frame=1),
    "driven grandparent": driven_grandparent,
}


@pytest.mark.parametrize("change", STEPPED)
def test_what_only_stepping_tells(change):
    ob = add_object("Mover", bpy.data.meshes.new("Mover"))
    key_at_random(ob, random.Random(6))
    assert told(ob) is not None
    STEPPED[change](ob)
    assert told(ob) is None


def test_scripts_that_act_on_frame_changes_may_move_anything():
    ob = add_object("Mover")
    with handled(lambda *_: None, "frame_change_post"):
        assert told(ob) is None
    assert told(ob) is not None


def test_sizes_bound_the_rounding_where_a_parent_far_away_is_taken_back():
    parent, ob = add_object("Parent"), add_object("Mover")
    parent.location, parent.rotation_euler = (800, -300, 100), (0.3, 2.0, 1.0)
    bpy.context.view_layer.update()
    ob.parent, ob.matrix_parent_inverse = parent, parent.matrix_world.inverted()
    key(ob, "location", {1: (1 / 12, 0, 1), 12: (1, 0, 1)})
    key(ob, "rotation_euler", {1: (0, 0, 1), 12: (0, 0, 12)})
    gap = np.abs(told(ob) - stepped(ob))
    sizes = sizes_by_curves(bpy.context.scene, ob, FRAMES)
    assert sizes[:, :3, 3].max() > 500
    assert (gap[:, :3, 3] < 1e-6 * sizes[:, :3, 3]).all()
    assert gap[:, :3, :3].max() < 1e-6
