"""The influence of one object, keyed over the frames: a hand lets go of it."""

import numpy as np

from tests import adapt_live
from tests import adapt_scenes as scenes
from tests.commands import adapt

FIRST, LAST = scenes.FRAMES[[0, -1]]


def key(rig, values, name="Step"):
    """Keys of an object's influence, by frame."""
    settings = rig.motion_loom_adapt
    item = next(item for item in settings.surfaces if item.bound_name == name)
    for frame, value in values.items():
        item.influence = value
        item.keyframe_insert("influence", frame=frame)


def test_keys_act_frame_by_frame(bound, capsys):
    source = scenes.joints_of(bound, names=["toe.R"])[:, 0]
    scenes.raise_step()
    adapt(capsys)
    held = scenes.joints_of(bound, names=["toe.R"])[:, 0]
    bound.animation_data.action = bound.motion_loom_adapt.source
    key(bound, {int(FIRST): 1.0, 17: 1.0, 20: 0.0, int(LAST): 0.0})
    adapt(capsys, "--no-collision")
    free = scenes.joints_of(bound, names=["toe.R"])[:, 0]
    early, late = scenes.FRAMES <= 13, scenes.FRAMES >= 23
    assert np.abs(free - held)[early].max() < 0.02
    assert np.abs((held - source)[late, 2]).min() > 0.05 > np.abs((free - source)[late, 2]).max()


def test_keys_of_one_value_are_that_value(bound, capsys):
    scenes.raise_step()
    settings = bound.motion_loom_adapt
    item = next(item for item in settings.surfaces if item.bound_name == "Step")
    item.influence = 0.4
    adapt(capsys)
    plain = scenes.joints_of(bound)
    bound.animation_data.action = settings.source
    key(bound, {int(FIRST): 0.4, int(LAST): 0.4})
    adapt(capsys)
    assert np.abs(scenes.joints_of(bound) - plain).max() < 1e-6


def test_a_live_rig_goes_by_the_keys(bound, at_any_time):
    key(bound, {int(FIRST): 1.0, 17: 1.0, 20: 0.0, int(LAST): 0.0})
    adapt_live.go_live(bound)
    scenes.raise_step()
    adapt_live.follows(bound)
