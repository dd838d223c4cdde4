"""A bone that a report names is selected where it can be seen, and said to be hidden where it cannot."""

import bpy
import pytest
from bl_ext.devrepo.motion_loom.scene.bone_selection import select_bone
from bl_ext.devrepo.motion_loom.solvers.core.errors import SceneError

from tests import rig_scenes as scenes


@pytest.fixture(params=["OBJECT", "POSE"])
def ob(request):
    ob = scenes.add_chain(["hip", "knee", "toe"])
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode=request.param)
    yield ob
    bpy.ops.object.mode_set(mode="OBJECT")


def selected(ob):
    holders = ob.pose.bones if "select" in bpy.types.PoseBone.bl_rna.properties else ob.data.bones
    return [holder.name for holder in holders if holder.select]


def test_one_bone_is_selected_and_active(ob):
    assert select_bone(ob, "knee") is None
    assert select_bone(ob, "toe") is None
    assert selected(ob) == ["toe"] and ob.data.bones.active.name == "toe"


def test_what_cannot_be_seen_is_selected_and_said(ob):
    ob.data.bones["knee"].hide = True
    assert "'knee' is hidden" in select_bone(ob, "knee")
    group = ob.data.collections.new("Legs")
    group.assign(ob.data.bones["toe"])
    assert select_bone(ob, "toe") is None
    group.is_visible = False
    assert "hidden, such as 'Legs'" in select_bone(ob, "toe") and selected(ob) == ["toe"]
    if ob.mode == "OBJECT":
        ob.hide_set(True)
        assert "'Rig' is hidden" in select_bone(ob, "hip")


def test_what_cannot_be_selected_is_refused(ob):
    with pytest.raises(SceneError, match="no bone 'tail'"):
        select_bone(ob, "tail")
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(SceneError, match="Edit Mode"):
        select_bone(ob, "toe")
