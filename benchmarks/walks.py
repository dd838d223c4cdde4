"""Walks over flat ground, made and captured, whose ground an edit makes a slope, hills, stairs or a stage."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from solvers.core.types import JointTrack, MeshTrack, Skeleton

from . import edits
from .bvh import read_bvh_track
from .datasets import Scene, data_file
from .metrics import without_joints
from .props import height_field, stage_under
from .scenes import CMU_FULL_DROPPED, EFFECTORS_BANDAI, EFFECTORS_CMU_FULL

SLOPES = (5, 10, 15, 20, 30)
RISE, TREAD = 0.15, 0.5
# The walk goes down at -x of the data's axes, or wherever it goes: a horizontal unit vector.
Heading = tuple[float, float]
EFFECTORS_WALKER = {"toe": ("toe.L", "toe.R"), "ankle": ("foot.L", "foot.R"), "wrist": ("hand.L", "hand.R")}
_EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@dataclass(frozen=True)
class Capture:
    """A captured walk on a floor: its file, metres a unit, frames that are used, where it goes, height of the body."""

    file: str
    metres: float
    frames: slice
    heading: Heading
    effectors: dict[str, tuple[str, ...]]
    dropped: tuple[str, ...]
    height: float


_CMU = (EFFECTORS_CMU_FULL, CMU_FULL_DROPPED, 1.8)
_BANDAI = (EFFECTORS_BANDAI, ("joint_Root",), 1.7)
CAPTURES = {
    "cmu_02_01": Capture("misc/02_01", 0.056444, slice(0, None), (0, -1), *_CMU),
    # Of a run and a walk with turns: what comes before is standing, and at frame 1503 the capture jumps.
    "pfnn_flat09": Capture("pfnn/LocomotionFlat09_000", 0.056444, slice(200, 800), (0, -1), *_CMU),
    "cmu_06_04": Capture("misc/06_04", 0.056444, slice(1, None), (0, -1), *_CMU),
    "giant_walk": Capture("bandai/dataset-1_walk_giant_001", 0.01, slice(0, None), (0, -1), *_BANDAI),
    "walk_left": Capture("bandai/dataset-1_walk-left_normal_001", 0.01, slice(0, None), (1, 0), *_BANDAI),
}


def walk(name: str) -> Scene:
    """The made walker or one of the captures on a flat ground, with all edits of the ground."""
    if name == "walker":
        return _on_ground(name, made_walk(), 0.0, (1, 0), EFFECTORS_WALKER, 1.8)
    return captured(name, CAPTURES[name])


def captured(name: str, capture: Capture) -> Scene:
    """A capture on a flat ground, with all edits of the ground."""
    track = read_bvh_track(data_file(f"mocap_bvh/{capture.file}.bvh"), capture.metres)
    track = without_joints(track, capture.dropped)
    frames = capture.frames.indices(len(track.positions))
    track = edits.sub_clip(track, *frames[:2])
    return _on_ground(name, track, _floor(track, capture.effectors), capture.heading, capture.effectors, capture.height)


def staged_walk(name: str, half: bool) -> Scene:
    """A walk on a stage flush with the ground, under all of it or its second half, that rises by 15 cm."""
    scene = walk(name)
    top = scene.environment["Ground"].vertices[0, 0, 2]
    positions = scene.track.positions
    if half:
        positions = positions[len(positions) // 2 :, :1]
    environment = scene.environment | {"Stage": stage_under(positions, top)}
    label = f"{name}_{'half_' if half else ''}staged"
    changes = {"stage_raised": {"Stage": edits.lifted(0.15)}}
    return replace(scene, name=label, environment=environment, edits=changes)


def made_walk(seconds: float = 6.0, fps: float = 30.0) -> JointTrack:
    """The walk of the demo's own figure straight along x, on a ground at height 0: heads of bones, tails of leaves."""
    # The examples import each other by their bare names, and Blender.
    if str(_EXAMPLES) not in sys.path:
        sys.path.append(str(_EXAMPLES))
    gait, figure = (importlib.import_module(name) for name in ("gait", "figure"))
    last = int(seconds / gait.PERIOD) + 3
    times = np.arange(-gait.PERIOD + 0.3, last * gait.PERIOD, 1.0 / fps)
    motion = gait.walk(gait.footsteps(_level, -2, last + 1), _level, times)
    chosen = np.flatnonzero(times >= 0.35)[: round(seconds * fps)]
    bones = figure.skeleton()
    names, parents, places = [], [], []
    for bone, (parent, head, _) in bones.items():
        above = names.index(parent) if parent else -1
        names.append(bone)
        parents.append(above)
        places.append(motion.hips if above < 0 else _carried(motion, places[above], parent, head - bones[parent][1]))
    for bone in [bone for bone in bones if bone not in {parent for parent, *_ in bones.values()}]:
        names.append(f"{bone}/tail")
        parents.append(names.index(bone))
        places.append(_carried(motion, places[names.index(bone)], bone, bones[bone][2] - bones[bone][1]))
    positions = np.stack(places, axis=1)[chosen]
    return JointTrack(Skeleton(tuple(names), np.array(parents)), positions, fps, np.arange(len(positions)))


def _level(_x):
    return 0.0


def _carried(motion, head, bone, offset):
    return head + np.einsum("fij,j->fi", motion.turns[bone], offset)


def _floor(track, effectors):
    """Height on which the toes stand: 3 cm below where they are low."""
    toes = [track.skeleton.names.index(name) for name in effectors["toe"]]
    return float(np.percentile(track.positions[:, toes, 2].min(axis=1), 10)) - 0.03


def _on_ground(name, track, floor, heading, effectors, height):
    ground = _ground(track.positions, floor, heading)
    changes = {
        f"{way}_{degrees}": {"Ground": edits.inclined(degrees, towards)}
        for way, towards in _directions(heading).items()
        for degrees in SLOPES
    }
    changes["hills"] = {"Ground": edits.bent(0.125, 3.0)}
    changes["stairs_up"] = {"Ground": edits.stepped(RISE, TREAD, heading)}
    changes["stairs_down"] = {"Ground": edits.stepped(-RISE, TREAD, heading)}
    return Scene(name, track, {"Ground": ground}, effectors, height, changes)


def _directions(heading):
    x, y = heading
    return {"up": heading, "down": (-x, -y), "across": (-y, x)}


def _ground(positions, floor, heading, margin=1.0, cell=0.1) -> MeshTrack:
    """A fine grid that has two rows of vertices where a riser of stairs may come."""
    flat = positions.reshape(-1, 3)[:, :2]
    lo, hi = flat.min(axis=0) - margin, flat.max(axis=0) + margin
    lines = [np.arange(np.floor(a / cell), np.ceil(b / cell) + 1) * cell for a, b in zip(lo, hi, strict=True)]
    along = 0 if heading[0] else 1
    risers = np.arange(np.ceil(lo[along] / TREAD), np.floor(hi[along] / TREAD) + 1) * TREAD
    near = np.abs(lines[along][:, None] - risers).min(axis=1) < 0.5 * cell
    pairs = (risers[:, None] + [-0.005, 0.005]).ravel()
    lines[along] = np.sort(np.concatenate([lines[along][~near], pairs]))
    return height_field("Ground", *lines, np.full((len(lines[0]), len(lines[1])), floor))
