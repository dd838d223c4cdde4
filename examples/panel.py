"""What a user does with the panel, for the demos of meshes: press its buttons, look at what they made."""

from __future__ import annotations

import os
import time

import bpy
import numpy as np
import strip

import demo

CACHE = "motion_loom_cache"  # the folder of the cache file, beside the .blend
SCRUBBED = 60  # frames, out of order, at which live is looked at


def press(button: str, workflow: str | None = None) -> None:
    """Press one of the panel's buttons; DemoError with its message where it fails."""
    try:
        with strip.quiet():
            getattr(bpy.ops.motion_loom, button)(**({"workflow": workflow} if workflow else {}))
    except RuntimeError as error:
        raise demo.DemoError(str(error).strip().removeprefix("Error: ")) from error


def timed(button: str, workflow: str) -> float:
    """Press one of the panel's buttons; returns the seconds that it took."""
    began = time.perf_counter()
    press(button, workflow)
    return time.perf_counter() - began


def clear_cache(out: str) -> None:
    """Remove what an earlier run has left: a bake never replaces a file."""
    folder = os.path.join(out, CACHE)
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if name.endswith(".pc2"):
            os.remove(os.path.join(folder, name))


def vertices(ob: bpy.types.Object) -> np.ndarray:
    """World vertices (V, 3) as they are shown."""
    shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    points = np.empty(3 * len(shown.data.vertices), np.float32)
    shown.data.vertices.foreach_get("co", points)
    world = np.array(shown.matrix_world)
    return points.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]


def live_against(live, ob, workflow: str, copy, baked) -> tuple[float, float]:
    """Largest difference of a live copy from what was baked, metres, and what live takes at a frame, ms.

    live: the extension's module of that name.  ob: the target.
    """
    scene = bpy.context.scene
    frames = np.arange(scene.frame_start, scene.frame_end + 1)
    apart, times = 0.0, []
    for frame in np.random.default_rng(0).permutation(frames)[:SCRUBBED].tolist():
        scene.frame_set(frame)
        status = live.status(ob, workflow)
        if status.problem:
            raise demo.DemoError(status.problem)
        times.append(status.ms)
        apart = max(apart, float(np.abs(vertices(copy) - vertices(baked)).max()))
    return apart, sorted(times)[len(times) // 2]
