"""What the source's side of Map costs and how well it does: features, learning, suggestion, smoothing, outliers."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks.baselines.variance_score import variance_scores
from solvers.mapping.global_motion import GlobalMotion
from solvers.mapping.pair_suggestion import RowSpace, scores, suggest
from solvers.mapping.pose_features import PoseFeatures
from solvers.regression.one_sided_gaussian import Smoother
from solvers.regression.outliers import find_outliers
from solvers.regression.ridge import PoseRidge

from .bvh import read_bvh_track
from .datasets import data_file

JOINTS, FRAMES, PAIRS, DIMENSIONS = 31, 10_000, 8, 50
ROUNDS = 15
clock = time.perf_counter
# Kind and name of clips for the comparison of picks; each is mapped onto its own places.
CLIPS = {
    "dog walk": ("dog", "walk00"),
    "dog turn": ("dog", "turn00"),
    "dog trot": ("dog", "trot"),
    "dog pace": ("dog", "pace"),
    "gallop": ("mesh", "horse_gallop"),
    "samba": ("mesh", "human_samba"),
    "crane": ("mesh", "human_crane"),
    "chicken": ("mesh", "chicken_crossing"),
    "kick": ("bvh", "bandai/dataset-1_kick_normal_001"),
    "slash": ("bvh", "bandai/dataset-1_slash_normal_001"),
    "giant walk": ("bvh", "bandai/dataset-1_walk_giant_001"),
    "dance": ("bvh", "misc/dance"),
    "terrain": ("bvh", "cmu/03_03_uneven_terrain_30fps"),
    "bend": ("bvh", "cmu/02_06_bend_scoop_up_30fps"),
}
PICKED = 6


def source_figures() -> dict[str, float]:
    """Times of one thread on a made source: ``_ms`` and ``_us`` are medians; no data is needed.

    learn_map_ms: 8 pairs to 50 coefficients.  learn_source_ms: features and row space of 10,000 frames, once a source.
    suggest_ms: scores and the five best of 10,000 frames.  features_us: global motion, smoothing and features of one
    live frame of 31 joints, and what of it is whose.  predict_us, variance_us: of one frame.
    """
    points, times = _made(FRAMES)
    motion = GlobalMotion(points[0])
    still = motion.track(points).points
    features = PoseFeatures.fit(still, times)
    rows = features.rows(still, times)
    picks = np.linspace(0, FRAMES - 1, PAIRS).astype(int)
    coefficients = np.random.default_rng(1).normal(size=(PAIRS, DIMENSIONS))
    ridge, space = PoseRidge.fit(rows[picks], coefficients), RowSpace.of(rows)
    ground, smoother, poses = motion.stream(), Smoother(0.1), features.stream()
    live = _Frames(points, times)
    figures = {
        "learn_map_ms": 1e3 * _median(lambda: PoseRidge.fit(rows[picks], coefficients)),
        "learn_source_ms": 1e3 * _median(lambda: RowSpace.of(PoseFeatures.fit(still, times).rows(still, times)), 3),
        "suggest_ms": 1e3 * _median(lambda: suggest(scores(space, rows[picks]), times)),
        "outliers_ms": 1e3 * _median(lambda: find_outliers(points, times), 3),
        "smooth_us": 1e6 * _median(lambda: smoother.step(*live.following()), 300),
        "global_us": 1e6 * _median(lambda: ground.step(live.following()[0]), 300),
        "pose_us": 1e6 * _median(lambda: poses.step(*live.following()), 300),
        "predict_us": 1e6 * _median(lambda: ridge.predict(rows[7]), 300),
        "variance_us": 1e6 * _median(lambda: ridge.variance(rows[7]), 300),
    }
    figures["feature_us"] = figures["global_us"] + figures["pose_us"]
    return figures


def picks_figures() -> dict[str, dict[str, float]]:
    """Mean error over a clip's frames when six of its poses are paired with themselves, over the mean pose's length.

    By clip: "integrated" and "paper" picks, each the best score at its turn, "uniform" ones in time, and "mean" over
    the clips. Needs the captures.
    """
    figures = {name: _picks(*clip(*what)) for name, what in CLIPS.items()}
    figures["mean"] = {how: float(np.mean([row[how] for row in figures.values()])) for how in figures["gallop"]}
    return figures


def rate_figures() -> dict[str, float]:
    """Change of the map's output, percent of its own motion (RMS), when a dog clip runs at a part of its 60 fps."""
    figures = {}
    for name in ("walk00", "turn00", "trot", "pace"):
        points, times = clip("dog", name)
        points = GlobalMotion(points[0]).track(points).points
        features = PoseFeatures.fit(points, times)
        rows = features.rows(points, times)
        picks = np.linspace(0, len(rows) - 1, PAIRS).astype(int)
        ridge = PoseRidge.fit(rows[picks], rows[picks, : rows.shape[1] // 2])
        full = ridge.predict(rows)
        for step in (2, 4):
            change = ridge.predict(features.rows(points[::step], times[::step])) - full[::step]
            share = np.linalg.norm(change) / np.linalg.norm(full[::step] - full.mean(axis=0))
            figures[f"{name}_at_{60 // step}_pct"] = 100.0 * float(share)
    return figures


def clip(kind: str, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Points (F, N, 3), Z up, and times (F,) seconds of a capture: "bvh", "dog" or "mesh" (every 20th vertex)."""
    if kind == "bvh":
        track = read_bvh_track(data_file(f"mocap_bvh/{name}.bvh"))
        # The first frame of some is a T-pose.
        return track.positions[1:], track.frames[1:] / track.fps
    if kind == "dog":
        raw = np.loadtxt(data_file(f"point_seq/dog/dog_{name}_joint_pos.txt"), delimiter=",")
        points, fps = raw.reshape(len(raw), -1, 3), 60
    else:
        points, fps = np.load(data_file(f"mesh_seq/{name}.npz"))["verts"][:, ::20].astype(float), 24
        # It repeats after 24 frames.
        points = points[:24] if name == "horse_gallop" else points
    return points[..., [0, 2, 1]] * [1, -1, 1], np.arange(len(points)) / fps


def _picks(points, times):
    points = GlobalMotion(points[0]).track(points).points
    rows = PoseFeatures.fit(points, times).rows(points, times)
    places, space = rows[:, : rows.shape[1] // 2], RowSpace.of(rows)
    picked = {"integrated": [], "paper": []}
    for picks, score in zip(picked.values(), (scores, variance_scores), strict=True):
        for _ in range(PICKED):
            picks.append(int(np.argmax(score(space, rows[picks]))))
    picked["uniform"] = np.linspace(0, len(rows) - 1, PICKED).astype(int)
    usual = np.linalg.norm(places, axis=1).mean()
    errors = {how: PoseRidge.fit(rows[at], places[at]).predict(rows) - places for how, at in picked.items()}
    return {how: float(np.linalg.norm(error, axis=1).mean() / usual) for how, error in errors.items()}


class _Frames:
    """Frames one after the other, from the start again at the end."""

    def __init__(self, points, times):
        self._points, self._times, self._at = points, times, 0

    def following(self):
        self._at += 1
        return self._points[self._at % len(self._points)], self._at * self._times[1]


def _made(frames):
    """A body of 31 joints that swings in a few ways at once, wanders and turns, 60 fps, with a tracker's noise."""
    rng = np.random.default_rng(0)
    times = np.arange(frames) / 60
    ways = np.sin(2 * np.pi * rng.uniform(0.2, 2.0, 12) * times[:, None] + rng.uniform(0, 6, 12))
    points = rng.normal(0, 0.4, (JOINTS, 3)) + (ways @ rng.normal(0, 0.05, (12, JOINTS * 3))).reshape(frames, JOINTS, 3)
    points[..., 0] += np.sin(0.1 * times)[:, None]
    return points + rng.normal(0, 0.002, points.shape), times


def _median(run: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Seconds."""
    spent = []
    for _ in range(rounds):
        start = clock()
        run()
        spent.append(clock() - start)
    return float(np.median(spent))
