"""Linked rigs: a local copy in their place can be bound and adapted."""

import bpy
import numpy as np
import pytest

from tests import adapt_scenes as scenes
from tests.adapt_scenes import bones_of, joints_of
from tests.commands import run
from tests.mesh_play import link

pytestmark = pytest.mark.versions


@pytest.fixture
def linked(tmp_path):
    """Rig, active, a skin by modifier, a hat on the head, Floor and Step, linked into an empty file."""
    rig = scenes.add_scene()
    skin = scenes.add_box("Skin", (-0.2, -0.1, 0), (0.2, 0.1, 1.7))
    skin.modifiers.new("Deform", "ARMATURE").object = rig
    for bone in bones_of(rig):
        skin.vertex_groups.new(name=bone).add(range(8), 1.0, "ADD")
    hat = scenes.add_box("Hat", (-0.1, -0.1, 0), (0.1, 0.1, 0.1))
    hat.parent, hat.parent_type, hat.parent_bone = rig, "BONE", "head"
    rig.pose.bones["wrist.L"].constraints.new("COPY_ROTATION").target = hat
    rig.pose.bones["wrist.L"].constraints[0].influence = 0.0
    rig = link(tmp_path, "Rig", "Skin", "Hat", "Floor", "Step")[0]
    bpy.context.view_layer.objects.active = rig
    return rig


def local(name):
    return bpy.data.objects[f"{name} (local)", None]


def test_the_copy_stands_in_for_the_linked_rig(linked):
    before = joints_of(linked)
    assert bpy.ops.motion_loom.make_local_copy() == {"FINISHED"}
    copy = bpy.context.object
    assert copy == local("Rig") and copy.library is None and copy.data == linked.data
    assert copy.select_get() and linked.hide_get() and not copy.hide_get()
    np.testing.assert_allclose(joints_of(copy), before, atol=1e-6)
    assert copy.animation_data.action == linked.animation_data.action


def test_skin_and_props_come_along(linked):
    bpy.ops.motion_loom.make_local_copy()
    assert local("Skin").modifiers["Deform"].object == local("Rig")
    assert (local("Hat").parent, local("Hat").parent_bone) == (local("Rig"), "head")
    assert local("Rig").pose.bones["wrist.L"].constraints[0].target == local("Hat")
    assert linked.pose.bones["wrist.L"].constraints[0].target.library is not None
    originals = [ob for ob in bpy.data.objects if ob.library is not None]
    assert {ob.name for ob in originals if ob.hide_get()} == {"Rig", "Skin", "Hat"}
    for ob in (local("Skin"), local("Hat")):
        original = next(other for other in originals if f"{other.name} (local)" == ob.name)
        np.testing.assert_allclose(ob.matrix_world, original.matrix_world, atol=1e-6)


def test_the_copy_is_bound_and_adapted_as_any_other(linked, capsys):
    bpy.ops.motion_loom.make_local_copy()
    copy = bpy.context.object
    for name in ("Floor", "Step"):
        ob = next(ob for ob in bpy.data.objects if ob.name == name)
        ob_local = ob.copy()
        ob_local.name = f"My {name}"
        bpy.context.scene.collection.objects.link(ob_local)
    run(capsys, "bind", "--rig", copy.name, "--environment", "My Floor", "My Step")
    before = joints_of(copy)
    bpy.data.objects["My Step"].location.z += 0.12
    bpy.context.view_layer.update()
    report = run(capsys, "adapt", "--rig", copy.name)
    assert report["measures"]["contacts_kept_pct"] > 95
    after = joints_of(copy)
    np.testing.assert_allclose((after - before)[-1, bones_of(copy).index("ankle.R"), 2], 0.12, atol=0.015)
    assert copy.animation_data.action.library is None


def test_local_rigs_and_other_objects_need_none(linked):
    bpy.ops.motion_loom.make_local_copy()
    with pytest.raises(RuntimeError, match="poll"):
        bpy.ops.motion_loom.make_local_copy()
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(empty)
    bpy.context.view_layer.objects.active = empty
    with pytest.raises(RuntimeError, match="poll"):
        bpy.ops.motion_loom.make_local_copy()
