"""What the layer of controls costs: probing, fitting, and Blender's own evaluation beside it."""

from __future__ import annotations

import importlib
import statistics
from pathlib import Path

import bpy
import numpy as np

from . import _control_recovery as recovery
from ._control_clips import key_clip
from .control_rigs import CASES, build

_ROUNDS, _FRAMES = 3, 60


def figures(package: str, folder: Path) -> dict[str, float]:
    """bind_probe_s of the full human; fit_fps of both in FK and IK; frame_ms, stepping through keys alone."""
    parts, out = recovery.Parts(package), {}
    for name, label in (("basic", "basic"), ("human", "full")):
        rates = {}
        for mode in CASES[name].modes:
            found = recovery.recover(package, name, mode, folder, np.arange(1.0, _FRAMES + 1.0))
            rates[mode] = _FRAMES / found.figures["fit_s"]
        out |= {f"fit_fps_{label}_{mode.lower()}": rate for mode, rate in rates.items()}
        out[f"fit_fps_{label}"] = min(rates.values())
        ob = build(name, folder)
        key_clip(ob, CASES[name].clip(ob, "IK", 1), "Clip")
        out[f"bind_probe_{label}_s"] = statistics.median(_probed(parts, ob) for _ in range(_ROUNDS))
        out[f"frame_{label}_ms"] = _stepped()
    out["bind_probe_s"] = out.pop("bind_probe_full_s")
    return out | _live(package, folder)


def _live(package: str, folder: Path) -> dict[str, float]:
    """live_frame_background_ms, what a frame costs more while the basic human is live; drag_ms, a step of a drag."""
    binding, live, runs = (
        importlib.import_module(f"{package}.{name}")
        for name in ("workflows.environment.bind", "workflows.core.live", "state.live_runs")
    )
    workflow = importlib.import_module(f"{package}.workflows.core.registry").by_id("adapt")
    ob = build("basic", folder)
    key_clip(ob, CASES["basic"].clip(ob, "FK", 1), "Clip")
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=30, y_subdivisions=30, size=3.0)
    floor, layer = bpy.context.object, bpy.context.view_layer
    binding.bind_rig(bpy.context, ob, workflow, [floor], 1, 24)
    layer.objects.active = ob
    plain = statistics.median(_stepped() for _ in range(_ROUNDS))
    bpy.ops.motion_loom.live(workflow="adapt")
    # As in a window: single frames in handlers, whole tracks later.
    kept, runs.live_runs.at_once = runs.live_runs.at_once, False
    playing = statistics.median(_stepped() for _ in range(_ROUNDS))
    steps = []
    for step in range(12):
        floor.location.z = 0.01 * (step + 1)
        start = recovery.clock()
        layer.update()
        steps.append(1e3 * (recovery.clock() - start))
    runs.live_runs.at_once = kept
    live.stop_all()
    return {"live_frame_background_ms": playing - plain, "drag_ms": statistics.median(steps)}


def _probed(parts, ob) -> float:
    start = recovery.clock()
    parts.measured_rig(parts.probe_rig(bpy.context, ob, np.arange(1.0, 25.0)))
    return recovery.clock() - start


def _stepped() -> float:
    scene = bpy.context.scene
    start = recovery.clock()
    for frame in range(1, 25):
        scene.frame_set(frame)
    return 1e3 * (recovery.clock() - start) / 24
