"""Captured people whose way is known: how far their feet say that they go, without place and heading."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.ndimage import gaussian_filter1d
from scipy.spatial import ConvexHull

from solvers.core.lag import rates
from solvers.core.subsampling import evenly_spaced_indices
from solvers.mapping.global_motion import ALL, GlobalMotion
from solvers.mapping.stance import stance_velocity
from solvers.mapping.steady_points import steady_weights
from solvers.mapping.strokes import Strokes
from solvers.mapping.travel import LAG, TRANSLATION, learn_travel
from solvers.mapping.travel_estimators import TravelChoices, TravelEstimators
from solvers.rotations.rigid import turned
from solvers.shapes.mesh_feet import MeshFeet, find_feet, lowest_ground

from ._travel_cases import TRUTH_FPS, standing_speed
from .bvh import Z_UP, read_bvh
from .datasets import data_file
from .retarget import Clip
from .skinned_body import read_skinned_body
from .transfer_set import _GENO, _Actor

FPS = 30.0
# A skinned body that performs CMU clips; of a run with turns two stretches.
PERFORMED = {
    "walk": Clip("walk", "misc/02_01", 0.4, 66),
    "jog": Clip("jog", "cmu/02_03_run_jog_30fps", 0.3, 26),
    "basketball": Clip("basketball", "misc/06_04", 0.5, 72),
    "run": Clip("run", "pfnn/LocomotionFlat09_000", 4.8, 75),
    "turns": Clip("turns", "pfnn/LocomotionFlat09_000", 1.7, 180),
    "hops": Clip("hops", "cmu/01_01_playground_jump", 3.4, 66),
    "hops back": Clip("hops back", "cmu/01_01_playground_jump", 10.3, 160),
    "hops again": Clip("hops again", "cmu/01_01_playground_jump", 18.2, 130),
}
# Bodies of blocks on captured joints.
BLOCKS = ("walk_giant", "walk-left_normal", "walk-back_normal", "run_normal", "dash_normal")
# Captured dogs as cubes on their joints, 2 seconds from the one that is given on; none was looked at.
DOGS = {
    "dog walk": ("D1_008", 7.9),
    "dog walk, turning": ("D1_008", 9.8),
    "dog walk, at an end": ("D1_008", 13.8),
    "dog trot": ("D1_031", 7.9),
    "dog trot, stopping": ("D1_031", 9.8),
}
_DOG_SECONDS, _DOG_FPS, _CUBE = 2.0, 60, 0.02
LEARNT_OF, TOLD_OF = ("walk", "jog", "basketball"), ("walk", "jog", "basketball", "run")


@dataclass(frozen=True)
class Person:
    """times (F,) seconds.  vertices (F, V, 3) metres without place and heading, which are translation (F, 2) and yaw
    (F,).  triangles (T, 3)."""

    times: np.ndarray
    vertices: np.ndarray
    translation: np.ndarray
    yaw: np.ndarray
    triangles: np.ndarray

    @property
    def length(self) -> float:
        """Metres of its way, along where it goes over a tenth of a second."""
        return float((self._steps(self.translation) * self._ahead).sum())

    def off(self, velocity: np.ndarray) -> float:
        """Percent by which velocities (F - 1, 2), in its own heading, go farther along its way than it went."""
        gone = (velocity * np.diff(self.times)[:, None] * self._ahead).sum()
        return 100.0 * float(gone / self.length - 1.0)

    @property
    def _ahead(self) -> np.ndarray:
        """(F - 1, 2) unit vectors."""
        smooth = gaussian_filter1d(self.translation, 0.1 / np.diff(self.times).mean(), axis=0, mode="nearest")
        steps = self._steps(smooth)
        return steps / np.maximum(np.linalg.norm(steps, axis=1, keepdims=True), 1e-12)

    def _steps(self, places: np.ndarray) -> np.ndarray:
        return turned(np.diff(places, axis=0), -0.5 * (self.yaw[1:] + self.yaw[:-1]))


@functools.cache
def person(name: str) -> Person:
    if name in PERFORMED:
        body, clip = read_skinned_body("ai4animation/Geno/Model.glb"), PERFORMED[name]
        times = np.arange(clip.frames) / FPS
        return _grounded(times, _Actor(body, _GENO, styled=False).performed(clip, times).astype(float), body.triangles)
    return _grounded(*(_cubes(*DOGS[name]) if name in DOGS else _blocks(name)))


def _grounded(times: np.ndarray, vertices: np.ndarray, triangles: np.ndarray) -> Person:
    motion = GlobalMotion(vertices[0], ALL, steady_weights(vertices[evenly_spaced_indices(len(vertices), 50)]))
    found = motion.track(vertices)
    return Person(times, found.points + motion.pivot, found.translation, found.yaw, triangles)


def _cubes(name: str, start: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    with np.load(data_file(f"ai4animation/Quadruped/Motions/{name}_KAN01_001.npz"), allow_pickle=True) as file:
        joints = file["positions"].astype(float) @ Z_UP.T
    first = round(start * _DOG_FPS)
    joints = joints[first : first + round(_DOG_SECONDS * _DOG_FPS) : round(_DOG_FPS / FPS)]
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * _CUBE
    sides = ConvexHull(corners, qhull_options="QJ").simplices
    triangles = np.concatenate([sides + len(corners) * joint for joint in range(joints.shape[1])])
    vertices = (joints[:, :, None] + corners).reshape(len(joints), -1, 3)
    return np.arange(len(joints)) / FPS, vertices, triangles


def _blocks(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A block for each bone, and soles from heel to toe laid out where each foot is lowest."""
    motion = read_bvh(data_file(f"mocap_bvh/bandai/dataset-1_{name}_001.bvh"))
    places, turns = motion.world()
    places, turns = 0.01 * places @ Z_UP.T, Z_UP @ turns
    names, vertices, triangles = motion.skeleton.names, [], []

    def add(joint: int, frame: int, points: np.ndarray) -> None:
        own = (points - places[frame, joint]) @ turns[frame, joint]
        triangles.append(ConvexHull(points, qhull_options="QJ").simplices + sum(part.shape[1] for part in vertices))
        vertices.append(own @ np.swapaxes(turns[:, joint], 1, 2) + places[:, joint, None])

    for side in "LR":
        ankle, toes = names.index(f"Foot_{side}"), names.index(f"Toes_{side}")
        frame = int(np.argmin(places[:, ankle, 2] + places[:, toes, 2]))
        floor = min(places[frame, ankle, 2], places[frame, toes, 2]) - 0.03
        start, end = places[frame, ankle], places[frame, toes]
        ahead = (end - start) * [1.0, 1.0, 0.0] / np.linalg.norm((end - start)[:2])
        add(ankle, frame, _slab(start - 0.05 * ahead, end, floor, start[2]))
        add(toes, frame, _slab(end, end + 0.07 * ahead, floor, floor + 0.04))
    corners = np.array([[x, y, z] for x in (-0.04, 0.04) for y in (-0.04, 0.04) for z in (-0.04, 0.04)])
    for joint, parent in enumerate(motion.skeleton.parents):
        apart = np.linalg.norm(places[0, joint] - places[0, parent])
        if parent > 0 and apart > 1e-3 and not names[parent].startswith(("Foot", "Toes")):
            add(parent, 0, np.concatenate([places[0, end] + corners for end in (parent, joint)]))
    times = np.arange(len(places)) / motion.fps
    return times, np.concatenate(vertices, axis=1), np.concatenate(triangles)


def _slab(start: np.ndarray, end: np.ndarray, low: float, high: float) -> np.ndarray:
    side = np.array([start[1] - end[1], end[0] - start[0]]) / np.linalg.norm((end - start)[:2])
    along = (start + share * (end - start) for share in np.linspace(0.0, 1.0, 4))
    return np.array([[*(at[:2] + 0.045 * way * side), z] for at in along for way in (-1, 1) for z in (low, high)])


def own_figures(name: str) -> dict[str, float]:
    """Metres that a person went, and percent that strokes, strokes live, the lowest vertices and the rule for what is
    right of animals are off."""
    of = person(name)
    feet = find_feet(of.vertices, of.triangles, lowest_ground(of.vertices))
    strokes = Strokes.learn(feet, of.vertices, of.times)
    soles, whole = feet.soles(of.vertices), feet.centroids(of.vertices)
    stream = strokes.stream()
    live = np.array([stream.step(*moment) for moment in zip(soles, whole, of.times, strict=True)])[1:]
    lowest = stance_velocity(of.vertices, of.times)
    return {
        "way": of.length,
        "strokes": of.off(strokes.velocity(soles, whole, of.times)),
        "live": of.off(live),
        "lowest": of.off(0.5 * (lowest[1:] + lowest[:-1])),
        "right": _by_right(of, feet, strokes.forward),
        "gate": strokes.why_not or "passed",
    }


def _by_right(of: Person, feet: MeshFeet, forward: np.ndarray) -> float:
    fine = np.arange(of.times[0], of.times[-1], 1.0 / TRUTH_FPS)
    points = (CubicSpline(of.times, part(of.vertices))(fine) for part in (feet.soles, feet.centroids))
    speed = standing_speed(feet, forward, *points)
    return 100.0 * (speed * float(of.times[-1] - of.times[0]) / of.length - 1.0)


def learnt_figures(learnt: str, other: str, tempo: float = 1.0) -> tuple[float, float]:
    """Percent off where travel was learnt of one clip and told of another by the same body, at a tempo: by eq. 1, and
    by strokes made as long as the learnt clip went."""
    of, to = person(learnt), person(other)
    flat = of.vertices[:, ::3].reshape(len(of.times), -1)
    mean = flat.mean(axis=0)
    _, sizes, axes = np.linalg.svd(flat - mean, full_matrices=False)
    axes = axes[: int(np.searchsorted(np.cumsum(sizes**2) / np.sum(sizes**2), 0.999)) + 1]
    told = (flat - mean) @ axes.T, of.times, of.translation, of.yaw, of.vertices
    fitted = learn_travel(*told, learn_from=TRANSLATION)
    estimators, choices = TravelEstimators.learn(*told, of.triangles), TravelChoices(TRANSLATION)
    rows, times = (to.vertices[:, ::3].reshape(len(to.times), -1) - mean) @ axes.T, to.times / tempo
    fast = fitted.velocity(rates(rows, times, LAG)) / tempo
    strokes = estimators.strokes_of(choices)
    if strokes is None:
        return to.off(0.5 * (fast[1:] + fast[:-1])), float("nan")
    feet = strokes.feet
    steps = strokes.velocity(feet.soles(to.vertices), feet.centroids(to.vertices), times) / tempo
    return to.off(0.5 * (fast[1:] + fast[:-1])), to.off(estimators.stroke_scale(choices) * steps)
