"""Empties that follow a live stream, and recordings of it: from Start Listening to Stop Listening.

The listener has a thread of its own and touches nothing of Blender's; a timer of the main thread moves the empties.
"""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from ...scene import session
from ...scene.motion import frames_per_second
from ...scene.stream_empties import place_empties, play_takes, write_recording
from ...solvers.core.errors import InputError, MotionLoomError, SceneError
from ...state.live_runs import live_runs
from ...streams.counts import Counts
from ...streams.errors import StreamError
from ...streams.frames import MAX_JOINTS, Frame
from ...streams.listener import Listener
from ...streams.recorder import Recorder
from ...streams.remarks import guesses, remarks
from .run import StreamRun, stream_state

_TICK = 1.0 / 60.0
_SAMPLE = 0.25  # seconds from one look at the counts, and one redraw of the panel, to the next
_MEMORY = 4  # looks over which frames a second are counted
_clock = time.monotonic


@dataclass(frozen=True)
class Take:
    """A recording under way.  seconds, frames: received so far.  first_frame: of the scene.  is_full: takes no more."""

    seconds: float
    frames: int
    first_frame: int
    is_full: bool


@dataclass(frozen=True)
class StreamStatus:
    """host, port: listened at.  scene: the one with the empties.  counts: see ``Counts``.  rate: frames a second.
    joints: placed last.  take: the recording, or None.  notes: what is worth knowing, a line each: what was
    guessed, and what was left out."""

    host: str
    port: int
    scene: str
    counts: Counts
    rate: float
    joints: int
    take: Take | None
    notes: tuple[str, ...]


def status() -> StreamStatus | None:
    """How listening stands, or None where nothing listens."""
    run = stream_state.run
    if run is None:
        return None
    listener, recorder = run.listener, run.recorder
    take = None
    if recorder is not None:
        take = Take(recorder.seconds, len(recorder.frames), run.first_frame, recorder.is_full)
    host, port, counts = listener.host, listener.port, listener.counts()
    notes = (*((run.note,) if run.note else ()), *remarks(counts))
    return StreamStatus(host, port, run.scene_name, counts, _rate(run), run.joints, take, notes)


def is_private(host: str) -> bool:
    """Whether only programs on this computer can send to an address."""
    try:
        return ipaddress.ip_address(host.strip()).is_loopback
    except ValueError:
        return host.strip() == "localhost"


def why_not_start(context) -> str | None:
    if stream_state.run is not None:
        return "Listening already."
    if context.scene.library is not None:
        return f"Scene '{context.scene.name}' is linked; switch to one of this file."
    return None


def why_not_stop(_context) -> str | None:
    if stream_state.run is None:
        return "Nothing is listened to."
    return None if stream_state.run.recorder is None else "Stop the recording first."


def why_not_record(_context) -> str | None:
    if stream_state.run is None:
        return "Start listening first."
    return None if stream_state.run.recorder is None else "Recording already."


def why_not_keep(_context) -> str | None:
    return None if stream_state.run and stream_state.run.recorder else "Nothing is being recorded."


def start(context) -> str:
    """Listen, and let the empties of the scene follow. Raises InputError where the port or address cannot be had."""
    scene = context.scene
    host = scene.motion_loom_stream.host.strip()
    if not host:
        raise InputError("The address is empty; 127.0.0.1 receives from this computer.")
    listener = Listener(host, scene.motion_loom_stream.port)
    with _as_input():
        listener.start()
    stream_state.problem = None
    stream_state.run = StreamRun(listener, scene.session_uid, scene.name)
    session.call_later(tick, _TICK)
    return f"Listening at {listener.host}, port {listener.port}"


def stop() -> str:
    """Close the port; the empties stay, and play again what they played before."""
    listener = stream_state.run.listener
    close()
    play_takes()
    counts = listener.counts()
    if not counts.received:
        return "Nothing was received; see that the sender uses this address and port"
    return ". ".join([f"{counts.frames} frames were received in {counts.received} packets", *remarks(counts)])


def close() -> None:
    """Close the port and forget what came; no object is touched. The thread has ended when this returns."""
    session.call_off(tick)
    run, stream_state.run, stream_state.problem = stream_state.run, None, None
    if run is not None:
        run.listener.stop()


def settle() -> None:
    """Let the empties play their recordings where nothing is listened to: undo and files bring back other states."""
    if stream_state.run is None:
        play_takes()


def record() -> str:
    """Collect what comes from now on, to be played from the present frame on."""
    run = stream_state.run
    scene = _scene_of(run)
    latest = run.listener.latest()
    run.recorder = Recorder(latest.time) if latest else Recorder()
    run.first_frame = scene.frame_current
    return f"Recording from frame {run.first_frame}"


def keep() -> str:
    """End the recording and write it to an action of the empties.

    Raises InputError where nothing came; the scene is as it was then. A recording that cannot be written stays, to be
    kept once more.
    """
    run = stream_state.run
    recorder = run.recorder
    recorder.poll(run.listener)
    scene = _scene_of(run)
    try:
        with _as_input():
            recording = recorder.resampled(frames_per_second(scene))
    except InputError:
        run.recorder = None  # there is nothing to keep
        raise
    name = scene.motion_loom_stream.take.strip() or "Take"
    made = write_recording(scene, recording.names, recording.positions, run.first_frame, name)
    run.recorder = None
    last = run.first_frame + len(recording.positions) - 1
    missing = int(np.isnan(recording.positions[..., 0]).sum())
    parts = [
        f"'{made[0].name if len(made) == 1 else name}' has frames {run.first_frame} to {last}",
        f"{len(recording.names)} joints",
        f"{missing or 'no'} missing samples",
    ]
    if recorder.missed:
        parts.append(f"{recorder.missed} received frames lost while Blender was busy")
    text = ", ".join(parts) + "; it plays when listening stops"
    return ". ".join([text, *guesses(run.listener.counts())])


def tick() -> float | None:
    """Move the empties to what came since the last call; None when nothing is listened to."""
    run = stream_state.run
    if run is None:
        return None
    try:
        if run.recorder is not None:
            run.recorder.poll(run.listener)
        if not run.listener.is_listening:
            raise SceneError("The port was closed; start again.")
        if not (live_runs.busy or session.is_rendering()):
            _place(run)
    except Exception as error:
        close()
        stream_state.problem = f"Listening ended. {error}"
        session.redraw_sidebars()
        if isinstance(error, MotionLoomError):
            return None
        raise
    _tell(run)
    return _TICK


def _place(run: StreamRun) -> None:
    frames = run.listener.since(run.placed)
    if not frames:
        return
    scene = _scene_of(run)
    places = _together(frames)
    run.placed, run.joints = frames[-1].time, len(places)
    known = [name for name in places if name in run.names]
    new = [name for name in places if name not in run.names][: MAX_JOINTS - len(run.names)]
    if len(known) + len(new) < len(places):
        run.note = f"More than {MAX_JOINTS} joints were sent; the others are left out"
    run.names.update(new)
    names = tuple(known + new)
    if names:
        place_empties(scene, names, np.array([places[name] for name in names]))


def _together(frames: list[Frame]) -> dict[str, np.ndarray]:
    """The newest place (3,) of each joint: a sender may spread its joints over several frames."""
    newest = {frame.names: frame for frame in frames}
    places: dict[str, np.ndarray] = {}
    for frame in sorted(newest.values(), key=lambda frame: frame.number):
        places.update(zip(frame.names, frame.positions, strict=True))
    return places


def _tell(run: StreamRun) -> None:
    """Count frames a second, and draw the panel again where it says something else by now."""
    now = _clock()
    if run.history and now < run.history[-1][0] + _SAMPLE:
        return
    run.history.append((now, run.listener.counts().frames))
    while len(run.history) > _MEMORY + 1:
        run.history.popleft()
    told = status()
    if told != run.told:
        run.told = told
        session.redraw_sidebars()


def _rate(run: StreamRun) -> float:
    if len(run.history) < 2:
        return 0.0
    (began, before), (now, frames) = run.history[0], run.history[-1]
    return (frames - before) / (now - began)


def _scene_of(run: StreamRun):
    scene = session.scene_of(run.scene_uid, run.scene_name)
    if scene is None:
        raise SceneError(f"Scene '{run.scene_name}', which has the empties, was deleted; start again in another.")
    run.scene_name = scene.name
    return scene


@contextmanager
def _as_input() -> Iterator[None]:
    """A block in which what is wrong with a stream becomes an error of the extension."""
    try:
        yield
    except StreamError as error:
        raise InputError(str(error)) from error
