"""The live engine: rigs that follow changes while the user works. It knows nothing of how a workflow solves.

What is live plays an action, or shows a mesh, that holds the solved track; playback and renders need nothing from here.
Handlers only look whether what the track was solved for is still so. If not, the present frame is solved by itself and
the whole track in the background, or at once where no timer fires.
"""

from __future__ import annotations

import math
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ...scene import restored, session
from ...solvers.core.errors import ChangedSetError, MotionLoomError, StaleBindingError, TooLargeError
from ...solvers.core.steps import result_of
from ...state.live_runs import Job, LiveRun, Rest, live_runs
from ...state.live_states import Remedy, TrackNeed, TrackStatus
from .base import Steps
from .follower import Again, Follower, Moment

# Seconds without a change after which the track is solved: a drag that goes on would only throw it away.
_PAUSE = 0.15
_TICK = 0.05
# Seconds at a time that the main thread works on tracks, and those that it leaves to the user in between. Where the
# program draws for longer than that after each slice, they become as long, up to a limit.
_SLICE, _GAP, _LONGEST_SLICE = 0.06, 0.005, 0.5
_SWITCH_INTERVAL = 0.0005
_STATUS = {
    TrackNeed.NOTHING: TrackStatus.READY,
    TrackNeed.TRACK: TrackStatus.WAITING,
    TrackNeed.SWEEP: TrackStatus.SWEEP,
}


@dataclass(frozen=True)
class LiveStatus:
    """ms: the last frame took.  progress: 0 to 1.  problem: why nothing follows.  remedy: the button that mends that.
    source_untouched: the source action is as it was.  note: what happened that is worth knowing."""

    ms: float | None
    track: TrackStatus
    progress: float
    problem: str | None
    remedy: Remedy | None
    source_untouched: bool
    note: str | None


def status(ob, workflow_id: str) -> LiveStatus | None:
    """How a live object fares, or None where it is not live.

    Where what is live in a workflow could not be found, that is the problem of every object without a run.
    """
    run, unseen = live_runs.runs.get((ob.session_uid, workflow_id)), live_runs.unseen.get(workflow_id)
    if run is None:
        return unseen and LiveStatus(None, TrackStatus.READY, 0.0, unseen, None, False, None)
    working = run.job or run.rest
    track = TrackStatus.SOLVING if working else _STATUS[run.pending]
    remedy = run.remedy or (Remedy.REFRESH if track is TrackStatus.SWEEP else None)
    progress = working.progress if working else 0.0
    follower = run.follower
    note = ". ".join(filter(None, (follower.note, run.note, unseen))) or None
    return LiveStatus(run.ms, track, progress, run.problem, remedy, follower.source_untouched, note)


def at_once() -> bool:
    """Whether tracks are solved in the handlers themselves, because no timer would fire."""
    return session.in_background() if live_runs.at_once is None else live_runs.at_once


def begin(ob, workflow, follower: Follower) -> None:
    """An object has become live, its track solved."""
    end(ob, workflow.id)
    live_runs.ended = None
    live_runs.runs[ob.session_uid, workflow.id] = LiveRun(ob.session_uid, ob.name, workflow.id, follower)


def end(ob, workflow_id: str) -> None:
    """An object is live no more."""
    run = live_runs.runs.pop((ob.session_uid, workflow_id), None)
    if run is not None:
        live_runs.keep_ended(run)


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
    before, live_runs.unseen = live_runs.unseen, {}
    found = {key: run for each in workflows if each.is_live for key, run in _runs_of(each).items()}
    for key, run in live_runs.runs.items():
        if key not in found:
            live_runs.keep_ended(run)
    live_runs.runs = found
    live_runs.known = session.object_count()
    if live_runs.unseen != before and not at_once():
        session.redraw_sidebars()


def _runs_of(workflow) -> dict[tuple[int, str], LiveRun]:
    """A run for all that is live in a workflow. Where that raises, the runs there were go on, and it is noted why."""
    found = {}
    try:
        for ob in workflow.live_objects():
            key = ob.session_uid, workflow.id
            found[key] = live_runs.runs.get(key) or _begun_again(key, ob, workflow)
    except Exception as error:  # whatever it is, those of other workflows are found
        traceback.print_exc()
        live_runs.unseen[workflow.id] = f"Live cannot find what to follow. {_words(error)}"
        return {key: run for key, run in live_runs.runs.items() if run.workflow == workflow.id} | found
    return found


def _begun_again(key: tuple[int, str], ob, workflow) -> LiveRun:
    """A run of what is live without one: with what is known of it where it ended last, as by a bake that was undone."""
    ended = live_runs.ended
    is_known = ended is not None and (ended.uid, ended.workflow) == key and ended.follower.goes_on_later
    return LiveRun(key[0], ob.name, workflow.id, ended.follower if is_known else workflow.follower(ob))


def follow_all(scene, depsgraph, updated: set[int] | None, is_playback: bool = False) -> None:
    """Bring every live object of the scene up to date; to be called by handlers."""
    if live_runs.busy:
        return
    live_runs.busy = True
    moment = Moment(scene, depsgraph, updated, is_playback)
    before = _told()
    try:
        for run, ob in present(scene, depsgraph):
            _follow(run, ob, moment)
    finally:
        live_runs.busy = False
    if _told() != before and not at_once():
        session.redraw_sidebars()
    _wake()


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


def present(scene, depsgraph) -> list[tuple[LiveRun, Any]]:
    """Runs whose object is in the scene, with it, as far as that is the place to look at them.

    Where a depsgraph lacks something that another window shows, they are left to that one.
    """
    found = []
    for run in list(live_runs.runs.values()):
        ob = session.object_of(scene, run.uid, run.name)
        if ob is None:
            continue
        run.name = ob.name
        if _is_followed_in(run, ob, depsgraph):
            found.append((run, ob))
    return found


def _is_followed_in(run: LiveRun, ob, depsgraph) -> bool:
    sees = run.follower.sees
    try:
        return sees(ob, depsgraph) or not any(sees(ob, other) for _, other in session.shown())
    except Exception as error:
        fail(run, error, "")
        return False


def _told() -> list[tuple[str | None, ...]]:
    """What the panels say of each run, but for its speed."""
    return [(run.pending, run.problem, run.follower.note, run.note) for run in live_runs.runs.values()]


def waiting() -> list[LiveRun]:
    """Runs that need a track."""
    return [run for run in list(live_runs.runs.values()) if run.pending is TrackNeed.TRACK]


def _follow(run: LiveRun, ob, moment: Moment) -> None:
    began = time.perf_counter()
    key = ""
    try:
        pending, key = run.follower.check(ob, moment)
        has_failed = pending is not TrackNeed.NOTHING and key == run.failed
        if has_failed and moment.is_playback:
            return  # another frame changes nothing about that
        if pending is TrackNeed.TRACK and at_once():
            found = result_of(run.follower.job(ob, moment))
            _put(run, ob, moment, result_of(run.follower.rest(ob, moment, found)))
            pending, has_failed, run.is_posed = TrackNeed.NOTHING, False, False
        elif not has_failed:
            _pose(run, ob, moment, pending is not TrackNeed.NOTHING)
    except Exception as error:
        fail(run, error, key)
        return
    if not has_failed:
        run.problem, run.remedy, run.failed = None, None, ""
    run.ms = 1000.0 * (time.perf_counter() - began)
    if (pending, key) != (run.pending, run.key):
        run.cancel()
        run.pending, run.key, run.due = pending, key, time.monotonic() + _PAUSE


def _pose(run: LiveRun, ob, moment: Moment, is_pending: bool) -> None:
    """Show the present frame solved by itself, or the track where nothing is pending."""
    if is_pending:
        run.follower.pose(ob, moment)
    else:
        run.follower.show(ob, moment, run.is_posed and not moment.is_playback)
    run.is_posed = is_pending


def fail(run: LiveRun, error: BaseException, key: str) -> None:
    """One run stands still and says why; the others go on. key: of the state that it failed in, "" where unknown."""
    run.cancel()
    run.pending, run.key, run.failed = TrackNeed.NOTHING, "", key
    if isinstance(error, MemoryError):
        error = TooLargeError(f"following '{run.name}'", error)
    run.problem = _words(error)
    run.remedy = _remedy(error) if isinstance(error, MotionLoomError) else Remedy.RESUME


def _words(error: BaseException) -> str:
    """What the panel says of an error: its own text where it is meant for users, else where it was raised."""
    if isinstance(error, MotionLoomError):
        return str(error)
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{place.filename.rpartition('/')[2]}:{place.lineno}"
    return f"Internal error in {where}: {type(error).__name__}: {error}. Please report it."


def _remedy(error: MotionLoomError) -> Remedy | None:
    if isinstance(error, ChangedSetError):
        return Remedy.UPDATE
    return Remedy.BIND if isinstance(error, StaleBindingError) else getattr(error, "remedy", None)


def _wake() -> None:
    """Start the timer where there is work for it."""
    if waiting() and not at_once():
        session.call_later(_tick, _TICK)


def _look() -> float | None:
    """The first look at a file that was opened; None when there is nothing left to wait for."""
    follow_shown()
    return _TICK if live_runs.runs and not session.shown() else None


def _tick() -> float | None:
    """Begin tracks that are due, write those that are done; None when there is nothing left to wait for."""
    rested, live_runs.ticked = time.monotonic() - live_runs.worked, time.monotonic()
    seconds = min(max(rested, _SLICE), _LONGEST_SLICE)
    if live_runs.busy or (session.is_rendering() and not live_runs.hurried):
        return _TICK
    live_runs.close_dropped()
    goes_on = at_work = False
    for scene, depsgraph in session.shown():
        for run, ob in present(scene, depsgraph):
            if run.rest is not None:
                go_on(run, ob, Moment(scene, depsgraph, None), seconds)
            elif run.job is not None and run.job.is_done:
                harvest(run, ob, Moment(scene, depsgraph, None), seconds)
            elif _is_due(run):
                start(run, ob, Moment(scene, depsgraph, None))
            goes_on = goes_on or run.pending is TrackNeed.TRACK
            at_work = at_work or run.rest is not None
    session.redraw_sidebars()
    live_runs.worked = time.monotonic()
    if goes_on:
        return _GAP if at_work else _TICK
    _lend_interpreter(False)
    return None


def _is_due(run: LiveRun) -> bool:
    is_time = live_runs.hurried or time.monotonic() >= run.due
    return run.job is None and run.rest is None and run.pending is TrackNeed.TRACK and is_time


def start(run: LiveRun, ob, moment: Moment) -> None:
    """Begin to solve a track in a thread."""
    try:
        run.job = Job(run.follower.job(ob, moment))
    except Exception as error:
        fail(run, error, run.key)
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


def harvest(run: LiveRun, ob, moment: Moment, seconds: float = math.inf) -> None:
    """Write what a job has found, once the main thread has done its part; it begins with that for some seconds."""
    job, run.job = run.job, None
    if job.error is not None:
        fail(run, job.error, run.key)
        return
    run.rest = Rest(run.follower.rest(ob, moment, job.result))
    go_on(run, ob, moment, seconds)


def go_on(run: LiveRun, ob, moment: Moment, seconds: float = math.inf) -> None:
    """Do the main thread's part of a track for some seconds, and write it when that is done."""
    live_runs.busy = True
    until = time.monotonic() + seconds
    try:
        while True:
            try:
                run.rest.progress = next(run.rest.steps)
            except StopIteration as end:
                found = end.value
                break
            if time.monotonic() >= until:
                return
        run.rest = None
        _put(run, ob, moment, found)
        run.pending, run.problem, run.remedy, run.failed, run.is_posed = TrackNeed.NOTHING, None, None, "", False
    except Again:
        run.rest = None
    except Exception as error:
        run.rest = None
        fail(run, error, run.key)
    finally:
        live_runs.busy = False


def _put(run: LiveRun, ob, moment: Moment, result: Any) -> None:
    """Write a track, and show the present frame of it where nothing plays it."""
    run.follower.put(ob, moment.scene, result)
    if not run.follower.plays_by_itself:
        run.follower.show(ob, moment, False)
