"""What a single frame costs while the environment is being changed: ``solvers.adapt.frame`` on the standard problem.

Every tenth frame of the clip, one after the other, as when the user plays while something is edited; and the distance
of the joints from those of the whole track solved again.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from solvers.adapt.frame import FrameAdapter
from solvers.adapt.solve import AdaptedMotion, AdaptOptions, adapt
from solvers.core.types import TriangleMesh

from . import _adapt_speed, edits

ROWS = np.arange(0, _adapt_speed.FRAMES, 10)
# Metres: of the box that is dragged.
STEP = 0.002
UPDATES = 20


def measured() -> dict[str, float]:
    """Milliseconds (``_ms``) and millimetres (``_mm``)."""
    problem = _adapt_speed.standard()
    problem.keep(problem.bind())
    binding, options = problem.binding, AdaptOptions()
    before = adapt(binding, problem.before, options)
    after = adapt(binding, problem.after, options)
    now = [mesh.state(0) for mesh in problem.after]
    began = time.perf_counter()
    adapter = FrameAdapter(binding, options, after.moves)
    figures = {"construct_ms": 1000 * (time.perf_counter() - began)}
    adapter.update(now)
    spent, gap = _solved(adapter, after)
    figures |= {"frame_solve_ms": np.median(spent), "frame_solve_p90_ms": np.percentile(spent, 90)}
    figures |= {"gap_same_mm": np.median(gap), "gap_same_p95_mm": np.percentile(gap, 95)}
    figures |= {
        "update_unchanged_ms": _updating(adapter, now, lambda mesh, k: mesh.vertices),
        "update_ms": _updating(adapter, now, lambda mesh, k: mesh.vertices + [0, 0, STEP * k]),
        "update_deformed_ms": _updating(adapter, now, lambda mesh, k: mesh.vertices * [1, 1, 1 + STEP * k], ask=True),
    }
    adapter = FrameAdapter(binding, options, before.moves)
    adapter.update(now)
    spent, gap = _solved(adapter, after)
    figures |= {"frame_solve_changed_ms": np.median(spent), "frame_solve_changed_p90_ms": np.percentile(spent, 90)}
    figures |= {"gap_changed_mm": np.median(gap), "gap_changed_p95_mm": np.percentile(gap, 95)}
    open_options = AdaptOptions(collision=False)
    motion = adapt(binding, problem.after, open_options)
    adapter = FrameAdapter(binding, open_options, motion.moves)
    adapter.update(now)
    spent, _ = _solved(adapter, motion)
    figures |= {"frame_solve_open_ms": np.median(spent), "frame_solve_open_p90_ms": np.percentile(spent, 90)}
    return {key: float(f"{value:.3g}") for key, value in figures.items()}


def edit_gaps(options: AdaptOptions | None = None) -> dict[str, tuple[float, float, float]]:
    """Of every standard edit of the climb, from the unchanged track's moves: median, 95th percentile and largest
    distance of a joint from the track solved again, millimetres."""
    options = options or AdaptOptions()
    problem = _adapt_speed.standard()
    problem.keep(problem.bind())
    binding = problem.binding
    environment = {mesh.name: mesh for mesh in problem.before}
    adapter = FrameAdapter(binding, options, adapt(binding, problem.before, options).moves)
    out = {}
    for name, changed in edits.climb_edits(environment).items():
        motion = adapt(binding, list(changed.values()), options)
        adapter.update([mesh.state(0) for mesh in changed.values()])
        joints = np.stack([adapter.solve(row).positions for row in ROWS])
        gap = 1000 * np.linalg.norm(joints - motion.positions[ROWS], axis=-1)
        out[name] = (float(np.median(gap)), float(np.percentile(gap, 95)), float(gap.max()))
    return out


def _solved(adapter: FrameAdapter, motion: AdaptedMotion) -> tuple[np.ndarray, np.ndarray]:
    """Milliseconds a frame, the second time round, and millimetres from the track's, the farthest joint."""
    for row in ROWS:
        adapter.solve(row)
    spent, joints = [], []
    for row in ROWS:
        began = time.perf_counter()
        joints.append(adapter.solve(row).positions)
        spent.append(1000 * (time.perf_counter() - began))
    gap = np.linalg.norm(np.stack(joints) - motion.positions[ROWS], axis=-1).max(axis=1)
    return np.array(spent), 1000 * gap


def _updating(adapter: FrameAdapter, now: list[TriangleMesh], edit: Callable, ask: bool = False) -> float:
    """Median milliseconds of telling that the last object has changed; ask: with the first solve that follows."""
    spent = []
    for k in range(UPDATES):
        mesh = now[-1]
        meshes = [*now[:-1], TriangleMesh(mesh.name, edit(mesh, k), mesh.triangles)]
        began = time.perf_counter()
        adapter.update(meshes)
        if ask:
            adapter.solve(int(ROWS[len(ROWS) // 2]))
        spent.append(1000 * (time.perf_counter() - began))
    adapter.update(now)
    return float(np.median(spent[1:]))
