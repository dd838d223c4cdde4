"""While a rig is live its binding is updated: what was adapted stays adapted, and live goes on."""

import bpy
import numpy as np
import pytest

from tests import adapt_scenes as scenes
from tests.adapt_scenes import add_wall, edit
from tests.workflows.adapt.test_live_refusals import bind, go_live, joints, lift, settle, status, toggle

pytestmark = pytest.mark.usefixtures("both_ways", "silent")


@pytest.fixture
def rig():
    return go_live(bind(scenes.add_scene()))


def ends(rig):
    """Live off plays the source, and only what is bound is kept."""
    toggle(rig)
    assert rig.animation_data.action.name == "Rig clip" and len(bpy.data.actions) == 1
    kept = [mesh for mesh in bpy.data.meshes if mesh.name.startswith(".motion_loom")]
    assert kept == [rig.motion_loom_adapt.binding]


def press():
    assert bpy.ops.motion_loom.update_binding(workflow="adapt") == {"FINISHED"}
    settle()


def test_objects_are_edited_added_and_deleted(rig):
    """The foot goes on standing on the step that was lifted before."""
    lift(0.1)
    foot = [bone.name for bone in rig.data.bones].index("ankle.R")
    lifted = joints(rig)[-6:, foot]
    edit("Floor")
    settle()
    assert status(rig).remedy == "UPDATE"
    rig.motion_loom_adapt.surfaces.add().target = add_wall()
    press()
    assert status(rig).problem is None and status(rig).track == "READY"
    np.testing.assert_allclose(joints(rig)[-6:, foot], lifted, atol=0.01)
    for name in ("Floor", "Wall"):
        bpy.data.objects.remove(bpy.data.objects[name])
    settle()
    assert status(rig).remedy == "UPDATE"
    press()
    assert status(rig).problem is None and status(rig).track == "READY"
    np.testing.assert_allclose(joints(rig)[-6:, foot], lifted, atol=0.01)
    ends(rig)
