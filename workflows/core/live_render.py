"""What renders need of the live engine: tracks completed before the first frame, and shown where nothing plays them.

Blender renders in a thread of its own where there are windows; its data belong to the main thread, which draws
meanwhile.
"""

from __future__ import annotations

import threading
import time

from ...scene import session
from ...state.live_runs import LiveRun, live_runs
from ...state.live_states import TrackNeed
from . import live
from .follower import Moment

# Without a tick of the timer for that long the main thread waits for something itself.
_STUCK = 5.0
_PAUSE = 0.05
_UNLOCKED = "Renders do not follow: switch on Render > Lock Interface, or bake"


def finish_all() -> None:
    """Complete every track that is pending and can be: what comes shows tracks alone.

    In a thread of its own a render waits for the timer of the main thread, as long as that runs.
    """
    if threading.current_thread() is not threading.main_thread():
        _wait_for_timer()
        return
    for scene, depsgraph in session.shown():
        for run, ob in live.present(scene, depsgraph):
            if run.rest is not None:
                live.go_on(run, ob, Moment(scene, depsgraph, None))
            if run.pending is TrackNeed.TRACK and run.job is None:
                live.start(run, ob, Moment(scene, depsgraph, None))
            if run.job is not None:
                run.job.wait()
                live.harvest(run, ob, Moment(scene, depsgraph, None))


def _wait_for_timer() -> None:
    live_runs.hurried, live_runs.ticked = True, time.monotonic()
    try:
        while live.waiting() and time.monotonic() < live_runs.ticked + _STUCK:
            time.sleep(_PAUSE)
    finally:
        live_runs.hurried = False
    for run in live.waiting():
        run.note = "The last render began before all frames were solved"


def show_rendered(scene, depsgraph) -> None:
    """Show the frame that is rendered where nothing plays it by itself; to be called by handlers of a render.

    In a thread of its own a render may write Blender's data only while the interface is locked.
    """
    alone = [run for run in live_runs.runs.values() if not run.follower.plays_by_itself]
    if not alone or live_runs.busy:
        return
    is_locked = threading.current_thread() is threading.main_thread() or scene.render.use_lock_interface
    live_runs.busy = True
    try:
        for run in alone:
            if not is_locked:
                run.note = _UNLOCKED
                continue
            if run.note == _UNLOCKED:
                run.note = None
            _show_rendered(run, scene, depsgraph)
    finally:
        live_runs.busy = False


def _show_rendered(run: LiveRun, scene, depsgraph) -> None:
    ob = session.object_of(scene, run.uid, run.name)
    if ob is None or run.problem is not None:
        return
    try:
        run.follower.show(ob, Moment(scene, depsgraph, set(), True), False)
    except Exception as error:
        live.fail(run, error, run.key)
