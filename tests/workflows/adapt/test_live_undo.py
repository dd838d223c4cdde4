"""Live after undo: a real one needs a window, see `tests/windowed`; here its handlers meet what it leaves."""

from dataclasses import replace

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions, playback
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.workflows.rig.follower import RigFollower

from tests.adapt_live import go_live, joints, lift, settle, updates_of
from tests.adapt_play import bind, slot_of, status

pytestmark = pytest.mark.usefixtures("both_ways", "silent")


def left_alone(rig):
    """Values from before live of what the live action does not animate."""
    settings = rig.motion_loom_adapt
    values = [playback.Before(each.path, each.index, each.value) for each in settings.live_before]
    return playback.without_curves(values, settings.live_action, slot_of(settings.live_action))


def undone():
    for call in bpy.app.handlers.undo_post:
        call(bpy.context.scene)


def test_what_another_track_had_moved_goes_back(rig):
    """Undo brings the live action back, but may keep the rig as the track after it had moved it."""
    action = rig.animation_data.action
    for curve in actions.playing_curves(action, slot_of(action)):
        if "knee.L" in curve.data_path:
            actions.curve_list(action, slot_of(action)).fcurves.remove(curve)
    bound = go_live(bind(rig))
    was = joints(bound)
    moved = [each for each in left_alone(bound) if "knee.L" in each.path]
    assert moved
    for each in moved:
        bound.path_resolve(each.path)[each.index] += 0.1
    undone()
    settle()
    assert np.array_equal(joints(bound), was) and status(bound).problem is None
    assert all(value_of(bound, each) == each.value for each in left_alone(bound))


def value_of(rig, value):
    found = rig.path_resolve(value.path)
    return found if isinstance(found, float) else found[value.index]


def test_nothing_goes_on_by_itself_after_undo(bound):
    go_live(bound)
    lift()
    was = joints(bound)
    undone()
    bpy.context.view_layer.update()
    assert updates_of(bpy.context.view_layer.update) == 0
    assert np.array_equal(joints(bound), was) and status(bound).track == "READY"


def test_what_undo_makes_live_again_is_not_solved_again(bound, monkeypatch):
    """A bake ends live: after it was undone the track was solved, and controls fitted, though nothing had changed."""
    rig = go_live(bound)
    followers, jobs, job = [], [], RigFollower.job
    monkeypatch.setattr(RigFollower, "job", lambda *args: (jobs.append(args), job(*args))[1])
    for height in (0.0, 0.05):
        (run,) = live_runs.runs.values()
        followers.append(run.follower)
        rig.motion_loom_adapt.live = False
        undone()
        assert not live_runs.runs
        lift(height)
        before = len(jobs)
        rig.motion_loom_adapt.live = True
        undone()
        settle()
        assert status(rig).problem is None and bool(len(jobs) - before) == bool(height)
    (run,) = live_runs.runs.values()
    assert [run.follower] * 2 == followers


def test_another_run_is_not_taken_for_the_one_that_ended(bound):
    go_live(bound)
    live_runs.ended = replace(next(iter(live_runs.runs.values())), uid=bound.session_uid + 10**6)
    live_runs.runs.clear()
    undone()
    (run,) = live_runs.runs.values()
    assert run.follower is not live_runs.ended.follower
