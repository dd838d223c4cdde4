"""What is live now: one run an object and workflow. Arrays and plain values, never a Blender reference."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from .live_states import Remedy, TrackNeed


class Job:
    """A generator of NumPy work, driven by a thread until it ends or is cancelled."""

    def __init__(self, steps):
        self.progress, self.result, self.error = 0.0, None, None
        self._steps, self._cancelled = steps, False
        self._thread = threading.Thread(target=self._work, name="Motion Loom", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def cancel(self) -> None:
        """End it at its next step; the result is lost."""
        self._cancelled = True

    def wait(self) -> None:
        self._thread.join()

    @property
    def is_done(self) -> bool:
        return not self._thread.is_alive()

    def _work(self) -> None:
        try:
            while not self._cancelled:
                self.progress = next(self._steps)
        except StopIteration as end:
            self.result = end.value
        except BaseException as error:  # handed to the thread that waits for the result
            self.error = error


@dataclass
class Rest:
    """What the main thread has to do of a track after the thread, a little at a time. steps: a generator that yields
    shares done."""

    steps: Any
    progress: float = 0.0


@dataclass
class LiveRun:
    """uid: ``session_uid`` of the object.  name: where to look for it first.  workflow: identifier.
    follower: what the workflow keeps of it.

    pending: what the rest of the track needs.  key: of the state that it would be solved for.
    due: when (``time.monotonic``) that may be begun.  ms: the last frame took.
    problem: why it does not follow, or None.  remedy: the button that mends it.  failed: the key of the state for which
    it could not be solved, "" where none is known.  is_posed: a frame solved by itself is shown over the track.
    note: what happened that is worth knowing.
    """

    uid: int
    name: str
    workflow: str
    follower: Any
    pending: TrackNeed = TrackNeed.NOTHING
    key: str = ""
    due: float = 0.0
    job: Job | None = None
    rest: Rest | None = None
    ms: float | None = None
    problem: str | None = None
    remedy: Remedy | None = None
    failed: str = ""
    is_posed: bool = False
    note: str | None = None

    def cancel(self) -> None:
        """Stop solving; what is pending stays so."""
        if self.job is not None:
            self.job.cancel()
            self.job = None
        self.cancel_rest()

    def cancel_rest(self) -> None:
        """Break off what the main thread does."""
        if self.rest is not None:
            live_runs.dropped.append(self.rest)
            self.rest = None


@dataclass
class LiveRuns:
    """busy: a handler is at work, and what it causes is not to be followed.
    at_once: whether handlers solve whole tracks themselves; None: where no timer fires.
    known: how many objects there were when they were last looked through.
    switch_interval: what ``sys`` had before a job began.
    unseen: why what is live in a workflow could not be found, by its identifier.
    dropped: work that was broken off; it is closed by the timer, for it may have to tidy up what handlers cannot.
    hurried: a render waits for the tracks.  ticked: when (``time.monotonic``) the timer was at work last.
    worked: when that ended.  ended: the run that has ended last, whose follower goes on where undo brings it back."""

    runs: dict[tuple[int, str], LiveRun] = field(default_factory=dict)
    busy: bool = False
    at_once: bool | None = None
    known: int = -1
    switch_interval: float | None = None
    unseen: dict[str, str] = field(default_factory=dict)
    dropped: list[Rest] = field(default_factory=list)
    hurried: bool = False
    ticked: float = 0.0
    worked: float = 0.0
    ended: LiveRun | None = None

    def keep_ended(self, run: LiveRun) -> None:
        """Stop the work of a run that is live no more."""
        run.cancel()
        self.ended = run

    def close_dropped(self) -> None:
        """Let what was broken off tidy up."""
        dropped, self.dropped = self.dropped, []
        for rest in dropped:
            rest.steps.close()

    def clear(self) -> None:
        """Forget every run; threads have ended when this returns."""
        for run in self.runs.values():
            run.cancel_rest()
        self.close_dropped()
        jobs = [run.job for run in self.runs.values() if run.job is not None]
        for job in jobs:
            job.cancel()
        for job in jobs:
            job.wait()
        self.runs.clear()
        self.unseen.clear()
        self.known, self.ended = -1, None


live_runs = LiveRuns()
