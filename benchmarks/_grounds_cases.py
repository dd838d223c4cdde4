"""Motions on a flat ground, and other grounds that take its place: stairs, ramps, a terrain, planks with gaps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from solvers.core.types import JointTrack, MeshTrack

from . import edits, walks
from .bvh import read_bvh_track
from .datasets import Scene, data_file
from .metrics import without_joints
from .props import height_field
from .scenes import CMU_FULL_DROPPED, EFFECTORS_BANDAI, EFFECTORS_CMU_FULL, quadruped
from .walks import Capture

LOOKED_AT, HELD_OUT = "looked at", "held out"
# Metres: rise and tread of stairs, the flat before them; of planks their length, the gaps and how deep these are.
RISE, TREAD, BEFORE = 0.17, 0.30, 1.0
PLANK, GAP, DEEP = 0.45, 0.15, 0.4
_MARGIN = 1.5
# Metres a cell of the height map, and metres of height a unit of it.
_CELL, _UNIT = 0.09, 0.0085

_CMU, _BANDAI = (EFFECTORS_CMU_FULL, CMU_FULL_DROPPED, 1.8), (EFFECTORS_BANDAI, ("joint_Root",), 1.7)
_RUNS = {
    "bandai_run": Capture("bandai/dataset-1_run_normal_001", 0.01, slice(0, None), (0, -1), *_BANDAI),
    "bandai_dash": Capture("bandai/dataset-1_dash_normal_001", 0.01, slice(0, None), (0, -1), *_BANDAI),
}


@dataclass(frozen=True)
class Case:
    """scene: of SOURCES.  ground: of GROUNDS."""

    scene: str
    ground: str

    @property
    def mark(self) -> str:
        return LOOKED_AT if self.scene in _LOOKED_AT else HELD_OUT

    @property
    def name(self) -> str:
        return f"{self.scene} {self.ground}"


def _run(name: str) -> Scene:
    capture = _RUNS[name]
    track = read_bvh_track(data_file(f"mocap_bvh/{capture.file}.bvh"), capture.metres)
    track = without_joints(track, capture.dropped)
    frames = capture.frames.indices(len(track.positions))
    track = edits.sub_clip(track, *frames[:2])
    return walks._on_ground(
        name, track, walks._floor(track, capture.effectors), capture.heading, capture.effectors, capture.height
    )


ANIMALS = ("horse", "fox")
_WALKS = ("walker", "cmu_02_01", "pfnn_flat09", "cmu_06_04", "giant_walk", "walk_left")
SOURCES: dict[str, Callable[[], Scene]] = {
    **{name: partial(walks.walk, name) for name in _WALKS},
    **{name: partial(_run, name) for name in _RUNS},
    **{name: partial(quadruped, name.capitalize()) for name in ANIMALS},
}
_LOOKED_AT = {"walker", "cmu_02_01", "giant_walk", "bandai_run", "fox"}


def source(name: str) -> Scene:
    """A scene with its ground alone."""
    scene = SOURCES[name]()
    return replace(scene, environment={"Ground": scene.environment["Ground"]}, edits={})


def grounds(scene: Scene) -> dict[str, MeshTrack]:
    """What takes the place of the ground of a scene, by name; small bodies get small steps."""
    way = Way.of(scene)
    return {
        "stairs_up": stepped(way, RISE, TREAD),
        "stairs_down": stepped(way, -RISE, TREAD),
        "ramp_up_15": inclined(way, 15.0),
        "ramp_down_15": inclined(way, -15.0),
        "terrain": terrain(way),
        "planks": planks(way),
    }


GROUNDS = ("stairs_up", "stairs_down", "ramp_up_15", "ramp_down_15", "terrain", "planks")


@dataclass(frozen=True)
class Way:
    """Where a motion goes. start (2,), ahead (2,): of its root, and which way.  low, high: metres along it and across.
    level: of the ground, metres.  size: body height / 1.8 m."""

    start: np.ndarray
    ahead: np.ndarray
    low: np.ndarray
    high: np.ndarray
    level: float
    size: float

    @classmethod
    def of(cls, scene: Scene) -> Way:
        track: JointTrack = scene.track
        root = int(np.flatnonzero(track.skeleton.parents < 0)[0])
        path = track.positions[:, root, :2]
        ahead = path[-1] - path[0]
        ahead = ahead / np.linalg.norm(ahead)
        flat = track.positions[..., :2].reshape(-1, 2) - path[0]
        places = np.column_stack((flat @ ahead, flat @ (-ahead[1], ahead[0])))
        level = float(scene.environment["Ground"].vertices[0, 0, 2])
        margin = _MARGIN * scene.height / 1.8
        return cls(path[0], ahead, places.min(0) - margin, places.max(0) + margin, level, scene.height / 1.8)

    def mesh(self, along: np.ndarray, heights: np.ndarray) -> MeshTrack:
        """A profile, points (N,) along the way with heights (N,), as broad as the motion."""
        across = np.array((-self.ahead[1], self.ahead[0]))
        sides = [self.start + along[:, None] * self.ahead + side * across for side in (self.low[1], self.high[1])]
        vertices = np.concatenate([np.column_stack((side, self.level + heights)) for side in sides])
        first, count = np.arange(len(along) - 1), len(along)
        near = np.stack((first, first + 1, first + count), axis=1)
        far = np.stack((first + 1, first + 1 + count, first + count), axis=1)
        return MeshTrack("Ground", vertices[None], np.concatenate((near, far)))


def stepped(way: Way, rise: float, tread: float) -> MeshTrack:
    """Stairs from a metre on, to the end; the size of the body goes into them."""
    rise, tread = rise * way.size, tread * way.size
    edges = np.arange(BEFORE * way.size, way.high[0], tread)
    along = np.concatenate(([way.low[0]], np.repeat(edges, 2), [way.high[0] + tread]))
    heights = rise * np.repeat(np.arange(len(edges) + 1), 2)
    return way.mesh(along, heights)


def inclined(way: Way, degrees: float) -> MeshTrack:
    """A slope about where the way begins."""
    along = np.array((way.low[0], way.high[0]))
    return way.mesh(along, along * np.tan(np.radians(degrees)))


def planks(way: Way) -> MeshTrack:
    """Planks across the way with gaps between them."""
    plank, gap = PLANK * way.size, GAP * way.size
    edges = np.arange(BEFORE * way.size, way.high[0], plank + gap)
    gaps = np.column_stack((edges, edges, edges + gap, edges + gap)).ravel()
    along = np.concatenate(([way.low[0]], gaps, [edges[-1] + 2.0]))
    heights = np.concatenate(([0.0], np.tile((0.0, -DEEP * way.size, -DEEP * way.size, 0.0), len(edges)), [0.0]))
    return way.mesh(along, heights)


def terrain(way: Way) -> MeshTrack:
    """A part of the height map, level where the way begins."""
    with np.load(data_file("terrain/pfnn_hmap_001_smooth.npz")) as found:
        heights = found["height"].astype(float) * _UNIT * way.size
    cell = _CELL * way.size
    size = ((way.high - way.low) / cell).astype(int) + 2
    part = heights[: size[0], : size[1]]
    if part.shape != tuple(size):
        raise ValueError("the height map is too small for this motion")
    along, side = way.low[0] + cell * np.arange(size[0]), way.low[1] + cell * np.arange(size[1])
    part = part - part[np.abs(along).argmin(), np.abs(side).argmin()]
    mesh = height_field("Ground", along, side, part)
    turn = np.column_stack((way.ahead, (-way.ahead[1], way.ahead[0])))
    vertices = mesh.vertices.copy()
    vertices[..., :2] = vertices[..., :2] @ turn.T + way.start
    vertices[..., 2] += way.level
    return MeshTrack("Ground", vertices, mesh.triangles)


def cases(mark: str = "all", scenes: tuple[str, ...] = (), of: tuple[str, ...] = ()) -> list[Case]:
    """Cases of a mark or "all", of some scenes and grounds or all."""
    found = [Case(scene, ground) for scene in SOURCES for ground in GROUNDS]
    return [
        case
        for case in found
        if mark in ("all", case.mark) and (not scenes or case.scene in scenes) and (not of or case.ground in of)
    ]
