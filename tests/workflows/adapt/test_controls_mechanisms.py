"""Adapt on rigs whose controls hang on more than keys and drivers of the rig itself."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import private_copies
from mathutils import Matrix

from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests import commands, control_scenes

FRAMES = control_scenes.FRAMES
UP = 0.04


@pytest.fixture
def leg():
    """A leg in IK that steps on a floor, not bound yet."""
    bpy.ops.wm.read_homefile(use_empty=True)
    rig = control_scenes.animate_leg(control_scenes.add_leg())
    scenes.add_grid("Floor", (-1.0, 1.0), (-1.0, 1.0), cells=4)
    bpy.context.scene.frame_end = int(FRAMES[-1])
    return rig


def raised(capsys, name="Floor"):
    """What the command says after an object was raised."""
    bpy.data.objects[name].location.z += UP
    bpy.context.view_layer.update()
    return commands.run(capsys, "adapt", "--rig", "Rig")


def heads(rig):
    """(F, D, 3) of deform bones, world space, as Blender evaluates them."""
    out = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(int(frame))
        bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        out.append([rig.matrix_world @ bone.head for bone in bones if bone.bone.use_deform])
    return np.array(out)


def test_a_copy_that_moves_otherwise_than_the_rig_is_named(leg, capsys, monkeypatch):
    """A tail was 0.8 m off while the report, measured on the copy, told 0.0 mm."""
    carried = control_scenes.hold_to_carried(leg, "e", "b")
    carried.matrix_parent_inverse = Matrix.Rotation(0.7, 4, "X")
    play.bind(leg, ("Floor",))
    assert not any("copy of the rig" in note for note in raised(capsys)["notes"])
    play.play_source(leg)
    monkeypatch.setattr(private_copies, "point_to", setattr)
    found = [note for note in raised(capsys)["notes"] if "copy of the rig" in note]
    assert len(found) == 1 and "'e'" in found[0] and "Copy Deform Bones" in found[0]
