"""Real motions that drive real targets, for comparing ways to map: what moves, what it moves, and which poses pair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator

from solvers.mapping.global_motion import ALL, GlobalMotion

from ._map_source import clip as clip_points
from .mesh_sequences import mesh_sequence

FPS, PAIRS = 60.0, 6
_MESH_FPS = 24.0
# A vertex of so many is a point of the source.
_EVERY = 20
# Seconds of a long clip that are looked at, and where they begin.
_START, _LONGEST = 1.0, 3.0


Places = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Target:
    """vertices: (N, V, 3) Z up, ground motion taken off.  triangles: (T, 3).  times: (N,) seconds.  is_cycle: one cycle
    of a gait.  is_poses: in no order in time."""

    name: str
    vertices: np.ndarray
    triangles: np.ndarray
    times: np.ndarray
    is_cycle: bool = False
    is_poses: bool = False

    @property
    def diagonal(self) -> float:
        return float(np.linalg.norm(np.ptp(self.vertices[0], axis=0)))


@dataclass(frozen=True)
class Case:
    """Seconds to the source's points, ground motion taken off, (F,) to (F, J, 3): places, of the clip that pairs are
    made of, and mapped, of the one that is mapped.  learnt, times: seconds (F,) of either.  known, truth: seconds (N,)
    at which the right pose is a frame (N,) of the target; empty where nobody knows it."""

    name: str
    target: Target
    places: Places
    mapped: Places
    learnt: np.ndarray
    times: np.ndarray
    known: np.ndarray
    truth: np.ndarray

    @property
    def is_known(self) -> bool:
        """Whether the right pose of what is mapped is known."""
        return self.mapped is self.places and len(self.known) > 0

    def amplified(self, gain: float) -> Case:
        """The same, but the source that is mapped swings more about its mean pose than that of the pairs."""
        mean = self.places(self.learnt).mean(axis=0)
        return replace(
            self, name=f"{self.name}, x {gain:g}", mapped=lambda times: mean + gain * (self.places(times) - mean)
        )


def target(name: str) -> Target:
    """One of the mesh sequences: its gallop is one cycle, its poses are a second apart."""
    vertices, triangles = mesh_sequence(name)
    vertices = vertices[..., [0, 2, 1]] * [1, -1, 1]
    is_poses = name.endswith("poses")
    vertices = vertices[:24] if name == "horse_gallop" else vertices
    vertices = vertices if is_poses else GlobalMotion(vertices[0]).track(vertices).points
    times = np.arange(len(vertices)) / (1.0 if is_poses else _MESH_FPS)
    return Target(name, vertices, triangles, times, name in ("horse_gallop", "walking_cat"), is_poses)


def onto_itself(mesh: Target) -> Case:
    """Every 20th vertex drives the mesh, so that the right pose is known at its own frames."""
    points = mesh.vertices[:, :: _EVERY if mesh.vertices.shape[1] > 2000 else _EVERY // 4]
    count, times = len(points), mesh.times
    if mesh.name == "horse_gallop":
        # Two rounds, of which the second counts: how the first frame came about is then known.
        points, times = np.concatenate((points, points, points[:1])), np.arange(2 * count + 1) / _MESH_FPS
        places = CubicSpline(times, points, bc_type="periodic")
        known, truth = times[count:-1], np.arange(count)
    else:
        places = (PchipInterpolator if mesh.is_poses else CubicSpline)(times, points)
        known, truth = times, np.arange(count)
    clip = np.arange(0.0, times[-1] + 1e-9, 1.0 / FPS)
    shown = clip[clip >= known[0]][: 1 + int(FPS * (len(known) if mesh.is_poses else _LONGEST))]
    return Case(f"itself to {mesh.name}", mesh, places, places, clip, shown, known, truth)


def from_clip(kind: str, clip: str, mesh: Target) -> Case:
    """Captured joints drive the mesh; nobody knows the right pose."""
    points, times = clip_points(kind, clip)
    name = clip.rpartition("dataset-1_")[2] if kind == "bvh" else f"{kind} {clip}"
    return from_points(name, points, times, ALL, mesh)


def from_points(name: str, points: np.ndarray, times: np.ndarray, remove: str, mesh: Target) -> Case:
    """Points (F, J, 3), Z up, at times (F,) drive the mesh; remove: what of their motion is no pose."""
    points = GlobalMotion(points[0], remove).track(points).points
    flat = points.reshape(len(points), -1)

    def places(at: np.ndarray) -> np.ndarray:
        rows = np.interp(at, times - times[0], np.arange(len(times)))
        before = np.minimum(rows.astype(int), len(times) - 2)
        share = (rows - before)[:, None]
        return ((1.0 - share) * flat[before] + share * flat[before + 1]).reshape(len(at), *points.shape[1:])

    whole = np.arange(0.0, times[-1] - times[0] + 1e-9, 1.0 / FPS)
    start = _START if whole[-1] > _START + _LONGEST else 0.0
    shown = whole[(whole >= start - 1e-9) & (whole <= start + _LONGEST)]
    return Case(f"{name} to {mesh.name}", mesh, places, places, whole, shown, np.empty(0), np.empty(0, int))


def paired_poses(case: Case, rows: np.ndarray, picks: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Frames (n,) of the target for picks (n,) among the source's features (F, P), where nobody knows the right ones.

    Of a gait by the phase in its cycle: the angle in the first two principal components of either side. Of poses and
    other motion one after the other, evenly. coefficients: (N, D) of the target.
    """
    count = len(case.target.vertices)
    if not case.target.is_cycle:
        order = np.argsort(np.argsort(picks))
        return np.round(order * (count - 1) / (len(picks) - 1)).astype(int)
    theirs, ours = _phase(rows), _phase(coefficients)
    apart = np.angle(np.exp(1j * (theirs[picks][:, None] - ours[None])))
    return np.abs(apart).argmin(axis=1)


def _phase(values: np.ndarray) -> np.ndarray:
    """Angle (F,) of values (F, K) in their first two principal components, rising in time."""
    values = values - values.mean(axis=0)
    _, _, axes = np.linalg.svd(values, full_matrices=False)
    along = values @ axes[:2].T
    along = along / np.sqrt((along**2).mean(axis=0))
    angle = np.unwrap(np.arctan2(along[:, 1], along[:, 0]))
    return angle if angle[-1] >= angle[0] else -angle
