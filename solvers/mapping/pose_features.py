"""A source's pose as the numbers a map is learnt from: where its points are, and how they just moved.

Rhodin et al. 2014, section 4.2, with the displacement over a fixed time instead of a difference of frames, so that a
map does not depend on the frame rate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.errors import InputError, StillError
from ..core.lag import checked_times, lagged
from ..core.missing_samples import interpolate_gaps, known_points
from ..regression.history import History

LAG = 0.1
MOTION_SHARE = 0.5
_STILL = 1e-6


@dataclass(frozen=True)
class PoseFeatures:
    """Mean and scale of a reference clip, and with them rows of 6 U + 1 features for any clip of the same joints.

    names: J joint names.  used: (J,) bool, the U joints that the reference knows.  mean: (U, 3) metres.
    gain: weight of the displacements.  scale: metres; a row without its last 1 has length 1 in the RMS over the clip.
    """

    names: tuple[str, ...]
    used: np.ndarray
    mean: np.ndarray
    gain: float
    scale: float

    @classmethod
    def fit(cls, positions: np.ndarray, times: np.ndarray, names: tuple[str, ...] | None = None) -> PoseFeatures:
        """From positions (F, J, 3), metres, global motion removed, NaN where missing; times (F,) seconds.

        A joint that is missing throughout is left out.  Raises InputError where nothing moves or no joint is known.
        """
        positions = np.asarray(positions, float)
        names = _named(positions, names)
        times = checked_times(times, len(positions))
        used = known_points(positions).any(axis=0)
        if not used.any():
            raise InputError("No point of the source is known in any frame; choose another source or range.")
        points = positions[:, used]
        points = interpolate_gaps(points, times, known_points(points))
        mean = points.mean(axis=0)
        place = _rms_length(points - mean)
        if place <= _STILL * np.abs(points).max():
            raise StillError("The source does not move over the range; choose a range in which it does.")
        motion = _rms_length(points - lagged(points, times, LAG))
        gain = min(1.0, MOTION_SHARE * place / motion) if motion > 0.0 else 1.0
        return cls(names, used, mean, float(gain), float(np.hypot(place, gain * motion)))

    @property
    def width(self) -> int:
        """Features in a row."""
        return 6 * len(self.mean) + 1

    def rows(self, positions: np.ndarray, times: np.ndarray) -> np.ndarray:
        """Features (F, 6 U + 1) of positions (F, J, 3), of the reference or of another clip of the same joints.

        times: (F,) seconds.  A joint that is missing for some frames is put on the line between its known places.
        In the first 0.1 s the displacement is that since the first frame. Raises InputError where a joint that the
        reference knows is missing throughout.
        """
        positions = self._checked(np.asarray(positions, float), 3)
        times = checked_times(times, len(positions))
        points = positions[:, self.used]
        known = known_points(points)
        if not known.any(axis=0).all():
            lost = np.array(self.names)[self.used][np.argmin(known.any(axis=0))]
            raise InputError(f"'{lost}' is missing in all frames, but the map was learnt with it; learn it without.")
        points = interpolate_gaps(points, times, known)
        return self._row(points, lagged(points, times, LAG))

    def stream(self) -> PoseStream:
        """The same for a live source."""
        return PoseStream(self)

    def _checked(self, positions, dimensions):
        if positions.ndim != dimensions or positions.shape[-2:] != (len(self.names), 3):
            raise InputError(
                f"Points have shape {positions.shape}; the map was learnt from {len(self.names)} points. "
                "Choose a source with the same points, or learn again."
            )
        return positions

    def _row(self, points, before):
        """points and before: (..., U, 3)."""
        row = np.empty((*points.shape[:-2], self.width))
        half = 3 * len(self.mean)
        row[..., :half] = ((points - self.mean) / self.scale).reshape(*points.shape[:-2], half)
        row[..., half:-1] = ((points - before) * (self.gain / self.scale)).reshape(*points.shape[:-2], half)
        row[..., -1] = 1.0
        return row


class PoseStream:
    """Features of a live source, one frame at a time, from the last 0.1 s of it.

    A frame with the time of the last one replaces it; an earlier time begins anew.
    """

    def __init__(self, features: PoseFeatures):
        self._features, self._history = features, History(LAG)
        self._held = features.mean
        self._known = np.zeros(len(features.mean), bool)

    @property
    def missing(self) -> tuple[str, ...]:
        """Joints that the last frame lacked."""
        names = np.array(self._features.names)[self._features.used]
        return tuple(names[~self._known])

    def step(self, positions: np.ndarray, time: float) -> np.ndarray:
        """Features (6 U + 1,) of positions (J, 3), NaN where missing, at a time in seconds."""
        points = self._features._checked(np.asarray(positions, float), 2)[self._features.used]
        self._known = known_points(points)
        self._held = np.where(self._known[:, None], points, self._held)
        self._history.push(self._held, float(time))
        return self._features._row(self._held, self._history.lagged()[0])


def _named(positions, names):
    if positions.ndim != 3 or positions.shape[2] != 3:
        raise InputError(f"Points have shape {positions.shape}, expected (frames, points, 3).")
    if names is None:
        return tuple(f"point {index}" for index in range(positions.shape[1]))
    if len(names) != positions.shape[1]:
        raise InputError(f"{positions.shape[1]} points came with {len(names)} names.")
    return tuple(names)


def _rms_length(points):
    """Root of the mean over frames of the squared length of (F, U, 3) as one vector a frame."""
    return np.sqrt((points**2).sum(axis=(1, 2)).mean())
