"""What Map costs in Blender: a live frame and its parts, a change of the pairs, a stream's empties, bakes, memory."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np

from ._live_cost import frames_timed, without_live
from ._map_scene import MapScene
from ._map_stream import UPDATES, streamed_places

SCRUBBED, ROUNDS = 150, 5
CHANGED, CHANGES = 3, 20
WARMING, PLAYED = 500, 2000
# Part of a frame: module, class and function that it is the time of.
PARTS = {
    "check": ("workflows.map.follower", "MapFollower", "check"),
    "sample": ("workflows.map.follower", "", "result_at"),
    "features": ("solvers.mapping.source_motion", "SourceStream", "step"),
    "regression": ("solvers.mapping.track", "MotionMap", "coefficients"),
    "back_projection": ("solvers.shapes.target_space", "TargetSpace", "face_pose"),
    "exponential": ("solvers.shapes.shape_space", "ShapeSpace", "gradients"),
    "divergence": ("solvers.shapes.shape_space", "ShapeSpace", "divergence"),
    "poisson": ("solvers.surface.poisson", "PoissonSystem", "solve"),
    "positions": ("solvers.shapes.target_space", "TargetSpace", "placed"),
    "write": ("scene.live_mesh", "", "write"),
}
clock = time.perf_counter


def frame_figures(stage: MapScene) -> dict[str, float]:
    """Milliseconds. frame_ms: what live adds to a frame change, Blender's own update of what was written included, in
    one shuffled order of frames with and without it; of each frame the fastest of ROUNDS, then the median and the 90th
    percentile.  input_frame_ms: the same with Live Input, which makes features and regression anew.
    learn_in_blender_s, in seconds: reading source and target, learning, storing.

    The parts are timed where they run in these frames. "rest" is what Blender does with the new mesh, and the engine.
    """
    frames = np.random.default_rng(0).permutation(stage.frames)[:SCRUBBED].astype(int).tolist()
    figures = {"learn_in_blender_s": stage.learn_seconds} | _played(stage, frames)
    parts = _parts(stage, frames)
    settings = stage.target.motion_loom_map
    settings.live_input = True
    figures |= {f"input_{name}": value for name, value in _played(stage, frames).items()}
    followed = _parts(stage, frames)
    settings.live_input = False
    stage.scene.frame_set(frames[0])
    parts |= {name: followed[name] for name in ("features", "regression")}
    figures |= {f"{name}_ms": value for name, value in parts.items()}
    in_frame = set(PARTS) - {"features", "regression", "divergence"}
    figures["divergence_ms"] -= figures["exponential_ms"]
    figures["rest_ms"] = figures["frame_ms"] - sum(parts[name] for name in in_frame) - figures["divergence_ms"]
    return figures


def mesh_source_figures(stage: MapScene) -> dict[str, float]:
    """frame_mesh_source_ms: as ``frame_ms``, of a target that follows all vertices of an equal mesh; and its check."""
    frames = stage.frames[:: max(1, len(stage.frames) // SCRUBBED)].astype(int).tolist()
    figures = {"mesh_source_frame_ms": _played(stage, frames)["frame_ms"]}
    return figures | {"mesh_source_check_ms": _parts(stage, frames)["check"]}


def change_figures(stage: MapScene) -> dict[str, float]:
    """pair_change_ms: from another frame of a pair to the new map's result over the whole clip, with its shape, as a
    user waits for it: the feet of a long clip follow in the background.  feet_track_s, in seconds: those."""
    pair = stage.target.motion_loom_map.pairs[CHANGED]
    before, spent = pair.target_frame, []
    stage.runs.at_once = False
    for number in range(CHANGES):
        began = clock()
        pair.target_frame = before + 0.5 + number % 2
        stage.layer.update()
        spent.append(1000 * (clock() - began))
    stage.runs.at_once, began = None, clock()
    stage.layer.update()
    stage.scene.frame_set(stage.scene.frame_current)
    feet = clock() - began
    pair.target_frame = before
    stage.layer.update()
    stage.require_ready()
    return {"pair_change_ms": float(np.median(spent)), "feet_track_s": feet}


def stream_figures(stage: MapScene) -> dict[str, float]:
    """stream_place_ms: 55 streamed joints put on their empties, Blender's update of them included."""
    place = stage.module("scene.stream_empties").place_empties
    names, positions = streamed_places()
    place(stage.scene, names, positions[0])
    stage.layer.update()
    spent = []
    with without_live(stage.package):
        for row in positions[:UPDATES]:
            began = clock()
            place(stage.scene, names, row)
            stage.layer.update()
            spent.append(1000 * (clock() - began))
    return {"stream_place_ms": float(np.median(spent))}


def bake_figures(stage: MapScene) -> dict[str, float]:
    """Seconds and megabytes of each kind of bake, and the error of weighted shape keys over the diagonal."""
    run, bakes = stage.module("workflows.map.run"), stage.module("workflows.mesh.bake")
    run_to_end = stage.module("workflows.core.base").run_to_end
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        bpy.ops.wm.save_as_mainfile(filepath=str(Path(folder) / "map.blend"), check_existing=False)
        for kind in (bakes.PC2, bakes.PCA_KEYS, bakes.ABSOLUTE_KEYS):
            began = clock()
            report = run_to_end(run.bake_steps(bpy.context, stage.target, bakes.MeshBakeOptions(kind)))
            figures[f"bake_{kind.lower()}_s"] = clock() - began
            figures[f"bake_{kind.lower()}_mb"] = report["bytes"] / 1e6
            if kind == bakes.PCA_KEYS:
                size = np.linalg.norm(np.ptp(stage.rest, axis=0))
                figures["bake_pca_keys_most_pct"] = 100 * report["error_max"] / size
                figures["bake_pca_keys_rms_pct"] = 100 * report["error_rms"] / size
            bpy.data.objects.remove(bpy.data.objects[report["object"]])
            bpy.data.orphans_purge(do_recursive=True)
        figures["baked_frames"] = report["frames"]
    return figures


def memory_figures(stage: MapScene) -> dict[str, float]:
    """playback_2000_mb: by how much the process has grown in 2,000 frames of playback; resident_mb: all of it."""
    first, span = int(stage.frames[0]), len(stage.frames)

    def play(count: int) -> float:
        for number in range(count):
            stage.scene.frame_set(first + number % span)
        return resident_mb()

    before = play(WARMING)
    after = play(PLAYED)
    return {"playback_2000_mb": after - before, "resident_mb": after}


def resident_mb() -> float:
    """Memory of this process; Linux alone tells it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("VmRSS"))) / 1024


def _played(stage: MapScene, frames: list[int]) -> dict[str, float]:
    followed, plain = frames_timed(stage, frames, ROUNDS, clock)
    added = np.min(followed, axis=0) - np.min(plain, axis=0)
    return {"frame_ms": float(np.median(added)), "frame_p90_ms": float(np.percentile(added, 90))}


def _parts(stage: MapScene, frames: list[int]) -> dict[str, float]:
    """Milliseconds a frame, by part: of each frame the fastest round, then the median."""
    rounds = []
    for _ in range(ROUNDS):
        with _watched(stage) as spent:
            each = {name: [] for name in PARTS}
            for frame in frames:
                spent.update(dict.fromkeys(PARTS, 0.0))
                stage.scene.frame_set(frame)
                for name, seconds in spent.items():
                    each[name].append(1000 * seconds)
        rounds.append(each)
    return {name: float(np.median(np.min([each[name] for each in rounds], axis=0))) for name in PARTS}


@contextmanager
def _watched(stage: MapScene) -> Iterator[dict[str, float]]:
    """A block in which the seconds spent in each part are added up."""
    spent = dict.fromkeys(PARTS, 0.0)
    kept = []
    for part, (module, owner, name) in PARTS.items():
        holder = stage.module(module)
        holder = getattr(holder, owner) if owner else holder
        kept.append((holder, name, getattr(holder, name)))
        setattr(holder, name, _stopwatch(kept[-1][2], spent, part))
    try:
        yield spent
    finally:
        for holder, name, call in kept:
            setattr(holder, name, call)


def _stopwatch(call: Callable, spent: dict[str, float], part: str) -> Callable:
    def watched(*args, **options):
        began = clock()
        try:
            return call(*args, **options)
        finally:
            spent[part] += clock() - began

    return watched
