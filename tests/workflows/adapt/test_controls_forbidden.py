"""Poses that controls may not or cannot take: what misses its place is named, and what is written stays sound."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions

from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests import commands, control_scenes
from tests.objects import key
from tests.rig_scenes import fingerprint

UP = 0.2


@pytest.fixture
def leg():
    bpy.ops.wm.read_homefile(use_empty=True)
    scenes.add_grid("Floor", (-2.0, 2.0), (-2.0, 2.0), cells=4)
    bpy.context.scene.frame_end = 8
    return control_scenes.add_leg()


def limited(rig):
    """The goal may be no higher than in the source."""
    control_scenes.animate_leg(rig)
    limit = rig.pose.bones["g"].constraints.new("LIMIT_LOCATION")
    limit.owner_space, limit.use_max_z, limit.max_z = "POSE", True, 0.26
    limit.use_transform_limit = False


def out_of_reach(rig):
    """The pelvis is not keyed, and the floor goes down by half of the leg."""
    key(rig.pose.bones["g"], "location", {1: (0, 0, 0), 4: (0, 0.1, 0.05), 8: (0, 0.3, 0)})
    key(rig.pose.bones["g"], "rotation_euler", {1: (0, 0, 0), 8: (0.3, 0, 0)})


@pytest.mark.parametrize(("forbid", "up"), [(limited, UP), (out_of_reach, -0.5)])
def test_a_pose_that_is_forbidden_or_out_of_reach_is_named(leg, capsys, forbid, up):
    forbid(leg)
    source = leg.animation_data.action
    before = fingerprint(source)
    play.bind(leg, ("Floor",))
    bpy.data.objects["Floor"].location.z = up
    bpy.context.view_layer.update()
    report = commands.run(capsys, "adapt", "--rig", "Rig")
    told = report["controls"]
    assert told["away_mm"] > 20.0
    missed = f"Bone '{told['away_bone']}' misses the place that was solved for it by"
    assert any(note.startswith(missed) for note in report["notes"])
    curves = actions.playing_curves(*actions.assigned(leg))
    values = np.array([[curve.evaluate(frame) for frame in control_scenes.FRAMES] for curve in curves])
    assert np.isfinite(values).all() and np.abs(values).max() < 2.0, "goals wander off where nothing is gained"
    assert fingerprint(source) == before
