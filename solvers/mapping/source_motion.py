"""A source's points made ready for a map: glitches taken out, smoothed, split into ground motion and pose features.

Rhodin et al. 2014, section 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.errors import InputError
from ..core.missing_samples import known_points
from ..regression.one_sided_gaussian import Smoother, smooth
from ..regression.outliers import find_outliers, outlier_frames, repaired
from ..rotations.rigid import turned
from .global_motion import GlobalMotion
from .pose_features import PoseFeatures
from .steady_points import steady_weights


@dataclass(frozen=True)
class SourceModel:
    """What makes features of points: made from one clip, good for every source of the same J points.

    ground: the reference pose, and what of the movement is no pose.  features: mean and scale.
    """

    ground: GlobalMotion
    features: PoseFeatures

    @classmethod
    def fit(
        cls, names: tuple[str, ...], positions: np.ndarray, times: np.ndarray, remove: str, tracked: bool = True
    ) -> SourceModel:
        """names: J.  positions: (F, J, 3) world, metres, Z up, NaN where missing.  times: (F,) seconds.

        remove: see ``global_motion``.  tracked: the points come from a tracker, whose glitches are to be found.
        Raises InputError where no frame knows enough points, or nothing moves.
        """
        cleaned = repaired(positions, times, _lost(positions, times, tracked))
        known = known_points(cleaned)
        if not known.any():
            raise InputError("No point of the source is seen in any frame; show them, or choose other ones.")
        ground = GlobalMotion(cleaned[known.sum(axis=1).argmax()], remove, steady_weights(cleaned))
        return cls(ground, PoseFeatures.fit(ground.track(cleaned).points, times, names))

    @property
    def names(self) -> tuple[str, ...]:
        """J."""
        return self.features.names

    def poses_of(self, row: np.ndarray, translation: np.ndarray, yaw: float) -> np.ndarray:
        """Positions (2, J, 3), world, a tenth of a second ago and now, that make a row of features (P,).

        translation (2,) and yaw: of their ground motion.  Points that the features leave out are NaN.
        """
        features, half = self.features, (len(row) - 1) // 2
        place = features.mean + features.scale * row[:half].reshape(-1, 3)
        moved = (features.scale / features.gain) * row[half:-1].reshape(-1, 3)
        poses = np.full((2, len(features.names), 3), np.nan)
        poses[:, features.used] = place - moved, place
        poses[..., :2] = turned(poses[..., :2], np.asarray(yaw, float)) + translation
        return poses + self.ground.pivot

    def to_arrays(self) -> tuple[dict[str, np.ndarray], dict]:
        """Arrays, and what JSON can hold, that ``from_arrays`` makes the same model of."""
        ground, features = self.ground, self.features
        arrays = {"reference": ground.reference, "weights": ground.weights}
        arrays |= {"used": features.used, "mean": features.mean}
        header = {"remove": self.ground.remove, "gain": self.features.gain, "scale": self.features.scale}
        return arrays, header | {"names": list(self.names)}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray], header: dict) -> SourceModel:
        """The reverse of ``to_arrays``."""
        ground = GlobalMotion(np.asarray(arrays["reference"], float), header["remove"], arrays["weights"])
        used, mean = np.asarray(arrays["used"], bool), np.asarray(arrays["mean"], float)
        return cls(ground, PoseFeatures(tuple(header["names"]), used, mean, header["gain"], header["scale"]))


@dataclass(frozen=True)
class SourceTrack:
    """A clip by a model. times: (F,) seconds.  features: (F, P).  translation: (F, 2) metres and yaw: (F,) radians of
    its ground motion.  glitches: (F,) bool, frames in which a point was missing or lost by its tracker."""

    times: np.ndarray
    features: np.ndarray
    translation: np.ndarray
    yaw: np.ndarray
    glitches: np.ndarray


def source_track(
    model: SourceModel, positions: np.ndarray, times: np.ndarray, smoothing: float = 0.0, tracked: bool = True
) -> SourceTrack:
    """positions: (F, J, 3) of the model's points, world, NaN where missing.  times: (F,) seconds.

    smoothing: standard deviation in seconds of a filter that looks back only.  tracked: see ``SourceModel.fit``.
    """
    outliers = _lost(positions, times, tracked)
    motion = model.ground.track(smooth(repaired(positions, times, outliers), times, smoothing))
    features = model.features.rows(motion.points, times)
    return SourceTrack(times, features, motion.translation, motion.yaw, outlier_frames(outliers))


class SourceStream:
    """A live source, one frame at a time: glitches are not distinguished from movements, a missing point is held."""

    def __init__(self, model: SourceModel, smoothing: float = 0.0):
        self._smoother = Smoother(smoothing)
        self._ground, self._features = model.ground.stream(), model.features.stream()

    def step(self, positions: np.ndarray, time: float) -> SourceTrack:
        """A track of one frame: of positions (J, 3), world, at a time in seconds."""
        motion = self._ground.step(self._smoother.step(positions, time))
        row = self._features.step(motion.points[0], time)
        glitch = np.array([bool(self._features.missing)])
        return SourceTrack(np.array([time]), row[None], motion.translation, motion.yaw, glitch)


def _lost(positions: np.ndarray, times: np.ndarray, tracked: bool) -> np.ndarray:
    """(F, J) bool. Few frames of a coarse mesh look like glitches, so that only numbers are asked for there."""
    return find_outliers(positions, times) if tracked else ~known_points(positions)
