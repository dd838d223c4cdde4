"""Bones that keep their angles of the source while the rest is solved."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.workflows.environment.joints import is_chosen_anew

from tests import adapt_live
from tests import adapt_scenes as scenes
from tests.adapt_commands import refused
from tests.commands import adapt, bind
from tests.rig_scenes import watch

BONE = "elbow.L"


def local(rig, bone=BONE):
    """(F, 3, 3) turns of a bone against its parent."""
    pose, _ = watch(rig, scenes.FRAMES)
    places = [rig.data.bones.find(name) for name in (rig.data.bones[bone].parent.name, bone)]
    parent, own = (pose[:, place, :3, :3] for place in places)
    return np.linalg.inv(parent) @ own


def test_a_left_bone_keeps_its_angles(bound, capsys):
    source = local(bound)
    scenes.add_wall()
    bind(capsys, "Wall")
    bpy.data.objects["Wall"].location.x -= 0.2
    scenes.raise_step()
    adapt(capsys, "--no-limits")
    assert np.abs(local(bound) - source).max() > 1e-3
    report = adapt(capsys, "--leave", BONE)
    assert report["left_alone"] == [BONE]
    assert np.abs(local(bound) - source).max() < 1e-5


@pytest.mark.parametrize(
    "bone, reason", [("tail", "has no bone 'tail'"), ("hips", "has no solved parent"), ("toe.R", "rides on 'ankle.R'")]
)
def test_what_cannot_be_left_is_named(rig, capsys, bone, reason):
    bind(capsys, "--ride", "toe.R")
    assert reason in refused(capsys, "adapt", "--leave", bone)


def test_it_lasts_when_bound_again_and_asks_for_no_bind(bound, capsys):
    item = next(item for item in bound.motion_loom_adapt.joints if item.name == BONE)
    item.mode = "LEAVE"
    assert not is_chosen_anew(bound, scenes.workflow())
    assert bind(capsys)["left_alone"] == [BONE]


def test_a_live_rig_leaves_it_at_once(live_rig, at_any_time):
    scenes.raise_step()
    adapt_live.follows(live_rig)
    next(item for item in live_rig.motion_loom_adapt.joints if item.name == BONE).mode = "LEAVE"
    adapt_live.follows(live_rig)
