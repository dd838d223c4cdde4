"""Rigs whose bones are moved by controls, made by hand, with names that tell nothing."""

import bpy
import numpy as np

from tests.objects import add_object, key, key_custom
from tests.rig_scenes import add_armature

FRAMES = np.arange(1.0, 9.0)
# What keys: the root, the pelvis, the goal of the leg's IK and its pole, the foot beside the goal.
CONTROLS = ("a", "b", "g", "p")


def add_leg(name="Rig"):
    """A pelvis with a leg that an IK constraint moves.

    a: root.  b: pelvis.  c, d: thigh and shin, moved by IK towards g with the pole p.  e: foot, turned as g is.
    All but a, g and p deform.
    """
    ob = add_armature(
        name,
        [
            {"name": "a", "head": (0, 0, 0), "tail": (0, 0.3, 0), "use_deform": False},
            {"name": "b", "head": (0, 0, 1.0), "tail": (0, 0, 1.2), "parent": "a"},
            {"name": "c", "head": (0.1, 0, 1.0), "tail": (0.1, -0.02, 0.5), "parent": "b"},
            {"name": "d", "head": (0.1, -0.02, 0.5), "tail": (0.1, 0, 0.1), "parent": "c", "use_connect": True},
            {"name": "e", "head": (0.1, 0, 0.1), "tail": (0.1, -0.15, 0.0), "parent": "d", "use_connect": True},
            {"name": "g", "head": (0.1, 0, 0.1), "tail": (0.1, -0.2, 0.1), "parent": "a", "use_deform": False},
            {"name": "p", "head": (0.1, -0.8, 0.5), "tail": (0.1, -0.9, 0.5), "parent": "a", "use_deform": False},
        ],
    )
    bones = ob.pose.bones
    reach = bones["d"].constraints.new("IK")
    reach.target, reach.subtarget, reach.pole_target, reach.pole_subtarget = ob, "g", ob, "p"
    reach.pole_angle, reach.chain_count = -np.pi / 2, 2
    turn = bones["e"].constraints.new("COPY_ROTATION")
    turn.target, turn.subtarget = ob, "g"
    turn.target_space = turn.owner_space = "POSE"
    for bone in bones:
        bone.rotation_mode = "XYZ"
    return ob


def animate_leg(ob):
    """One step with a dip of the pelvis."""
    bones = ob.pose.bones
    key(bones["b"], "location", {1: (0, -0.05, 0), 5: (0.02, -0.12, 0.03), 8: (0, -0.05, 0.1)})
    key(bones["b"], "rotation_euler", {1: (0, 0, 0), 8: (0.1, 0.3, 0.1)})
    key(bones["g"], "location", {1: (0, 0, 0), 4: (0, 0.1, 0.15), 8: (0, 0.3, 0)})
    key(bones["g"], "rotation_euler", {1: (0, 0, 0), 8: (0.3, 0, 0)})
    key(bones["p"], "location", {1: (0, 0, 0), 8: (0.1, 0, 0)})
    return ob


def hold_to_moving(ob, bone):
    """A bone is held by an object that moves; returns that."""
    post = add_object("Post")
    key(post, "location", {1: (0, 0, 0), 8: (0.4, 0.2, 0.1)})
    hold = ob.pose.bones[bone].constraints.new("COPY_LOCATION")
    hold.target, hold.use_offset = post, True
    return post


def hang_by_choice(ob):
    """The goal of the leg hangs on nothing, then on the pelvis, by a keyed choice among three; returns its path."""
    goal, path = ob.pose.bones["g"], 'pose.bones["g"]["hangs_on"]'
    key_custom(goal, "hangs_on", {1: 0, 4: 0, 5: 2, 8: 2})
    names = ("ROOM", "ROOT", "PELVIS")
    goal.id_properties_ui("hangs_on").update(items=[(name, name, "", number) for number, name in enumerate(names)])
    hang = goal.constraints.new("CHILD_OF")
    hang.target, hang.subtarget = ob, "b"
    bpy.context.view_layer.update()
    hang.inverse_matrix = ob.data.bones["b"].matrix_local.inverted()
    add_driver(hang, "influence", ob, path, "told == 2")
    return path


def add_driver(owner, name, source, path, expression, kind="OBJECT", index=-1):
    """A property, or one of several numbers of it, becomes what an expression makes of `told`, a property of an object,
    or of another kind of data."""
    driver = owner.driver_add(name, index).driver
    variable = driver.variables.new()
    variable.name, driver.expression = "told", expression
    variable.targets[0].id_type = kind
    variable.targets[0].id, variable.targets[0].data_path = source, path


def hold_to_carried(ob, bone, by):
    """A bone is held by an object that another bone of the rig carries; returns that."""
    carried = add_object("Carried")
    carried.parent, carried.parent_type, carried.parent_bone = ob, "BONE", by
    hold = ob.pose.bones[bone].constraints.new("COPY_ROTATION")
    hold.target = carried
    return carried


def id_counts():
    """How many datablocks of each kind the file has."""
    kinds = [name for name in dir(bpy.data) if isinstance(getattr(bpy.data, name), bpy.types.bpy_prop_collection)]
    return {name: len(getattr(bpy.data, name)) for name in kinds}
