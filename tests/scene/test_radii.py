import math

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import radii
from bl_ext.devrepo.motion_loom.solvers.core.errors import SceneError

from tests.objects import add_object, edit, into_collection
from tests.rig_scenes import add_armature

JOINTS = {
    "Thigh": ((0, 0, 0), (0, 0, 1)),
    "Shin": ((0, 0, 1), (0, 0, 1.8)),
    "Bare.001": ((1, 0, 0), (1, 0, 0.4)),
}


def _armature(joints=JOINTS, parents=(("Shin", "Thigh"),)):
    """The parents of bones stand before them."""
    parent = dict(parents).get
    return add_armature(
        "Rig",
        [{"name": name, "head": head, "tail": tail, "parent": parent(name)} for name, (head, tail) in joints.items()],
    )


def _points(name, vertices):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], [])
    return add_object(name, mesh)


def _limb(rig, group="Thigh", radius=0.09, bottom=0.05, top=0.95, rings=9, offset=(0.0, 0.0)):
    """An open tube round the z axis, fully weighted to one group."""
    angles = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    x, y = radius * np.cos(angles) + offset[0], radius * np.sin(angles) + offset[1]
    heights = np.linspace(bottom, top, rings)
    ob = _points(group, [(a, b, z) for z in heights for a, b in zip(x, y, strict=True)])
    ob.vertex_groups.new(name=group).add(range(16 * rings), 0.8, "REPLACE")
    ob.modifiers.new("Armature", "ARMATURE").object = rig
    return ob


def _radii(rig, names, height=1.8):
    bpy.context.view_layer.update()
    return radii.bone_radii(bpy.context, rig, names, height)


def test_a_tube_round_a_bone_gives_its_radius_and_a_bare_bone_gets_five_centimetres_at_1_8_metres():
    rig = _armature()
    _limb(rig)
    assert _radii(rig, ["Bare.001"]) == pytest.approx([0.05])
    assert _radii(rig, ["Bare.001", "Shin"], 3.6) == pytest.approx([0.1, 0.1])
    _limb(rig, "Shin", 0.06, 1.05, 1.75)
    assert _radii(rig, ["Shin", "Thigh", "Shin"]) == pytest.approx([0.06, 0.09, 0.06], rel=1e-5)


def test_world_metres_under_rotation_scale_and_another_object_space():
    rig = _armature()
    limb = _limb(rig)
    limb.data.transform(rig.matrix_world.Scale(0.01, 4))
    limb.parent, limb.scale = rig, (100, 100, 100)
    rig.rotation_euler, rig.scale, rig.location = (1, 2, 3), (0.5, 0.5, 0.5), (4, 5, 6)
    assert _radii(rig, ["Thigh"]) == pytest.approx([0.045], rel=1e-4)


def test_the_pose_and_shape_keys_do_not_count():
    rig = _armature()
    limb = _limb(rig)
    limb.shape_key_add(name="Basis")
    key = limb.shape_key_add(name="Fat")
    for point in key.data:
        point.co *= 3
    key.value = 1
    rig.pose.bones["Thigh"].rotation_quaternion = (0.5, 0.5, 0.5, 0.5)
    rig.pose.bones["Thigh"].scale = (2, 2, 2)
    assert _radii(rig, ["Thigh"]) == pytest.approx([0.09], rel=1e-5)


def test_the_largest_deform_weight_owns_a_vertex():
    rig = _armature()
    limb = _limb(rig)
    count = range(len(limb.data.vertices))
    limb.vertex_groups.new(name="Shin").add(count, 0.3, "REPLACE")
    limb.vertex_groups.new(name="Not a bone").add(count, 1.0, "REPLACE")
    limb.vertex_groups.new(name="Bare.001").add(count, 0.9, "REPLACE")
    rig.data.bones["Bare.001"].use_deform = False
    assert _radii(rig, ["Thigh", "Shin", "Bare.001"]) == pytest.approx([0.09, 0.05, 0.05], rel=1e-5)
    limb.vertex_groups["Shin"].add(count, 0.81, "REPLACE")
    assert _radii(rig, ["Thigh"]) == pytest.approx([0.05])


def test_a_skirt_and_a_bone_near_one_side_do_not_inflate_the_capsule():
    rig = _armature()
    _limb(rig, offset=(0.03, 0))
    _limb(rig, radius=0.5, bottom=0.3, top=0.6, rings=4)
    (radius,) = _radii(rig, ["Thigh"])
    assert 0.06 <= radius <= 0.09


def test_a_tail_that_means_nothing_is_replaced_by_the_child():
    """glTF knows no tails: an importer invents them, often tiny ones."""
    joints = {"Thigh": ((0, 0, 0), (0, 0.001, 0)), "Shin": ((0, 0, 1), (0, 0.001, 1))}
    rig = _armature(joints)
    _limb(rig)
    assert _radii(rig, ["Thigh"]) == pytest.approx([0.09], rel=1e-5)


def test_a_bone_with_several_children_takes_the_nearest_line():
    joints = {
        "Chest": ((0, 0, 0), (0, 0, 0.1)),
        "Left": ((1, 0, 1), (2, 0, 1)),
        "Right": ((-1, 0, 1), (-2, 0, 1)),
    }
    rig = _armature(joints, (("Left", "Chest"), ("Right", "Chest")))
    at = np.linspace(0.1, 0.9, 20)
    skin = _points("Skin", [(side * a, 0.07, a) for side in (-1, 1) for a in at])
    skin.vertex_groups.new(name="Chest").add(range(40), 1.0, "REPLACE")
    skin.parent, skin.parent_type = rig, "ARMATURE"
    assert _radii(rig, ["Chest"]) == pytest.approx([0.07], rel=1e-5)


def test_odd_meshes_are_fine():
    rig = _armature()
    _points("Nothing", []).modifiers.new("Armature", "ARMATURE").object = rig
    _limb(rig, radius=0.3, bottom=0, top=1).vertex_groups.clear()
    _points("Stranger", [])
    assert _radii(rig, ["Thigh"]) == pytest.approx([0.05])
    assert _radii(rig, []).shape == (0,)


def test_a_missing_bone_and_another_type_are_named():
    rig = _armature()
    with pytest.raises(SceneError, match="'Rig' has no bone 'Häl \"x\"'"):
        _radii(rig, ["Thigh", 'Häl "x"'])
    with pytest.raises(SceneError, match="'Lamp' is of type EMPTY"):
        _radii(add_object("Lamp"), ["Thigh"])


def test_a_skin_in_edit_mode_is_read():
    rig = _armature()
    edit(_limb(rig))
    assert _radii(rig, ["Thigh"]) == pytest.approx([0.09], rel=1e-5)
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize("rig_file", ["kaykit/Barbarian.glb", "quaternius/modular_men_Casual.glb"])
def test_real_characters_have_plausible_limbs(data, rig_file):
    bpy.ops.import_scene.gltf(filepath=str(data / "biped_rigs" / rig_file))
    rig = next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    names = [bone.name for bone in rig.data.bones]
    found = dict(zip(names, _radii(rig, names), strict=True))
    corners = [rig.matrix_world @ bone.head_local for bone in rig.data.bones]
    height = max(np.ptp(np.array(corners), axis=0))
    limbs = [r for name, r in found.items() if any(part in name.lower() for part in ("arm", "leg"))]
    assert len(limbs) >= 8
    assert all(0.015 * height < radius < 0.13 * height for radius in limbs)
    for name, radius in found.items():
        for left, right in ((".L", ".R"), (".l", ".r")):
            if name.endswith(left):
                assert math.isclose(radius, found[name[:-2] + right], rel_tol=0.15), name


def test_a_skin_of_an_excluded_collection():
    """Blender has it where it was when the rig was moved."""
    rig = _armature()
    skin = _limb(rig)
    skin.parent = rig
    into_collection(skin).exclude = True
    rig.location = (5, 0, 0)
    assert _radii(rig, ["Thigh"]) == pytest.approx([0.09], rel=1e-4)
