"""Frames that a clip of a mesh is read at."""

import bpy
from bl_ext.devrepo.motion_loom.workflows.map import learn
from bl_ext.devrepo.motion_loom.workflows.transfer import read

from tests import adapt_scenes as scenes
from tests.objects import key


def test_a_clip_that_ends_between_frames_keeps_its_last_pose():
    """Map and Transfer left the frame out that shows it."""
    skin = scenes.add_grid("Skin", (0, 1), (0, 1))
    key(skin, "location", {1.4: 0.0, 24.4: 1.0}, index=0)
    skin.motion_loom_transfer.performed = skin
    for frames, because in (
        learn.target_frames(bpy.context.scene, skin),
        read.performed_frames(bpy.context.scene, skin.motion_loom_transfer),
    ):
        assert (frames[0], frames[-1]) == (1, 25) and because is None
