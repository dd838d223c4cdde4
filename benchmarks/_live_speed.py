"""What Live costs at a frame, at a step of a drag and when a track is taken over; and that it keeps no memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np

from ._live_cost import frames_timed, timed, without_live
from ._live_scene import LiveScene

SCRUBBED, ROUNDS = 150, 3
DRAGGED = 60
SWAPS = 5
clock = time.perf_counter
WARMING, PLAYED = 500, 10_000


def measured(stage: LiveScene, quick: bool = False) -> dict[str, float]:
    """Milliseconds (``_ms``), seconds (``_s``) and kilobytes (``_kb``). quick: without what takes minutes."""
    figures = _playback(stage)
    stage.add_skin()
    figures["live_skinned_ms"] = _playback(stage)["live_ms"]
    stage.remove_skin()
    figures |= _drag(stage, "drag", stage.move_box)
    figures |= _drag(stage, "drag_deformed", stage.dent_box)
    figures |= _drag(stage, "influence", lambda k: _set(stage, "influence", 0.5 + 0.4 * np.sin(k)))
    figures |= _drag(stage, "orientation", lambda k: _set(stage, "orientation", 0.5 + 0.4 * np.sin(k)))
    figures |= _drag(stage, "scale", lambda k: setattr(stage.rig, "scale", [0.9 + 0.02 * np.sin(k)] * 3))
    stage.rig.scale = (1, 1, 1)
    stage.finish()
    figures |= _tracks(stage)
    figures["check_ms"] = _checks(stage)
    if quick:
        return figures
    figures["playback_10000_kb"] = _growth(stage)
    stage.more_rigs(10)
    stage.finish()
    figures["ten_rigs_ms"] = _playback(stage)["live_ms"]
    return figures


def _set(stage, name: str, value: float) -> None:
    setattr(stage.rig.motion_loom_adapt, name, value)


def _playback(stage: LiveScene) -> dict[str, float]:
    """What live adds to a frame change, its track being ready: the frames in one shuffled order with and without it, in
    turns; of each frame the median."""
    frames = np.arange(stage.scene.frame_start, stage.scene.frame_end + 1)
    frames = np.random.default_rng(0).permutation(frames)[:SCRUBBED].tolist()
    stage.require_ready()
    followed, plain = frames_timed(stage, frames, ROUNDS, clock)
    added = np.median(followed, axis=0) - np.median(plain, axis=0)
    return {"live_ms": float(np.median(added)), "live_p90_ms": float(np.percentile(added, 90))}


def _drag(stage: LiveScene, name: str, change: Callable[[int], None]) -> dict[str, float]:
    """What live adds to an update after one step of a change, the present frame being solved and written. Every tenth
    step is at another frame."""
    frames = np.linspace(stage.scene.frame_start, stage.scene.frame_end, 2 * DRAGGED // 10 + 2).astype(int)[1:-1]

    def step(number: int) -> None:
        change(number)
        stage.layer.update()

    followed, plain = [], []
    change(0)
    stage.finish()
    for part, frame in enumerate(frames[: DRAGGED // 10]):
        stage.scene.frame_set(int(frame))
        numbers = range(10 * part + 1, 10 * part + 11)
        followed += timed(step, numbers, clock).tolist()
        with without_live(stage.package):
            plain += timed(step, [number + 0.5 for number in numbers], clock).tolist()
    change(0)
    stage.finish()
    added = np.array(followed) - np.median(plain)
    return {f"{name}_ms": float(np.median(added)), f"{name}_p90_ms": float(np.percentile(added, 90))}


def _tracks(stage: LiveScene) -> dict[str, float]:
    """begin_ms: reading all that a track needs, in the main thread.  track_s: solving it in the thread.  swap_ms:
    writing it into the curves, with the evaluation that follows."""
    found: dict[str, list[float]] = {"begin_ms": [], "track_s": [], "swap_ms": []}
    for number in range(1, SWAPS + 1):
        stage.move_box(20 * number)
        stage.layer.update()
        run, live = stage.run, stage.live
        run.due = 0.0
        began = clock()
        live._tick()
        started = clock()
        run.job.wait()
        solved = clock()
        live._tick()
        stage.layer.update()
        swapped = clock()
        stage.require_ready()
        found["begin_ms"].append(1000 * (started - began))
        found["track_s"].append(solved - started)
        found["swap_ms"].append(1000 * (swapped - solved))
    stage.move_box(0)
    stage.finish()
    return {key: float(np.median(values)) for key, values in found.items()}


def _checks(stage: LiveScene) -> float:
    """Milliseconds to find that nothing has changed, at another frame."""
    moment = stage.live.Moment(stage.scene, stage.depsgraph, {stage.rig.session_uid}, True)
    return float(np.median(timed(lambda _: stage.run.follower.check(stage.rig, moment), range(200), clock)))


def _growth(stage: LiveScene) -> float:
    """Kilobytes that the process has grown by in 10,000 frames of playback."""
    first, last = stage.scene.frame_start, stage.scene.frame_end
    span = last - first + 1

    def play(count: int) -> float:
        for number in range(count):
            stage.scene.frame_set(first + number % span)
        return resident_kb()

    return -play(WARMING) + play(PLAYED)


def resident_kb() -> float:
    """Memory of this process, kilobytes; Linux alone tells it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("VmRSS")))


def size(stage: LiveScene) -> dict[str, int]:
    """What exactly was solved."""
    binding = stage.binding()
    return {
        "frames": len(binding.track.frames),
        "joints": len(binding.track.skeleton.names),
        "bones": len(stage.rig.data.bones),
        "descriptors": len(binding.points),
        "triangles": sum(len(ob.data.polygons) for ob in stage.objects),
        "blender": bpy.app.version_string,
    }
