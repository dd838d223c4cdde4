"""Animals that step on the spot, each driven by another one: how far do their own feet ask them to go?"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from solvers.core.steps import result_of
from solvers.mapping.global_motion import ALL, GlobalMotion
from solvers.mapping.source_motion import SourceModel, source_track
from solvers.mapping.steady_points import steady_weights
from solvers.mapping.track import MotionMap
from solvers.mapping.travel import STANCE, Travel, learn_travel
from solvers.mapping.travel_estimators import TravelEstimators
from solvers.shapes.feet_readout import FeetReadout
from solvers.shapes.mesh_feet import MeshFeet
from solvers.shapes.target_space import TargetSpace, learn_target_steps

from .camel_gallop import camel_gallop
from .datasets import data_file
from .glb_clip import GlbClip
from .mesh_sequences import mesh_sequence

LEARNT_FPS, PAIRS, CYCLES = 24.0, 6, 5
_FOLDERS = {
    "quadruped_rigs/quaternius": ("Horse", "Fox", "Husky", "Cow", "Alpaca"),
    "nonhumanoid_rigs/quaternius": ("Trex", "Velociraptor", "Apatosaurus"),
    "biped_rigs/kaykit": ("Barbarian",),
}
_SEQUENCES = ("horse_gallop", "camel", "walking_cat")
# A foot stands in the lowest share of its way up, while it moves back faster than this share of the RMS speed of feet.
RIGHT, _BACK = ("lift", 0.25), 0.1
TRUTH_FPS = 240.0
# Other ways to say which feet stand, see ``own_speed``.
RULES = {
    "a tenth of its way up": ("lift", 0.1),
    "two fifths": ("lift", 0.4),
    "sole within 1 %": ("sole", 0.01),
    "sole within 2 %": ("sole", 0.02),
    "the lowest alone": ("lowest", 0.4),
    "median while down": ("median", 0.015),
}
# Frames of a stride of the captured gallop: its 24 are two.
_STRIDE = 12
# Source, its action, target and its action; the first were looked at while the rule was tuned.
TUNED = (
    ("Cow", "Walk", "Horse", "Walk"),
    ("Cow", "Gallop", "Horse", "Gallop"),
    ("Husky", "Walk", "Fox", "Walk"),
    ("Husky", "Gallop", "Fox", "Gallop"),
    ("Horse", "Walk", "Fox", "Walk"),
    ("Fox", "Gallop", "Horse", "Gallop"),
    ("Horse", "Gallop", "Alpaca", "Gallop"),
    ("Velociraptor", "Run", "Trex", "Run"),
    ("Trex", "Run", "Velociraptor", "Run"),
    ("Alpaca", "Walk", "Cow", "Walk"),
    ("Alpaca", "Gallop", "Cow", "Gallop"),
    ("Horse", "Walk", "Husky", "Walk"),
    ("Horse", "Gallop", "Husky", "Gallop"),
    ("Fox", "Walk", "Alpaca", "Walk"),
    ("Cow", "Gallop", "Fox", "Gallop"),
    ("Trex", "Walk", "Apatosaurus", "Run"),
    ("Barbarian", "Walking_A", "Velociraptor", "Run"),
    ("Barbarian", "Walking_B", "Barbarian", "Walking_C"),
    ("Horse", "Gallop", "horse_gallop", ""),
    ("Fox", "Gallop", "camel", ""),
    ("Fox", "Walk", "walking_cat", ""),
)
HELD_OUT = (
    ("Alpaca", "Walk", "Horse", "Walk"),
    ("Fox", "Walk", "Cow", "Walk"),
    ("Husky", "Gallop", "Cow", "Gallop"),
    ("Alpaca", "Gallop", "Husky", "Gallop"),
    ("Trex", "Walk", "Velociraptor", "Run"),
    ("Barbarian", "Walking_C", "Trex", "Run"),
    ("Barbarian", "Running_B", "Barbarian", "Running_A"),
    ("Cow", "Gallop", "horse_gallop", ""),
    ("Horse", "Gallop", "camel", ""),
    ("Alpaca", "Walk", "walking_cat", ""),
)
# Of those, the one whose feet are planted.
PLANTED = ("Barbarian", "Running_B", "Barbarian", "Running_A")


@dataclass(frozen=True)
class Gait:
    """vertices: of times (F,), seconds, to (F, V, 3), round and round.  triangles (T, 3).  seconds: of a cycle."""

    vertices: Callable[[np.ndarray], np.ndarray]
    triangles: np.ndarray
    seconds: float


@dataclass(frozen=True)
class Learnt:
    """What Map learns of a cycle of a target at 24 frames a second; before: how it travelled before strokes.
    own: metres a second that its own standing feet ask for."""

    space: TargetSpace
    travel: TravelEstimators
    before: Travel
    readout: FeetReadout
    own: float


@functools.cache
def gait(name: str, action: str) -> Gait:
    """Of a rig's action, or one of the mesh sequences, taken at 24 frames a second."""
    if name in _SEQUENCES:
        return _of_frames(*_sequence(name))
    folder = next(folder for folder, names in _FOLDERS.items() if name in names)
    clip = GlbClip(data_file(f"{folder}/{name}.glb"), action)
    return Gait(clip.vertices, clip.triangles, clip.seconds)


@functools.cache
def clip(name: str, action: str) -> GlbClip:
    folder = next(folder for folder, names in _FOLDERS.items() if name in names)
    return GlbClip(data_file(f"{folder}/{name}.glb"), action)


def _sequence(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "camel":
        vertices, triangles = camel_gallop()
        return vertices[:_STRIDE], triangles
    vertices, triangles = mesh_sequence(name)
    vertices = vertices[..., [0, 2, 1]] * [1, -1, 1]
    if name == "horse_gallop":
        vertices = vertices[:_STRIDE]
    return vertices, triangles


def _of_frames(vertices: np.ndarray, triangles: np.ndarray) -> Gait:
    count = len(vertices)
    motion = GlobalMotion(vertices[0], ALL, steady_weights(vertices))
    places = motion.track(vertices).points + motion.pivot
    spline = CubicSpline(np.arange(count + 1), np.concatenate((places, places[:1])), bc_type="periodic")
    return Gait(lambda times: spline(np.mod(times * LEARNT_FPS, count)), triangles, count / LEARNT_FPS)


@functools.cache
def learnt(name: str, action: str) -> Learnt:
    body = gait(name, action)
    times = np.arange(round(body.seconds * LEARNT_FPS) + 1) / LEARNT_FPS
    seen = body.vertices(times)
    motion = GlobalMotion(seen[0], ALL, steady_weights(seen))
    found = motion.track(seen)
    vertices = found.points + motion.pivot
    space = result_of(learn_target_steps(vertices.astype(np.float32), body.triangles))
    told = space.coefficients, times, found.translation, found.yaw, vertices
    travel = TravelEstimators.learn(*told, body.triangles)
    before = learn_travel(*told, learn_from=STANCE)
    feet = travel.strokes.feet
    return Learnt(space, travel, before, FeetReadout.build(space, feet, np.eye(4)), own_speed(feet, travel, body))


def own_speed(feet: MeshFeet, travel: TravelEstimators, body: Gait, rule: tuple[str, float] = RIGHT) -> float:
    """Metres a second that its own standing feet ask for: minus their mean velocity, over two cycles at 240 a second.

    rule: see ``standing_speed``.
    """
    times = np.arange(0.0, 2.0 * body.seconds, 1.0 / TRUTH_FPS)
    vertices = body.vertices(times)
    return standing_speed(feet, travel.strokes.forward, feet.soles(vertices), feet.centroids(vertices), rule)


def standing_speed(
    feet: MeshFeet, forward: np.ndarray, soles: np.ndarray, centroids: np.ndarray, rule: tuple[str, float] = RIGHT
) -> float:
    """Metres a second, of soles and centroids (F, K, 3) at ``TRUTH_FPS``.  forward: (2,) unit vector.

    rule: a foot stands below so much of its way up ("lift"), its sole so near to where it is low, of the body's height
    ("sole"), or where it is the lowest of those below so much of their way up ("lowest"); while it moves back.  In
    flight it goes straight from the last one known to the next.  "median": of all speeds by "sole", flight or not.
    """
    velocity = np.diff(soles[..., :2], axis=0) * TRUTH_FPS
    low, high = np.array([(foot.low, foot.high) for foot in feet.feet]).T
    height = centroids[..., 2]
    lift = (0.5 * (height[1:] + height[:-1]) - low) / (high - low)
    back = -(velocity @ forward)
    kind, within = rule
    if kind in ("sole", "median"):
        above = soles[1:, :, 2] - np.quantile(soles[..., 2], 0.1, axis=0)
        low_enough = above < within * feet.height
    else:
        low_enough = (lift < within) & ((kind == "lift") | (lift == lift.min(axis=1, keepdims=True)))
    stands = low_enough & (back > _BACK * np.sqrt(np.mean(back**2)))
    if kind == "median":
        return float(np.median(back[stands]))
    some = stands.any(axis=1)
    asked = -(stands[some, :, None] * velocity[some]).sum(axis=1) / stands[some].sum(axis=1)[:, None]
    moments = np.arange(len(stands))
    return float(np.linalg.norm([np.interp(moments, moments[some], column).mean() for column in asked.T]))


def own_figures(name: str, action: str) -> tuple[float, list[float], float]:
    """Metres a second that a target's own standing feet ask for, percent off by ``RULES``, and by what strokes take."""
    known, body = learnt(name, action), gait(name, action)
    feet = known.travel.strokes.feet
    others = [100.0 * (own_speed(feet, known.travel, body, rule) / known.own - 1.0) for rule in RULES.values()]
    return known.own, others, 100.0 * (known.travel.strokes.asked / known.own - 1.0)


@dataclass(frozen=True)
class Mapped:
    """times: (F,) seconds and coefficients: (F, D) of the target; first: the frame where the second cycle begins."""

    times: np.ndarray
    coefficients: np.ndarray
    first: int


def mapped(source: tuple[str, str], target: tuple[str, str], fps: float, tempo: float) -> Mapped:
    """Joints of a source at a tempo drive a target, by six pairs in the second cycle, at the same phases."""
    of, body, space = clip(*source), gait(*target), learnt(*target).space
    times = np.arange(round(CYCLES * of.seconds * fps / tempo) + 1) / fps
    points = of.joints(times * tempo)
    model = SourceModel.fit(tuple(map(str, range(points.shape[1]))), points, times, ALL, True)
    features = source_track(model, points, times).features
    picks = np.round((1.0 + np.arange(PAIRS) / PAIRS) * of.seconds / tempo * fps).astype(int)
    phase = np.mod(times[picks] * tempo / of.seconds, 1.0)
    rows = phase * body.seconds * LEARNT_FPS
    poses = np.stack(
        [np.interp(rows, np.arange(len(space.coefficients)), column) for column in space.coefficients.T], 1
    )
    found = MotionMap.learn(features[picks], poses, space.box, "soft").coefficients(features)
    return Mapped(times, found, int(np.searchsorted(times, of.seconds / tempo)))
