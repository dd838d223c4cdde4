"""The live engine: rigs that follow changes while the user works. It knows nothing of how a workflow solves.

What is live plays an action, or shows a mesh, that holds the solved track; playback and renders need nothing from here.
Handlers only look whether what the track was solved for is still so. If not, the present frame is solved by itself and
the whole track in the background, or at once where no timer fires.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from ...scene import restored, session
from ...solvers.core.errors import ChangedSetError, MotionLoomError, StaleBindingError, TooLargeError
from ...solvers.core.steps import result_of
from ...state.live_runs import Job, LiveRun, live_runs
from .base import Steps

# What a track needs.
NOTHING, TRACK, SWEEP = "", "TRACK", "SWEEP"
# Seconds without a change after which the track is solved: a drag that goes on would only throw it away.
_PAUSE = 0.15
_TICK = 0.05
# Without a tick for that long the main thread waits for something itself.
_STUCK = 5.0
_SWITCH_INTERVAL = 0.0005
_UNLOCKED = "Renders do not follow: switch on Render > Lock Interface, or bake"


class LiveProblem(MotionLoomError):
    """Why a rig does not follow. remedy: the button that mends it, "BIND", "UPDATE", "TRAIN", "REFRESH", "RESUME"
    or None."""

    def __init__(self, text: str, remedy: str | None = None):
        super().__init__(text)
        self.remedy = remedy


@dataclass(frozen=True)
class Moment:
    """What a handler was called for. updated: ``session_uid`` of all that was evaluated, None where anything may have
    changed.  is_playback: another frame, which by itself is no edit.  shared: what followers have read of objects, for
    the others that need it as well."""

    scene: Any
    depsgraph: Any
    updated: set[int] | None
    is_playback: bool = False
    shared: dict = field(default_factory=dict)


class Follower(Protocol):
    """What a workflow keeps of one live object: arrays and fingerprints, no Blender references.

    It looks at the moment's depsgraph and nowhere else, and never changes the frame.  note: what is worth knowing of
    how things are, in few words, without a full stop.
    """

    note: str | None
    source_untouched: bool

    def sees(self, ob, depsgraph) -> bool:
        """Whether all that it depends on is evaluated there: another window's view layer may leave it out."""

    def check(self, ob, moment: Moment) -> tuple[str, str]:
        """What the track still needs, NOTHING, TRACK or SWEEP, and a key of the state that it is to be solved for.

        Raises MotionLoomError where nothing can be followed.
        """

    def pose(self, ob, moment: Moment) -> None:
        """Solve the present frame by itself and show it, until there is a track; then that again."""

    def show(self, ob, moment: Moment, was_posed: bool) -> None:
        """Show the present frame of the track, where nothing plays it: was_posed, because ``pose`` stands over it."""

    def job(self, ob, moment: Moment):
        """A generator that solves the track as things are now, with arrays alone, and yields shares done."""

    def put(self, ob, scene, result) -> None:
        """Write what the job has returned."""


@dataclass(frozen=True)
class LiveStatus:
    """ms: the last frame took.  track: "READY", "WAITING", "SOLVING" or "SWEEP" (needs the frames stepped through).
    progress: 0 to 1.  problem: why nothing follows.  remedy: as of a ``LiveProblem``.
    source_untouched: the source action is as it was.  note: what happened that is worth knowing."""

    ms: float | None
    track: str
    progress: float
    problem: str | None
    remedy: str | None
    source_untouched: bool
    note: str | None


def status(ob, workflow_id: str) -> LiveStatus | None:
    """How a live object fares, or None where it is not live."""
    run = live_runs.runs.get((ob.session_uid, workflow_id))
    if run is None:
        return None
    track = {NOTHING: "READY", TRACK: "WAITING", SWEEP: "SWEEP"}[run.pending]
    if run.job is not None:
        track = "SOLVING"
    remedy = run.remedy or ("REFRESH" if track == "SWEEP" else None)
    progress = run.job.progress if run.job else 0.0
    follower = run.follower
    note = ". ".join(filter(None, (follower.note, run.note))) or None
    return LiveStatus(run.ms, track, progress, run.problem, remedy, follower.source_untouched, note)


def at_once() -> bool:
    """Whether tracks are solved in the handlers themselves, because no timer would fire."""
    return session.in_background() if live_runs.at_once is None else live_runs.at_once


def begin(ob, workflow, follower: Follower) -> None:
    """An object has become live, its track solved."""
    end(ob, workflow.id)
    live_runs.runs[ob.session_uid, workflow.id] = LiveRun(ob.session_uid, ob.name, workflow.id, follower)


def end(ob, workflow_id: str) -> None:
    """An object is live no more."""
    run = live_runs.runs.pop((ob.session_uid, workflow_id), None)
    if run is not None:
        run.cancel()


@contextmanager
def restored_after_error(ob, workflow_id: str, rewritten=()) -> Iterator[None]:
    """As ``restored.restored_after_error``, for a block in which an object becomes live, or is live no more."""
    key = ob.session_uid, workflow_id
    before = live_runs.runs.get(key)
    try:
        with restored.restored_after_error(ob, rewritten=rewritten):
            yield
    except BaseException:
        live_runs.runs.pop(key, None)
        if before is not None:
            live_runs.runs[key] = before
        raise


def look_through(workflows) -> None:
    """Find what is live in the file: after it was loaded, undone, or objects have come or gone."""
    found = {}
    for workflow in workflows:
        if not workflow.is_live:
            continue
        for ob in workflow.live_objects():
            key = ob.session_uid, workflow.id
            found[key] = live_runs.runs.get(key) or LiveRun(key[0], ob.name, workflow.id, workflow.follower(ob))
    for key, run in live_runs.runs.items():
        if key not in found:
            run.cancel()
    live_runs.runs = found
    live_runs.known = session.object_count()


def follow_all(scene, depsgraph, updated: set[int] | None, is_playback: bool = False) -> None:
    """Bring every live object of the scene up to date; to be called by handlers."""
    if live_runs.busy:
        return
    live_runs.busy = True
    moment = Moment(scene, depsgraph, updated, is_playback)
    before = _told()
    try:
        for run, ob in _present(scene, depsgraph):
            _follow(run, ob, moment)
    finally:
        live_runs.busy = False
    if _told() != before and not at_once():
        session.redraw_sidebars()
    _wake()


def show_rendered(scene, depsgraph) -> None:
    """Show the frame that is rendered where nothing plays it by itself; to be called by handlers of a render.

    Blender renders in a thread of its own where there are windows. Its data may be written there only while the
    interface is locked.
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
        _fail(run, error, run.key)


def follow_shown() -> None:
    """Look at everything in the scenes that are shown."""
    if live_runs.runs:
        for scene, depsgraph in session.shown():
            follow_all(scene, depsgraph, None)


def follow_opened() -> None:
    """As ``follow_shown``, of a file that was just opened: as soon as Blender has evaluated it.

    Where no timer fires that is when it changes the frame.
    """
    follow_shown()
    if live_runs.runs and not at_once() and not session.shown():
        session.call_later(_look, 0.0)


def finish_all() -> None:
    """Complete every track that is pending and can be: what comes shows tracks alone.

    A render of the interface calls this in a thread of its own. Blender's data belong to the main thread, which draws
    meanwhile, so its timer is waited for as long as it runs.
    """
    if threading.current_thread() is not threading.main_thread():
        _wait_for_timer()
        return
    for scene, depsgraph in session.shown():
        for run, ob in _present(scene, depsgraph):
            if run.pending == TRACK and run.job is None:
                _start(run, ob, Moment(scene, depsgraph, None))
            if run.job is not None:
                run.job.wait()
                _harvest(run, ob, scene)


def _wait_for_timer() -> None:
    live_runs.hurried, live_runs.ticked = True, time.monotonic()
    try:
        while _waiting() and time.monotonic() < live_runs.ticked + _STUCK:
            time.sleep(_TICK)
    finally:
        live_runs.hurried = False
    for run in _waiting():
        run.note = "The last render began before all frames were solved"


@contextmanager
def paused() -> Iterator[None]:
    """A block that steps through frames or changes what plays: nothing is followed in it, everything after it."""
    if live_runs.busy:
        yield
        return
    live_runs.busy = True
    try:
        yield
    finally:
        live_runs.busy = False
        follow_shown()


def while_paused(steps: Steps) -> Steps:
    """A workflow's generator, nothing being followed until it ends."""
    with paused():
        return (yield from steps)


def stop_all() -> None:
    """Forget everything at run time; what plays goes on playing."""
    live_runs.clear()
    _lend_interpreter(False)
    session.call_off(_tick)
    session.call_off(_look)


def _present(scene, depsgraph) -> list[tuple[LiveRun, Any]]:
    """Runs whose object is in the scene, with it, as far as that is the place to look at them.

    Where a depsgraph lacks something that another window shows, they are left to that one.
    """
    found = []
    for run in list(live_runs.runs.values()):
        ob = session.object_of(scene, run.uid, run.name)
        if ob is None:
            continue
        run.name = ob.name
        sees = run.follower.sees
        if sees(ob, depsgraph) or not any(sees(ob, other) for _, other in session.shown()):
            found.append((run, ob))
    return found


def _told() -> list[tuple[str | None, ...]]:
    """What the panels say of each run, but for its speed."""
    return [(run.pending, run.problem, run.follower.note, run.note) for run in live_runs.runs.values()]


def _waiting() -> list[LiveRun]:
    """Runs that need a track."""
    return [run for run in list(live_runs.runs.values()) if run.pending == TRACK]


def _follow(run: LiveRun, ob, moment: Moment) -> None:
    began = time.perf_counter()
    key = ""
    try:
        pending, key = run.follower.check(ob, moment)
        has_failed = bool(pending) and key == run.failed
        if has_failed and moment.is_playback:
            return  # another frame changes nothing about that
        if pending == TRACK and at_once():
            run.follower.put(ob, moment.scene, result_of(run.follower.job(ob, moment)))
            pending, has_failed, run.is_posed = NOTHING, False, False
        elif not has_failed:
            _pose(run, ob, moment, bool(pending))
    except Exception as error:
        _fail(run, error, key)
        return
    if not has_failed:
        run.problem, run.remedy, run.failed = None, None, ""
    run.ms = 1000.0 * (time.perf_counter() - began)
    if (pending, key) != (run.pending, run.key):
        run.cancel()
        run.pending, run.key, run.due = pending, key, time.monotonic() + _PAUSE


def _pose(run: LiveRun, ob, moment: Moment, pending: bool) -> None:
    """Show the present frame solved by itself, or the track where nothing is pending."""
    if pending:
        run.follower.pose(ob, moment)
    else:
        run.follower.show(ob, moment, run.is_posed and not moment.is_playback)
    run.is_posed = pending


def _fail(run: LiveRun, error: BaseException, key: str) -> None:
    """One run stands still and says why; the others go on. key: of the state that it failed in, "" where unknown."""
    run.cancel()
    run.pending, run.key, run.failed = NOTHING, "", key
    if isinstance(error, MemoryError):
        error = TooLargeError(f"following '{run.name}'", error)
    if isinstance(error, MotionLoomError):
        run.problem = str(error)
        run.remedy = _remedy(error)
        return
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{place.filename.rpartition('/')[2]}:{place.lineno}"
    run.problem = f"Internal error in {where}: {type(error).__name__}: {error}. Please report it."
    run.remedy = "RESUME"


def _remedy(error: MotionLoomError) -> str | None:
    if isinstance(error, ChangedSetError):
        return "UPDATE"
    return "BIND" if isinstance(error, StaleBindingError) else getattr(error, "remedy", None)


def _wake() -> None:
    """Start the timer where there is work for it."""
    if _waiting() and not at_once():
        session.call_later(_tick, _TICK)


def _look() -> float | None:
    """The first look at a file that was opened; None when there is nothing left to wait for."""
    follow_shown()
    return _TICK if live_runs.runs and not session.shown() else None


def _tick() -> float | None:
    """Begin tracks that are due, write those that are done; None when there is nothing left to wait for."""
    live_runs.ticked = time.monotonic()
    if live_runs.busy or (session.is_rendering() and not live_runs.hurried):
        return _TICK
    goes_on = False
    for scene, depsgraph in session.shown():
        for run, ob in _present(scene, depsgraph):
            if run.job is not None and run.job.is_done:
                _harvest(run, ob, scene)
            elif run.job is None and run.pending == TRACK and (live_runs.hurried or time.monotonic() >= run.due):
                _start(run, ob, Moment(scene, depsgraph, None))
            goes_on = goes_on or run.pending == TRACK
    session.redraw_sidebars()
    if goes_on:
        return _TICK
    _lend_interpreter(False)
    return None


def _start(run: LiveRun, ob, moment: Moment) -> None:
    try:
        run.job = Job(run.follower.job(ob, moment))
    except Exception as error:
        _fail(run, error, run.key)
        return
    _lend_interpreter(True)
    run.job.start()


def _lend_interpreter(lend: bool) -> None:
    """While a thread computes, the viewport gets its turn more often than Python's 5 ms."""
    if lend and live_runs.switch_interval is None:
        live_runs.switch_interval = sys.getswitchinterval()
        sys.setswitchinterval(min(live_runs.switch_interval, _SWITCH_INTERVAL))
    elif not lend and live_runs.switch_interval is not None:
        sys.setswitchinterval(live_runs.switch_interval)
        live_runs.switch_interval = None


def _harvest(run: LiveRun, ob, scene) -> None:
    """Write what a job has found."""
    job, run.job = run.job, None
    live_runs.busy = True
    try:
        if job.error is not None:
            raise job.error
        run.follower.put(ob, scene, job.result)
        run.pending, run.problem, run.remedy, run.failed, run.is_posed = NOTHING, None, None, "", False
    except Exception as error:
        _fail(run, error, run.key)
    finally:
        live_runs.busy = False
