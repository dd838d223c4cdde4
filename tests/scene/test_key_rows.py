"""At which frames an action has keys."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.scene.key_rows import keys_between, rows_of_keys
from bl_ext.devrepo.motion_loom.scene.rigs import read_rig

from tests.control_scenes import add_leg
from tests.objects import key


@pytest.fixture
def leg():
    bpy.ops.wm.read_homefile(use_empty=True)
    ob = add_leg()
    key(ob.pose.bones["b"], "location", {1: (0, 0, 0), 4.4: (0, 1, 0), 8: (0, 0, 0)})
    key(ob.pose.bones["g"], "rotation_euler", {6: (0, 0, 0), 30: (1, 0, 0)})
    return ob


def test_keys_count_at_the_nearest_frame_and_ends_always(leg):
    rig, frames = read_rig(leg), np.arange(1.0, 9.0)
    found = rows_of_keys(bpy.context.scene, actions.assigned(leg), rig, frames)
    b, g, p = (rig.names.index(name) for name in "bgp")
    assert frames[found[:, b, 0]].tolist() == [1, 4, 8]
    assert frames[found[:, g, 1]].tolist() == [1, 6, 8]
    assert frames[found[:, p, 0]].tolist() == [1, 4, 6, 8], "without keys: where any has some"


def test_strips_alone_tell_no_keys(leg):
    assert rows_of_keys(bpy.context.scene, (None, None), read_rig(leg), np.arange(1.0, 9.0)).all()


def test_keys_between_frames_are_found(leg):
    scene, source, rig = bpy.context.scene, actions.assigned(leg), read_rig(leg)
    assert keys_between(scene, source, rig, np.arange(1.0, 9.0)).tolist() == pytest.approx([4.4])
    assert not len(keys_between(scene, source, rig, np.arange(5.0, 9.0)))
    assert not len(keys_between(scene, (None, None), rig, np.arange(1.0, 9.0)))
