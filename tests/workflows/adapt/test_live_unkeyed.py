"""Bones that the source does not animate and that live has to move nevertheless."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.workflows.core import live

from tests import adapt_scenes as scenes

BONES = ("thigh.R", "knee.R", "chest")


@pytest.fixture
def rig():
    """A bound walker of which some bones have no curves and stand where they were left."""
    rig = scenes.add_scene()
    holder = actions.curve_list(*actions.assigned(rig))
    for curve in list(holder.fcurves):
        bone = actions.bone_of_path(curve.data_path)
        if bone is not None and bone[0] in BONES:
            holder.fcurves.remove(curve)
    for name in BONES:
        bone = rig.pose.bones[name]
        bone.rotation_quaternion, bone.rotation_euler = (0.9, 0.1, 0.2, 0.0), (0.1, 0.2, 0.3)
    bpy.context.view_layer.objects.active = rig
    for name in ("Floor", "Step"):
        rig.motion_loom_adapt.surfaces.add().target = bpy.data.objects[name]
    bpy.context.scene.frame_set(20)
    assert bpy.ops.motion_loom.fit(workflow="adapt") == {"FINISHED"}
    return rig


def toggle():
    assert bpy.ops.motion_loom.live(workflow="adapt") == {"FINISHED"}


def raise_step(height):
    bpy.data.objects["Step"].location.z += height
    bpy.context.view_layer.update()


def pose(rig):
    return np.array(
        [(*rig.pose.bones[name].rotation_quaternion, *rig.pose.bones[name].rotation_euler) for name in BONES]
    )


def test_they_are_where_they_were_once_live_is_off(rig):
    joints, bones = scenes.joints_of(rig), pose(rig)
    toggle()
    raise_step(0.12)
    assert np.abs(pose(rig) - bones).max() > 1e-3
    toggle()
    np.testing.assert_array_equal(pose(rig), bones)
    np.testing.assert_allclose(scenes.joints_of(rig), joints, atol=1e-5)


def test_they_go_back_with_the_environment(rig):
    joints, bones = scenes.joints_of(rig), pose(rig)
    toggle()
    for height in (0.12, -0.12, 0.12, -0.12):
        raise_step(height)
        assert live.status(rig, "adapt").problem is None
    np.testing.assert_array_equal(pose(rig), bones)
    np.testing.assert_allclose(scenes.joints_of(rig), joints, atol=1e-5)


def test_a_drag_leaves_nothing_behind(rig, monkeypatch):
    """While dragging no curves are written: the frames are solved one by one."""
    joints, bones = scenes.joints_of(rig), pose(rig)
    toggle()
    monkeypatch.setattr(live_runs, "at_once", False)
    raise_step(0.12)
    assert np.abs(pose(rig) - bones).max() > 1e-3
    assert live.status(rig, "adapt").problem is None
    toggle()
    np.testing.assert_array_equal(pose(rig), bones)
    np.testing.assert_allclose(scenes.joints_of(rig), joints, atol=1e-5)
