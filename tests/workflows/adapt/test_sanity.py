"""Results that cannot be right are refused or said: places too far off, frames that did not settle, odd sizes."""

from dataclasses import replace

import bpy
import numpy as np
from bl_ext.devrepo.motion_loom.solvers.adapt.solve import AdaptedMotion
from bl_ext.devrepo.motion_loom.workflows.environment.sanity import refused_notes, unsettled_note

from tests import adapt_scenes as scenes
from tests.adapt_commands import bind_refused, refused
from tests.adapt_play import press, settle, status
from tests.commands import adapt, bind

FAR = 1e10  # metres, where single precision is a kilometre


def size(ob, factor):
    ob.scale = (factor,) * 3
    bpy.context.view_layer.update()


def test_what_is_too_far_off_is_named(bound, capsys):
    size(bpy.data.objects["Floor"], FAR)
    assert "A vertex of 'Floor' is out of range: it lies at (" in refused(capsys, "adapt")
    size(bpy.data.objects["Floor"], 1.0)
    size(bound, FAR)
    assert "A joint of 'Rig' is out of range" in refused(capsys, "adapt")


def test_nothing_is_bound_too_far_off(rig, capsys):
    rig.location.x = FAR
    assert "A joint of 'Rig' is out of range" in bind_refused(capsys)
    rig.location.x = 0.0
    bpy.data.objects["Step"].location.x = FAR
    assert "A vertex of 'Step' is out of range" in bind_refused(capsys)
    bpy.data.objects["Step"].location.x = 0.0
    floor = bpy.data.objects["Floor"].data
    floor.vertices[3].co.z = 1e30
    floor.update()
    assert "Vertex 3 of 'Floor' is out of range" in bind_refused(capsys)


def test_a_large_set_is_in_range(rig, capsys):
    scenes.add_grid("Plain", (-1e5, 1e5), (-1e5, 1e5), -1.0)
    assert not bind(capsys, "--environment", "Plain")["notes"]
    assert not adapt(capsys)["notes"]


def test_frames_that_did_not_settle_are_said(bound, capsys):
    bpy.data.objects["Step"].rotation_euler.x = np.pi  # what was stood on faces down
    bpy.context.view_layer.update()
    report = adapt(capsys)
    assert report["unconverged_frames"] > 0
    assert f"{report['unconverged_frames']} of 24 frames did not settle (" in "; ".join(report["notes"])


def test_another_size_is_said(bound, capsys):
    size(bpy.data.objects["Floor"], 3000.0)
    size(bound, 30.0)
    notes = adapt(capsys)["notes"]
    assert "'Floor' is 3,000 times as large as it was when it was bound" in notes
    assert "'Rig' is 30 times as large as it was when it was bound" in notes


def test_live_says_so_too(bound):
    press(bound)
    assert status(bound).note is None
    bpy.data.objects["Step"].scale = (30.0,) * 3
    settle()
    assert "'Step' is 30 times as large" in status(bound).note
    bpy.data.objects["Step"].scale = (1.0,) * 3
    bpy.data.objects["Step"].rotation_euler.x = np.pi
    settle()
    assert "did not settle" in status(bound).note


def test_the_roughest_frame_is_one_that_did_not_settle():
    positions = np.zeros((9, 2, 3))
    positions[2] = 9.0  # settled
    positions[6, 1] = 1.0
    converged = np.ones(9, bool)
    converged[[4, 6, 7]] = False
    frames = np.arange(11.0, 20.0)
    note = unsettled_note(AdaptedMotion(positions, None, None, converged, None, None, None), frames)
    assert note.startswith("3 of 9 frames did not settle (15, 17 to 18), the roughest is frame 17:")
    assert unsettled_note(AdaptedMotion(positions, None, None, np.ones(9, bool), None, None, None), frames) is None


def test_what_is_left_undone_lest_the_body_jumps_is_told_by_frames():
    none, some = np.zeros(9, bool), np.arange(9) % 8 < 2
    motion = AdaptedMotion(np.zeros((9, 2, 3)), None, None, ~none, None, some, none)
    (note,) = refused_notes(motion, np.arange(11.0, 20.0))
    assert "at frames 11 to 12, 19" in note and "surroundings" in note
    (note,) = refused_notes(replace(motion, unclear=none, let_go=some), np.arange(11.0, 20.0))
    assert "at frames 11 to 12, 19" in note and "hand or foot" in note
    assert not refused_notes(replace(motion, unclear=none), np.arange(11.0, 20.0))
