"""Clips in which hands and feet rest on their own body, and what is changed around them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from solvers.core.types import JointTrack, Skeleton

from . import edits
from .datasets import Scene
from .props import box, flat_ground
from .scenes import CMU_FULL_DROPPED, EFFECTORS_BANDAI, EFFECTORS_CMU_FULL
from .walks import Capture, captured

LOOKED_AT, HELD_OUT = "looked at", "held out"
HANDS = "hand"
GROUNDS = ("hills", "up_20", "across_20", "stairs_up")
SEATS = ("raised_5", "raised_10", "lowered_10", "lowered_20")
_PUSHED, _BESIDE = 0.15, 0.06


@dataclass(frozen=True)
class Case:
    """build: the scene.  mark: LOOKED_AT or HELD_OUT.  edits: names of its changes."""

    build: Callable[[], Scene]
    mark: str
    edits: tuple[str, ...]


def _walled(scene: Scene) -> Scene:
    """With a wall beside the body that is pushed in."""
    positions = scene.track.positions
    lo, hi = positions.min(axis=(0, 1)), positions.max(axis=(0, 1))
    near = hi[0] + _BESIDE
    wall = box("Wall", [near, lo[1] - 1.0, lo[2]], [near + 0.2, hi[1] + 1.0, hi[2] + 0.5])
    changes = scene.edits | {"wall_pushed_in": {"Wall": edits.moved((-_PUSHED, 0.0, 0.0))}}
    return replace(scene, environment=scene.environment | {"Wall": wall}, edits=changes)


def _bandai(name: str) -> Callable[[], Scene]:
    file = f"bandai/dataset-1_{name}_normal_001"
    capture = Capture(file, 0.01, slice(0, None), (0, -1), EFFECTORS_BANDAI, ("joint_Root",), 1.7)
    return lambda: _walled(captured(name, capture))


def _cmu(name: str, file: str, frames: slice) -> Callable[[], Scene]:
    capture = Capture(file, 0.056444, frames, (0, -1), EFFECTORS_CMU_FULL, CMU_FULL_DROPPED, 1.8)
    return lambda: _walled(captured(name, capture))


def sitter() -> Scene:
    """A made body, 30 fps, that sits with its hands on its knees and rocks a little."""
    names, parents, rest = ["pelvis"], [-1], [(0.0, 0.0, 0.62)]
    for name, above, place in (("chest", 0, (0, 0, 0.9)), ("neck", 1, (0, 0.02, 1.15)), ("head", 2, (0, 0.0, 1.4))):
        names.append(name), parents.append(above), rest.append(place)
    leg = ("thigh", 0, (0.1, 0, 0.6)), ("shin", None, (0.13, -0.43, 0.58)), ("foot", None, (0.13, -0.43, 0.12))
    arm = ("shoulder", 2, (0.19, 0, 1.1)), ("elbow", None, (0.26, -0.08, 0.83)), ("hand", None, (0.15, -0.3, 0.67))
    for side, sign in (("L", 1), ("R", -1)):
        for name, above, place in (*leg, ("toe", None, (0.13, -0.58, 0.04)), *arm, ("palm", None, (0.14, -0.38, 0.66))):
            parents.append(len(names) - 1 if above is None else above)
            names.append(f"{name}.{side}"), rest.append((sign * place[0], *place[1:]))
    time = np.arange(150) / 30.0
    upper = np.isin(names, ["chest", "neck", "head", "shoulder.L", "shoulder.R"])
    sway = np.stack((0.02 * np.sin(2.0 * time), 0.03 * np.sin(1.3 * time), 0.0 * time), axis=-1)
    positions = np.array(rest) + sway[:, None] * upper[:, None]
    track = JointTrack(Skeleton(tuple(names), np.array(parents)), positions, 30.0, np.arange(150))
    environment = {"Ground": flat_ground(positions, 0.0), "Seat": box("Seat", [-0.3, -0.3, 0.35], [0.3, 0.2, 0.55])}
    changes = {f"raised_{cm}": {"Seat": edits.lifted(cm / 100)} for cm in (5, 10)}
    changes |= {f"lowered_{cm}": {"Seat": edits.lifted(-cm / 100)} for cm in (10, 20)}
    effectors = {"toe": ("toe.L", "toe.R"), HANDS: ("palm.L", "palm.R"), "seat": ("pelvis",)}
    return Scene("sitter", track, environment, effectors, 1.8, changes)


CASES: dict[str, Case] = {
    "bow": Case(_bandai("bow"), LOOKED_AT, (*GROUNDS, "wall_pushed_in")),
    "contorsion": Case(_cmu("contorsion", "misc/contorsion", slice(1, None)), LOOKED_AT, GROUNDS),
    "slash": Case(_bandai("slash"), HELD_OUT, (*GROUNDS, "wall_pushed_in")),
    "walk-back": Case(_bandai("walk-back"), HELD_OUT, (*GROUNDS, "wall_pushed_in")),
    "pfnn": Case(_cmu("pfnn", "pfnn/LocomotionFlat09_000", slice(1400, 1900)), HELD_OUT, (*GROUNDS, "wall_pushed_in")),
    "sitter": Case(sitter, HELD_OUT, SEATS),
}
