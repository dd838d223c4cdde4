"""Recovery of posed controls: from one clip on a rig's controls, asked for the carriers of another, to its channels."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np

from ._control_clips import PosedClip, key_clip, rig_height
from .control_rigs import CASES, build

SOURCE_SEED, GOAL_SEED = 1, 2
clock: Callable[[], float] = time.process_time


@dataclass(frozen=True)
class Parts:
    """What the extension's modules give, by the name of its package."""

    package: str

    def __getattr__(self, name: str):
        module, _, attribute = _WHERE[name].rpartition(".")
        return getattr(importlib.import_module(f"{self.package}.{module}"), attribute)


_WHERE = {
    "control_copy": "scene.control_copy.control_copy",
    "probe_rig": "scene.control_probe.probe_rig",
    "measured_rig": "solvers.controls.measured_rig.measured_rig",
    "fit_steps": "solvers.controls.fit.fit_steps",
    "Stepper": "solvers.controls.channels.Stepper",
    "ControlChannels": "solvers.controls.trial.ControlChannels",
    "FitProblem": "solvers.controls.trial.FitProblem",
    "rotations": "solvers.rotations.rotation_vectors.log",
}


@dataclass(frozen=True)
class Recovery:
    """figures: what is printed.  worst: where the deform bones miss most, in words.  fit, controls: what was found."""

    figures: dict[str, float]
    worst: str
    fit: object
    controls: object


def recover(package: str, name: str, mode: str, folder: Path, frames: np.ndarray) -> Recovery:
    """One case in one mode; distances in the world, those of the bones that deform.

    figures: bones_mm, bones_deg at most over all bones and frames; channels_deg, channels_mm of the keyed controls;
    apart_mm, how far the clips are from each other; unsettled, frames; evaluations a frame; probe_s and fit_s.
    """
    parts = Parts(package)
    ob, case = build(name, folder), CASES[name]
    goal_clip = case.clip(ob, mode, GOAL_SEED, frames)
    source_clip = case.clip(ob, mode, SOURCE_SEED, frames)
    key_clip(ob, goal_clip, "Goal")
    names = [bone.name for bone in ob.data.bones]
    with parts.control_copy(bpy.context, ob, [bone for bone, _ in goal_clip.channels], frames) as copy:
        goal = copy.source()
    key_clip(ob, source_clip, "Source")
    start = clock()
    controls = parts.measured_rig(parts.probe_rig(bpy.context, ob, frames))
    probed = clock()
    fit, source = fitted(parts, ob, controls, source_clip, goal.pose[:, controls.carriers])
    done = clock()
    world = np.linalg.norm(goal.object_world[0, :3, 0])
    where = fit_errors(parts, fit.pose[:, controls.verified], goal.pose[:, controls.verified], 1e3 * world)
    apart, _ = fit_errors(parts, source.pose[:, controls.verified], goal.pose[:, controls.verified], 1e3 * world)
    figures = {"bones_mm": where[0].max(), "bones_deg": where[1].max()}
    figures |= channel_errors(controls, controls.state_of(source.values), fit, goal_clip, 1e3 * world)
    figures |= {
        "apart_mm": apart.max(), "unsettled": float((~fit.converged).sum()),
        "evaluations": fit.evaluations.mean(), "probe_s": probed - start, "fit_s": done - probed,
    }  # fmt: skip
    frame, bone = np.unravel_index(where[0].argmax(), where[0].shape)
    worst = f"'{names[controls.verified[bone]]}' in frame {frames[frame]:g}"
    return Recovery({key: float(value) for key, value in figures.items()}, worst, fit, controls)


def fitted(parts: Parts, ob, controls, clip: PosedClip, targets: np.ndarray):
    """The fit of a rig's keyed controls to targets (F, K, 4, 4) of its carriers, and the source as evaluated."""
    bones = [ob.data.bones[bone].name for bone in controls.controls]
    variables = np.zeros((len(bones), 6), bool)
    for bone, channel in clip.channels:
        if bone in bones and bone not in clip.held:
            variables[bones.index(bone), slice(0, 3) if channel == "location" else slice(3, 6)] = True
    with parts.control_copy(bpy.context, ob, bones, clip.frames, controls.switches) as copy:
        source = copy.source()
        channels = parts.ControlChannels(source.location, source.rotation, source.scale)
        state = controls.state_of(source.values)
        problem = parts.FitProblem(channels, source.pose, targets, variables, state, rig_height(ob))
        steps, sent = parts.fit_steps(controls, problem), None
        while True:
            try:
                sent = copy.evaluate(steps.send(sent))
            except StopIteration as end:
                return end.value, source


def fit_errors(parts: Parts, pose: np.ndarray, goal: np.ndarray, unit: float) -> tuple[np.ndarray, np.ndarray]:
    """(F, D) distances of heads, in units, and angles in degrees, of poses (F, D, 4, 4)."""
    away = unit * np.linalg.norm(pose[..., :3, 3] - goal[..., :3, 3], axis=-1)
    there, wanted = (_unit_axes(each[..., :3, :3]) for each in (pose, goal))
    return away, np.degrees(np.linalg.norm(parts.rotations(np.swapaxes(wanted, -1, -2) @ there), axis=-1))


def channel_errors(controls, state: np.ndarray, fit, goal: PosedClip, unit: float) -> dict[str, float]:
    """How far the channels that the clip keys are from it: rotations as angles, Euler angles the greatest of three.

    state: (F,) of the switches; a control counts where it moves anything.
    """
    names = [controls.rig.names[bone] for bone in controls.controls]
    turned, moved = [0.0], [0.0]
    for (bone, channel), values in goal.channels.items():
        if bone not in names or bone in goal.loose | goal.held:
            continue
        row = names.index(bone)
        counts = controls.moves[state, row].any(axis=-1)
        if channel == "location":
            away = unit * np.linalg.norm(fit.channels.location[:, row] - values, axis=-1)
            moved.append((away * counts).max())
        elif channel == "rotation_euler":
            turned.append((np.degrees(np.abs(fit.channels.rotation[:, row, :3] - values)).max(axis=-1) * counts).max())
        else:
            found = fit.channels.rotation[:, row]
            found = found / np.linalg.norm(found, axis=-1, keepdims=True)
            same = np.minimum(np.linalg.norm(found - values, axis=-1), np.linalg.norm(found + values, axis=-1))
            turned.append((np.degrees(4.0 * np.arcsin(0.5 * same)) * counts).max())
    return {"channels_deg": max(turned), "channels_mm": max(moved)}


def _unit_axes(axes: np.ndarray) -> np.ndarray:
    """The nearest rotations (..., 3, 3)."""
    u, _, v = np.linalg.svd(axes)
    return u @ v
