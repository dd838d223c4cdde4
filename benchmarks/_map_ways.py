"""Ways to map poses to poses: Map's own, its parts taken away, what others did, and the paper's own choices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.baselines.target_representations import COMBINED, GRADIENTS, POINTS, learn
from benchmarks.baselines.variance_score import variance_scores
from solvers.mapping.pair_suggestion import RowSpace, scores
from solvers.mapping.pose_features import PoseFeatures
from solvers.mapping.track import MotionMap
from solvers.regression.latent_box import LatentBox
from solvers.regression.ridge import NOISE, PoseRidge
from solvers.shapes.target_space import VARIANCE

from ._map_cases import FPS, PAIRS, Case, Places, Target, paired_poses

# Places of a source over time, seconds (F,) and frames a second to features (F, P).
Features = Callable[[Places, np.ndarray, float], np.ndarray]
# A source and features (n, P) of the paired poses to what a pair at each frame would help (F,).
Score = Callable[[RowSpace, np.ndarray], np.ndarray]
_ALL = 10_000
# The paper's weight of velocities, and its sigma^2 as the text has it and as "sigma = 0.05" would have it.
_PAPER_WEIGHT, _PAPER_NOISE, _PRINTED_NOISE = 0.1, 0.05, 0.05**2


@dataclass(frozen=True)
class Mapped:
    """output: times (F,) at so many frames a second to numbers (F, K).  shape: of one such row, vertices (V, 3).
    paired: frames of the target that pairs were made of."""

    output: Callable[[np.ndarray, float], np.ndarray]
    shape: Callable[[np.ndarray], np.ndarray]
    paired: np.ndarray

    def vertices(self, times: np.ndarray) -> np.ndarray:
        """(F, V, 3)."""
        return np.array([self.shape(row) for row in self.output(times, FPS)])


@dataclass(frozen=True)
class Way:
    """representation, components: of the target.  edge: of its latent box.
    noise: sigma^2.  met: how much of what it leaves out of the pairs is given back.  is_paper: features, and the score
    that picks the pairs, as the paper has them."""

    representation: str = COMBINED
    components: int = 50
    edge: str = "soft"
    noise: float = NOISE
    met: float = 1.0
    is_paper: bool = False

    def learn(self, case: Case) -> Mapped:
        space = target_space(case.target.name, self.representation, self.components, case.target)
        features = features_of(case, self.is_paper)
        score = partial(variance_scores, noise=self.noise) if self.is_paper else scores
        known, picks, frames = pairs_of(case, features, score, space)
        box = LatentBox.around(space.coefficients)
        if self.noise == NOISE:
            mapping = MotionMap.learn(known[picks], space.coefficients[frames], box, self.edge, self.met)
        else:
            ridge = PoseRidge.fit(known[picks], space.coefficients[frames], self.noise)
            mapping = MotionMap(ridge, LatentBox(box.low, box.high, self.edge), np.zeros(len(picks)))

        def output(times: np.ndarray, fps: float) -> np.ndarray:
            return mapping.coefficients(features(case.mapped, times, fps))

        return Mapped(output, space.vertices_of, frames)


@dataclass(frozen=True)
class Nearest:
    """The paired pose whose source is nearest, or all of them weighted by the inverse square of the distance."""

    is_weighted: bool = False

    def learn(self, case: Case) -> Mapped:
        space = target_space(case.target.name, COMBINED, 50, case.target)
        features = features_of(case, False)
        known, picks, frames = pairs_of(case, features, scores, space)
        poses = case.target.vertices[frames]

        def output(times: np.ndarray, fps: float) -> np.ndarray:
            apart = ((features(case.mapped, times, fps)[:, None] - known[picks]) ** 2).sum(axis=2)
            if not self.is_weighted:
                return (apart == apart.min(axis=1, keepdims=True)).astype(float)
            weights = 1.0 / np.maximum(apart, 1e-12)
            return weights / weights.sum(axis=1, keepdims=True)

        return Mapped(output, lambda weights: np.tensordot(weights, poses, 1), frames)


OURS, OPEN = "ours", "no latent box"
WAYS: dict[str, Way | Nearest] = {
    OURS: Way(),
    "noisy pairs": Way(met=0.0),
    "hard box": Way(edge="hard"),
    OPEN: Way(edge="none"),
    "raw points": Way(POINTS, _ALL, "none"),
    "raw points in a box": Way(POINTS, _ALL),
    "bare gradients": Way(GRADIENTS),
    "PCA 10": Way(POINTS, 10, "none"),
    "PCA 50": Way(POINTS, 50, "none"),
    "nearest pair": Nearest(),
    "weighted pairs": Nearest(True),
    "paper": Way(edge="hard", noise=_PAPER_NOISE, met=0.0, is_paper=True),
    "paper (as sigma)": Way(edge="hard", noise=_PRINTED_NOISE, met=0.0, is_paper=True),
}


def target_space(name: str, representation: str, components: int, target: Target) -> Any:
    """Learnt once a target; the variance that is kept is all for plain points, else as Map keeps it."""
    key = name, representation, components
    if key not in _spaces:
        variance = 1.0 if representation == POINTS else VARIANCE
        _spaces[key] = learn(representation, target.vertices, target.triangles, components, variance)
    return _spaces[key]


_spaces: dict[tuple[str, str, int], Any] = {}


def features_of(case: Case, is_paper: bool) -> Features:
    """Features as they are made from the case's clip."""
    learnt = case.places(case.learnt)
    if is_paper:
        mean = learnt.mean(axis=0)
        return lambda places, times, fps: _paper_rows(places, mean, times, fps)
    features = PoseFeatures.fit(learnt, case.learnt)

    def rows(places: Places, times: np.ndarray, fps: float) -> np.ndarray:
        # With the frames at that rate that lead up to them.
        whole = np.unique(np.round(np.concatenate((np.arange(0.0, times[-1], 1.0 / fps), times)), 9))
        return features.rows(places(whole), whole)[np.searchsorted(whole, times - 1e-8)]

    return rows


def _paper_rows(places: Places, mean: np.ndarray, times: np.ndarray, fps: float) -> np.ndarray:
    """Rhodin et al. 2014, section 4.2: positions, and velocities by the last frame, weighted; 1 appended."""
    now, before = places(times), places(np.maximum(times - 1.0 / fps, 0.0))
    velocity = _PAPER_WEIGHT * fps * (now - before)
    parts = (now - mean).reshape(len(times), -1), velocity.reshape(len(times), -1), np.ones((len(times), 1))
    return np.concatenate(parts, axis=1)


def pairs_of(case: Case, features: Features, score: Score, space: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features (F, P), and PAIRS of them (n,), each the best score at its turn, with frames (n,) of the target."""
    times = case.known if len(case.known) else case.times[::4]
    found = features(case.places, times, FPS)
    of_source, picks = RowSpace.of(found), []
    for _ in range(PAIRS):
        picks.append(int(np.argmax(score(of_source, found[picks]))))
    picks = np.array(picks)
    frames = case.truth[picks] if len(case.known) else paired_poses(case, found, picks, space.coefficients)
    return found, picks, frames
