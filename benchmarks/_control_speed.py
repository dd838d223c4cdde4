"""What the layer of controls costs: probing, fitting, and Blender's own evaluation beside it."""

from __future__ import annotations

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
    return out


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
