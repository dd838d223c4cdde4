"""What may move what, against what moves when one bone after the other is posed."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene.bone_dependence import bones_reached
from bl_ext.devrepo.motion_loom.scene.rigs import matrices

from tests.control_scenes import add_leg, hold_to_carried
from tests.rigify_scenes import save_human


def pose_of(ob):
    ob.update_tag(refresh={"OBJECT", "DATA"})
    bpy.context.view_layer.update()
    flat = np.empty(16 * len(ob.pose.bones), np.float32)
    ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones.foreach_get("matrix", flat)
    return matrices(flat)[[ob.pose.bones.find(bone.name) for bone in ob.data.bones]]


def moved_by_each(ob, bones):
    """(n, B) bool, the bones that move when each bone is moved and turned alone."""
    before, out = pose_of(ob), []
    for name in bones:
        bone = ob.pose.bones[name]
        kept = bone.location.copy(), bone.rotation_euler.copy(), bone.rotation_quaternion.copy()
        bone.location, bone.rotation_euler, bone.rotation_quaternion = (0.05,) * 3, (0.2,) * 3, (0.9, 0.2, 0.2, 0.2)
        out.append(np.abs(pose_of(ob) - before).max(axis=(1, 2)) > 1e-5)
        bone.location, bone.rotation_euler, bone.rotation_quaternion = kept
    return np.array(out)


def drive_by_turn(ob):
    """A bone is moved by how another is turned."""
    driver = ob.pose.bones["b"].driver_add("location", 0).driver
    variable = driver.variables.new()
    variable.type, variable.name, driver.expression = "TRANSFORMS", "turn", "turn"
    target = variable.targets[0]
    target.id, target.bone_target, target.transform_type, target.transform_space = ob, "p", "ROT_X", "LOCAL_SPACE"


@pytest.mark.parametrize("change", [None, drive_by_turn, lambda ob: hold_to_carried(ob, "e", "p")])
def test_all_that_moves_with_a_bone_is_reached_from_it(change):
    ob = add_leg()
    if change is not None:
        change(ob)
    names = [bone.name for bone in ob.data.bones]
    moved, reached = moved_by_each(ob, names), bones_reached(ob)
    assert moved.sum() > len(names) and not (moved & ~reached).any()


def test_what_nothing_links_is_not_reached():
    ob = add_leg()
    reached = dict(zip(ob.data.bones.keys(), bones_reached(ob), strict=True))
    names = list(ob.data.bones.keys())
    assert {names[bone] for bone in np.flatnonzero(reached["p"])} == set("pcde")
    assert {names[bone] for bone in np.flatnonzero(reached["e"])} == set("e")


def test_all_that_moves_on_a_rigify_human_is_reached(tmp_path):
    bpy.ops.wm.open_mainfile(filepath=str(save_human(tmp_path)))
    ob = bpy.data.objects["rig"]
    ob.animation_data.action = None
    controls = [bone.name for bone in ob.pose.bones if bone.custom_shape is not None]
    index = [ob.data.bones.find(name) for name in controls]
    moved, reached = moved_by_each(ob, controls), bones_reached(ob)[index]
    assert not (moved & ~reached).any()
    assert reached.mean() < 0.5
