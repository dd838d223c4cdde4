"""Live while the animation plays in a window: frames by themselves ask for nothing, whatever is edited between two."""

import bpy
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.state.live_states import TrackNeed
from bl_ext.devrepo.motion_loom.workflows.environment.surroundings import BoundSurroundings

from tests.adapt_live import go_live, lift, settle, step
from tests.adapt_play import interactive as windowed
from tests.adapt_play import slot_of, status
from tests.objects import key

pytestmark = pytest.mark.usefixtures("at_any_time", "silent")


@pytest.fixture
def playing(bound):
    """The walker, live as in a window, with what is looked at while frames play."""
    with windowed():
        yield go_live(bound)


@pytest.fixture
def looked(monkeypatch):
    """Grows by the frame at which the surroundings are looked at."""
    frames, look = [], BoundSurroundings.look
    monkeypatch.setattr(
        BoundSurroundings, "look", lambda *args: (frames.append(args[2].scene.frame_current), look(*args))[1]
    )
    return frames


def play(frames):
    for frame in frames:
        bpy.context.scene.frame_set(frame)


def run():
    (found,) = live_runs.runs.values()
    return found


def test_what_stands_still_is_not_looked_at_again_while_frames_play(playing, looked):
    play([2])
    del looked[:]
    play(range(3, 12))
    assert looked == [] and status(playing).problem is None and run().pending is TrackNeed.NOTHING


def test_what_moves_is_looked_at_at_each_frame(playing, looked):
    key(step(), "location", {1: (0, 0, 0), 24: (0, 0, 0.2)})
    settle()
    play([2])
    del looked[:]
    play(range(3, 6))
    assert looked == [3, 4, 5]


def add_curve(rig):
    """To the source, which does not play."""
    source = rig.motion_loom_adapt.source
    curve = actions.curve_list(source, slot_of(source)).fcurves.new('["other"]')
    curve.keyframe_points.insert(7.0, 0.1)


EDITS = {
    "an object moves": lambda rig: setattr(step().location, "z", 0.1),
    "an object bends": lambda rig: setattr(step().data.vertices[0].co, "z", 0.3) or step().data.update(),
    "an object is keyed": lambda rig: key(step(), "location", {1: (0, 0, 0), 24: (0, 0, 0.2)}),
    "the influence": lambda rig: setattr(rig.motion_loom_adapt, "influence", 0.5),
    "the rig's size": lambda rig: setattr(rig, "scale", (0.8,) * 3),
    "the source": add_curve,
}


@pytest.mark.parametrize("edit", EDITS)
def test_what_is_edited_between_two_frames_is_noticed_at_the_next(playing, edit):
    """No handler is called but that of the frame, as where the program draws no frame in between."""
    play([2, 3])
    handlers = bpy.app.handlers.depsgraph_update_post
    kept = list(handlers)
    handlers.clear()
    try:
        EDITS[edit](playing)
        play([4])
    finally:
        handlers.extend(kept)
    assert run().pending is TrackNeed.TRACK
    settle()
    assert status(playing).problem is None


def test_an_object_that_is_hidden_between_two_frames_is_named(playing):
    play([2, 3])
    step().hide_viewport = True
    play([4])
    assert "'Step'" in status(playing).problem
    step().hide_viewport = False
    lift()
    settle()
    assert status(playing).problem is None
