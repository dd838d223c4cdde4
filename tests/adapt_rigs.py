"""What rigs and their motion can be like: each function changes the walker of adapt_scenes, and mostly nothing that
is seen of it."""

from __future__ import annotations

import bpy
import numpy as np
from bl_ext.devrepo.motion_loom.scene import actions
from mathutils import Matrix

from tests import adapt_scenes as scenes
from tests.adapt_play import activate, slot_of
from tests.objects import add_object, drive, key
from tests.rig_scenes import add_strip

FBX = np.array([[0.01, 0, 0, 0], [0, 0, -0.01, 0], [0, 0.01, 0, 0], [0, 0, 0, 1]])


def edit_bones(rig, change):
    """Change a rig's edit bones by a function of them."""
    activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    change(rig.data.edit_bones)
    bpy.ops.object.mode_set(mode="OBJECT")


# ------------------------------------------------------------------------------------------------- placed otherwise


def placed_like_imports(rig):
    """Its object scaled and turned, while its bones stay where they are in the world, as importers leave it."""
    inverse = np.linalg.inv(FBX)
    rig.matrix_world = Matrix(inverse.tolist())
    activate(rig)
    bpy.ops.object.transform_apply()
    scale = np.cbrt(np.linalg.det(inverse[:3, :3]))
    for curve in actions.all_curves(*actions.assigned(rig)):
        if curve.data_path.endswith(".location"):
            for point in curve.keyframe_points:
                point.co.y *= scale
            curve.update()
    rig.matrix_world = Matrix(FBX.tolist())
    bpy.context.view_layer.update()


def under_a_scaled_empty(rig):
    placed_like_imports(rig)
    holder = add_object("Holder")
    rig.parent, holder.scale, rig.scale = holder, (0.01,) * 3, (1, 1, 1)
    bpy.context.view_layer.update()


def turned_and_away(rig):
    world = Matrix.Translation((1.5, -0.7, 0.3)) @ Matrix.Rotation(2.0, 4, "Z") @ Matrix.Scale(1.3, 4)
    for ob in (rig, *(bpy.data.objects[name] for name in ("Floor", "Step"))):
        ob.matrix_world = world @ ob.matrix_world


def with_object_keys(rig):
    """The object walks."""
    key(rig, "location", {1: (0, 0, 0), 24: (0, 0.05, 0)})


def with_a_moving_parent(rig):
    rig.parent = add_object("Cart")
    key(rig.parent, "location", {1: (0, 0, 0), 24: (0.05, 0.1, 0.02)})


def under_a_still_empty(rig):
    holder = add_object("Holder")
    holder.location, holder.rotation_euler = (0.3, 0.2, 0.1), (0.1, 0.2, 1.0)
    bpy.context.view_layer.update()
    world = rig.matrix_world.copy()
    rig.parent = holder
    rig.matrix_parent_inverse = holder.matrix_world.inverted()
    rig.matrix_world = world


def with_deltas(rig):
    rig.delta_location, rig.delta_rotation_euler, rig.delta_scale = (0.1, 0, 0), (0, 0, 0.1), (1.05,) * 3


# -------------------------------------------------------------------------------------------------------------- bones


def without_inherited_rotation(rig):
    edit_bones(rig, lambda bones: [setattr(bones[name], "use_inherit_rotation", False) for name in ("head", "toe.R")])


def disconnected(rig):
    edit_bones(rig, lambda bones: [setattr(bone, "use_connect", False) for bone in bones])


def connected(rig):
    def change(bones):
        for parent, child in (("thigh.R", "knee.R"), ("knee.R", "ankle.R"), ("arm.L", "elbow.L")):
            bones[parent].tail = bones[child].head
            bones[child].use_connect = True

    edit_bones(rig, change)


def with_bones_of_hardly_any_length(rig):
    """Blender deletes bones of no length; the shortest that stay must do no harm."""

    def change(bones):
        for name, parent in (("stub", "wrist.L"), ("inner", "spine")):
            bone = bones.new(name)
            bone.head, bone.tail = bones[parent].head, bones[parent].head + bones[parent].vector * 1e-5
            bone.parent = bones[parent]

    edit_bones(rig, change)


# ------------------------------------------------------------------------- motion that has to be sampled over frames


def with_ik(rig):
    """A keyed target holds the right ankle of a leg."""
    target = add_object("Target")
    key(target, "location", dict(zip(scenes.FRAMES, scenes.joints_of(rig, names=["ankle.R"])[:, 0], strict=True)))
    ik = rig.pose.bones["knee.R"].constraints.new("IK")
    ik.target, ik.chain_count = target, 2
    bpy.context.view_layer.update()


def with_copy_rotation(rig):
    handle = add_object("Handle")
    key(handle, "rotation_euler", {1: (-0.3, 0.1, 0.0), 24: (0.4, 0.1, 0.0)})
    constraint = rig.pose.bones["chest"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.mix_mode = handle, "ADD"


def with_a_driver(rig):
    rig["speed"] = 0.0
    drive(rig, '["speed"]', "0.01 * frame")


def with_strips_alone(rig):
    add_strip(rig, *actions.assigned(rig), 1)
    rig.animation_data.action = None


def with_strips_that_walk(rig):
    """The object itself has keys, in a strip."""
    with_object_keys(rig)
    with_strips_alone(rig)


def with_strips_below_an_action(rig):
    """The action keys the hips and an arm alone."""
    action, slot = actions.assigned(rig)
    add_strip(rig, action, slot, 1)
    head = action.copy()
    holder = actions.curve_list(head, slot_of(head))
    for curve in list(holder.fcurves):
        if "arm.L" not in curve.data_path and "hips" not in curve.data_path:
            holder.fcurves.remove(curve)
    actions.assign(rig, head, slot_of(head))


def with_an_object_constraint(rig):
    with_a_moving_parent(rig)
    rig.parent = None
    rig.constraints.new("COPY_LOCATION").target = bpy.data.objects["Cart"]


# --------------------------------------------------------------------------------------------------- the environment


def with_a_mirrored_step(_rig):
    bpy.data.objects["Step"].scale.x = -1.0
    bpy.context.view_layer.update()


def with_a_scaled_floor(_rig):
    bpy.data.objects["Floor"].scale = 2.0, 0.5, 1.0


def with_holes_and_slivers(_rig):
    """Not closed, an edge of three faces, a face without area, loose vertices: all in the surface stood on."""
    vertices = [(-0.6, 0.3, 0.15), (0.6, 0.3, 0.15), (0.6, 1.6, 0.15), (-0.6, 1.6, 0.15), (0.6, 1.6, -0.5), (0, 5, 5)]
    vertices += [(0, 0.9, 0.15), (0.1, 0.9, 0.15), (0.2, 0.9, 0.15)]
    data = bpy.data.objects["Step"].data
    data.clear_geometry()
    data.from_pydata(vertices, [(4, 5)], [(0, 1, 2, 3), (2, 3, 4), (3, 2, 4), (6, 7, 8), (2, 3, 1)])
    bpy.context.view_layer.update()
