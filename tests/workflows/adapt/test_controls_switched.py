"""After a bake the controls can be edited, and switching a limb over does not move it, or says by how much it does."""

import re

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions

from benchmarks import _control_home as home
from benchmarks.control_rigs import key_clip, posed_clip
from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests import commands

FRAMES = np.arange(1.0, 7.0)
SWITCH = home.SWITCH.format(root=home.name_of("root"))


def baked(mode, capsys):
    """A home-made human in FK or IK on a floor that goes up, written to both; its report."""
    bpy.ops.wm.read_homefile(use_empty=True)
    rig = home.build()
    key_clip(rig, posed_clip(rig, home.roles(mode), 1, FRAMES), "clip")
    scenes.add_grid("Floor", (-1.0, 1.0), (-1.0, 1.0), cells=4)
    bpy.context.scene.frame_end = int(FRAMES[-1])
    play.bind(rig, ("Floor",))
    bpy.data.objects["Floor"].location.z = 0.04
    bpy.context.view_layer.update()
    return rig, commands.run(capsys, "adapt", "--rig", rig.name, "--write-to", "both")


def body(rig):
    """(F, D, 4, 4) of the bones that deform, world space, as Blender evaluates them."""
    out = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(int(frame))
        shown = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        deforming = [bone for bone in shown.pose.bones if bone.bone.use_deform]
        out.append([np.array(shown.matrix_world @ bone.matrix) for bone in deforming])
    return np.array(out)


def switch_over(rig, value):
    """The animator keys the switch to its other end over the whole range."""
    curve = actions.find_curve(*actions.assigned(rig), SWITCH, 0)
    for key in curve.keyframe_points:
        key.co[1] = value
    curve.update()
    rig.animation_data.action.update_tag()


def test_switching_to_fk_does_not_jump(capsys):
    rig, report = baked("IK", capsys)
    before = body(rig)
    switch_over(rig, 0.0)
    moved = 1000.0 * np.linalg.norm((body(rig) - before)[..., :3, 3], axis=-1).max()
    assert moved < 2.0 and not any("Switched over" in note for note in report["notes"])


def test_a_jump_is_named_as_far_as_it_goes(capsys):
    """In FK knees and elbows bend in every direction, as in no natural motion."""
    rig, report = baked("FK", capsys)
    (note,) = [note for note in report["notes"] if note.startswith("Switched over")]
    before = body(rig)
    switch_over(rig, 1.0)
    moved = 1000.0 * np.linalg.norm((body(rig) - before)[..., :3, 3], axis=-1).max()
    assert float(re.search(r"moves by (\d+) mm", note)[1]) == pytest.approx(moved, abs=1.0)
    assert SWITCH in note


def test_a_control_that_is_edited_after_a_bake_moves_what_it_moved(capsys):
    rig, _ = baked("IK", capsys)
    before, goal = body(rig), home.name_of("step.l")
    curve = actions.find_curve(*actions.assigned(rig), actions.bone_path(goal, "location"), 2)
    for key in curve.keyframe_points:
        key.co[1] += 0.03
    curve.update()
    rig.animation_data.action.update_tag()
    moved = np.linalg.norm((body(rig) - before)[..., :3, 3], axis=-1)
    assert 0.01 < moved.max() < 0.08 and (moved.max(axis=0) < 1e-4).sum() > 10, "one leg alone"
