"""Bound motions, captured or made, for tests of Adapt without Blender: joints are asked for by what they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import datasets, edits
from benchmarks.metrics import measure
from benchmarks.props import box, flat_ground
from solvers.adapt.binding import fit
from solvers.core.types import MeshTrack
from tests.adapt_walk import STEP_HEIGHT, walk

MADE_FRAMES = 120
_JOINTS = {
    "head": ("Head",),
    "hand": ("RightHand",),
    "knees": ("LeftLeg", "RightLeg"),
    "toes": ("LeftToeBase", "RightToeBase"),
}
_MADE_JOINTS = {"head": ("head",), "hand": ("hand.R",), "knees": ("knee.L", "knee.R"), "toes": ("toe.L", "toe.R")}
_MADE_EFFECTORS = {"toe": ("toe.L", "toe.R"), "ankle": ("ankle.L", "ankle.R")}


class Bound:
    """Frames start to stop of a scene, bound, and its objects after one of its edits."""

    def __init__(self, scene: datasets.Scene, start: int, stop: int, edit: str | None = None):
        self.scene, self.span = scene, slice(start, stop)
        self.track = edits.sub_clip(scene.track, start, stop)
        self.meshes = self._during(scene.environment)
        self.after = self.changed(edit) if edit else None
        names = self.track.skeleton.names
        self.effectors = np.isin(names, [n for group in scene.effectors.values() for n in group])
        self.binding = fit(self.track, self.meshes, self.effectors, scene.height)

    @property
    def frames(self) -> int:
        return len(self.track.positions)

    def joints(self, what: str) -> np.ndarray:
        """Indices of "head", "hand", "knees" or "toes"."""
        names = self.track.skeleton.names
        kinds = _MADE_JOINTS if self.scene.name == "made" else _JOINTS
        return np.array([names.index(name) for name in kinds[what]])

    def changed(self, edit: str) -> list[MeshTrack]:
        return self._during(self.scene.changed(edit))

    def figures(self, motion, meshes, scale=1.0) -> dict[str, float]:
        after = replace(self.track, positions=motion.positions)
        return measure(self.track, after, self.meshes, meshes, self.scene.effectors, self.scene.height, scale=scale)

    def _during(self, environment: edits.Environment) -> list[MeshTrack]:
        return [m if m.is_static else replace(m, vertices=m.vertices[self.span]) for m in environment.values()]


def made() -> Bound:
    """The walk onto a step, "Box1", with a higher box on either side of it."""
    track = walk(np.arange(MADE_FRAMES), 60.0)
    boxes = {
        "Box1": box("Box1", [-0.6, 0.3, -0.5], [0.6, 1.6, STEP_HEIGHT]),
        "Box2": box("Box2", [1.0, -0.5, -0.5], [1.2, 1.6, 0.9]),
        "Box3": box("Box3", [-1.2, -0.5, -0.5], [-1.0, 1.6, 0.9]),
    }
    environment = {"Ground": flat_ground(track.positions)} | boxes
    scene = datasets.Scene("made", track, environment, _MADE_EFFECTORS, 1.7, edits.climb_changes(list(boxes)))
    return Bound(scene, 0, MADE_FRAMES, "lifted_and_tilted")


def made_and(*captured: str, marks=pytest.mark.captures) -> list:
    """Names of fixtures, for another's parameters: the made walk, and captures where they are."""
    return ["made_walk", *(pytest.param(name, marks=marks) for name in captured)]


def moved(meshes: list[MeshTrack], turn, shift, scale: float = 1.0) -> list[MeshTrack]:
    """Meshes after a rotation matrix (3, 3), a shift (3,) and a scale, of all as one."""
    return [MeshTrack(m.name, scale * m.vertices @ turn.T + shift, m.triangles) for m in meshes]


def gap(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference."""
    return float(np.abs(a - b).max())
