"""Controls that turn far: their curves do not jump, whatever their rotation mode, and what is astray is named."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from mathutils import Quaternion

from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests import commands, control_scenes
from tests.objects import key

FRAMES = control_scenes.FRAMES


def turning(mode, degrees, axis=(0.0, 1.0, 0.0)):
    """The leg, whose pelvis turns while its foot stands on a floor that tilts after Bind."""
    bpy.ops.wm.read_homefile(use_empty=True)
    rig = control_scenes.add_leg()
    pelvis = rig.pose.bones["b"]
    pelvis.rotation_mode = mode
    key(pelvis, "location", {1: (0, -0.1, 0), 8: (0, -0.15, 0.05)})
    angles = np.radians(degrees) * (FRAMES - 1.0) / (FRAMES[-1] - 1.0)
    values = {
        "AXIS_ANGLE": ("rotation_axis_angle", lambda a: (a, *axis)),
        "QUATERNION": ("rotation_quaternion", lambda a: Quaternion(axis, a)),
    }.get(mode, ("rotation_euler", lambda a: np.multiply(a, axis)))
    key(pelvis, values[0], {int(frame): values[1](angle) for frame, angle in zip(FRAMES, angles, strict=True)})
    key(rig.pose.bones["g"], "location", {1: (0, 0, 0), 8: (0, 0.02, 0)})
    scenes.add_grid("Floor", (-1.0, 1.0), (-1.0, 1.0), cells=4)
    bpy.context.scene.frame_end = 8
    play.bind(rig, ("Floor",))
    bpy.data.objects["Floor"].rotation_euler = (0.06, 0.04, 0.0)
    bpy.data.objects["Floor"].location.z = 0.03
    bpy.context.view_layer.update()
    return rig


def pelvis_channels(rig):
    """(F, n) of the pelvis's rotation in the action that plays."""
    curves = actions.playing_curves(*actions.assigned(rig))
    own = [curve for curve in curves if curve.data_path.startswith('pose.bones["b"].rotation')]
    return np.array([[curve.evaluate(frame) for curve in own] for frame in FRAMES])


@pytest.mark.parametrize("mode", ["XYZ", "ZXY", "QUATERNION", "AXIS_ANGLE"])
def test_a_turn_by_260_degrees_is_written_without_a_jump(mode, capsys):
    rig = turning(mode, 260.0)
    found = commands.run(capsys, "adapt", "--rig", "Rig")
    assert "b" in found["controls"]["written"] and rig.pose.bones["b"].rotation_mode == mode
    own = pelvis_channels(rig)
    if mode == "AXIS_ANGLE":
        own = own[:, :1]  # the axis of what hardly turns may be any
    assert np.abs(np.diff(own, axis=0)).max() < 1.3 * np.radians(260.0 / 7.0)
    assert found["controls"]["away_mm"] < 5.0 and found["controls"]["turned_deg"] < 2.0


def test_an_axis_that_swings_between_frames_is_named(capsys):
    """Where the turn begins it has hardly an axis."""
    turning("AXIS_ANGLE", 720.0)
    found = commands.run(capsys, "adapt", "--rig", "Rig")
    notes = [note for note in found["notes"] if note.startswith("Control 'b' turns by up to")]
    assert len(notes) == 1 and "frames 1 and 2" in notes[0] and "another rotation mode" in notes[0]
    turning("XYZ", 720.0)
    assert not any("turns by up to" in note for note in commands.run(capsys, "adapt", "--rig", "Rig")["notes"])
