"""What workflows are told of the file and of the extension, and what is left when it is switched off."""

import importlib
import socket
import threading
from contextlib import contextmanager

import bpy
import pytest
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.state.live_states import Remedy, TrackNeed
from bl_ext.devrepo.motion_loom.workflows.core import live
from bl_ext.devrepo.motion_loom.workflows.core.base import Workflow
from bl_ext.devrepo.motion_loom.workflows.core.follower import Follower

from tests.objects import add_object

pytestmark = pytest.mark.versions

PACKAGE = live.__name__.partition(".workflows")[0]
registration = importlib.import_module(f"{PACKAGE}.registration")


class Told(Workflow):
    """Notes the hooks it is told; fails in each where it is to."""

    label, steps = "Told", {}

    def __init__(self, name="told", fails=False):
        self.id, self.fails, self.heard = name, fails, []

    def on_load(self):
        self._hear("load")

    def on_save(self):
        self._hear("save")

    def on_undo(self):
        self._hear("undo")

    def on_unregister(self):
        self._hear("unregister")

    def live_objects(self):
        if self.fails:
            raise RuntimeError("live_objects failed")
        return []

    def _hear(self, what):
        self.heard.append(what)
        if self.fails:
            raise RuntimeError(f"{what} failed")


def undo_step(name):
    bpy.data.objects.new(name, None)
    bpy.ops.ed.undo_push(message=name)


def happen(folder):
    """Each event once, in the order of EVENTS."""
    path = str(folder / "file.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    undo_step("First")
    undo_step("Second")
    bpy.ops.ed.undo()
    bpy.ops.ed.redo()
    bpy.ops.wm.read_homefile(use_empty=True)


@contextmanager
def switched_off(*workflows):
    """A block in which the extension is switched off."""
    registration.unregister()
    try:
        yield
    finally:
        registration.register(workflows or None)


EVENTS = ["save", "load", "undo", "undo", "load"]


@pytest.mark.versions
def test_each_hook_is_called_once_an_event(registered, tmp_path):
    told = registered(Told())
    happen(tmp_path)
    assert told.heard == EVENTS
    with switched_off(told):
        assert told.heard == [*EVENTS, "unregister"]
        happen(tmp_path)
    assert told.heard == [*EVENTS, "unregister"]


def test_a_frame_and_an_edit_are_no_such_events(registered):
    told = registered(Told())
    bpy.context.scene.frame_set(7)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Empty", None))
    bpy.context.view_layer.update()
    assert told.heard == []


def test_one_that_raises_does_not_stop_the_others(registered, tmp_path, capfd):
    failing, told = Told("failing", fails=True), Told()
    failing.is_live = True
    registered(failing, told)
    happen(tmp_path)
    with switched_off(failing, told):
        assert failing.heard == told.heard == [*EVENTS, "unregister"]
        assert not handlers_of_ours() and not live_runs.runs
    err = capfd.readouterr().err
    assert all(f"{what} failed" in err for what in {*EVENTS, "unregister", "live_objects"})


class Counting(Follower):
    """Counts how often it is asked; fails in one of its methods where it is to."""

    plays_by_itself = True

    def __init__(self, fails_in=None):
        self.fails_in, self.asked = fails_in, []

    def sees(self, ob, depsgraph):
        return self._asked("sees")

    def check(self, ob, moment):
        self._asked("check")
        return TrackNeed.NOTHING, ""

    def show(self, ob, moment, was_posed):
        self._asked("show")

    def pose(self, ob, moment):
        self._asked("pose")

    def _asked(self, what):
        self.asked.append(what)
        if what == self.fails_in:
            raise RuntimeError(f"{what} failed")
        return True


class Followed(Told):
    """Follows every object of the file."""

    is_live = True

    def __init__(self, name, fails_in=None):
        super().__init__(name)
        self.made = Counting(fails_in)

    def live_objects(self):
        return list(bpy.data.objects)

    def follower(self, ob):
        return self.made


@pytest.mark.parametrize("fails_in", ["sees", "check", "show"])
def test_a_follower_that_raises_says_so_and_stops_no_other(registered, fails_in):
    failing, other = Followed("failing", fails_in), Followed("other")
    registered(failing, other)
    ob = add_object("Empty")
    bpy.context.scene.frame_set(2)
    assert f"RuntimeError: {fails_in} failed" in live.status(ob, "failing").problem
    assert live.status(ob, "failing").remedy is Remedy.RESUME
    assert live.status(ob, "other").problem is None and {"sees", "check", "show"} <= set(other.made.asked)


@pytest.mark.parametrize("fails_in", ["live_objects", "follower"])
def test_a_workflow_that_cannot_find_what_is_live_keeps_its_runs_and_says_so(registered, fails_in):
    """Its runs were dropped, and nothing but the console said why nothing was followed any more."""
    failing, other = Followed("failing"), Followed("other")
    registered(failing, other)
    first = add_object("First")
    bpy.context.view_layer.update()
    working = getattr(failing, fails_in)
    setattr(failing, fails_in, lambda *_args: 1 / 0)
    failing.made.asked.clear()
    late = add_object("Late")
    bpy.context.view_layer.update()
    assert "check" in failing.made.asked and live.status(first, "failing").problem is None
    for words in live.status(first, "failing").note, live.status(late, "failing").problem:
        assert "Live cannot find what to follow" in words and "ZeroDivisionError" in words
    assert live.status(late, "other").problem is None and live.status(late, "other").note is None
    setattr(failing, fails_in, working)
    live_runs.known = -1
    bpy.context.scene.frame_set(3)
    assert live.status(first, "failing").note is None and live.status(late, "failing").problem is None


def handlers_of_ours():
    lists = (getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers))
    calls = (call for calls in lists if isinstance(calls, list) for call in calls)
    return [call for call in calls if getattr(call, "__module__", "").startswith(PACKAGE)]


def types_of_ours():
    """Names of registered classes and properties, and of operators."""
    owners = bpy.types.Object, bpy.types.Scene, bpy.types.Action
    names = {name for name in dir(bpy.types) if "motion_loom" in name.lower() or name.startswith("MotionLoom")}
    names |= {name for owner in owners for name in dir(owner) if name.startswith("motion_loom")}
    return names | set(dir(bpy.ops.motion_loom))


def can_listen(port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        try:
            other.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


@pytest.fixture
def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        return other.getsockname()[1]


@pytest.mark.versions
def test_switched_off_it_leaves_nothing(free_port):
    stream = importlib.import_module(f"{PACKAGE}.workflows.stream.follow")
    handlers = importlib.import_module(f"{PACKAGE}.handlers")
    bpy.context.scene.motion_loom_stream.port = free_port
    threads = set(threading.enumerate())
    bpy.ops.motion_loom.stream_start()
    assert not can_listen(free_port) and handlers_of_ours() and types_of_ours()
    with switched_off():
        timers = live._tick, live._look, stream.tick, handlers._look_at_opened
        assert not any(map(bpy.app.timers.is_registered, timers))
        assert can_listen(free_port) and set(threading.enumerate()) <= threads
        assert not handlers_of_ours() and not types_of_ours() and not live_runs.runs
    assert handlers_of_ours() and types_of_ours()
