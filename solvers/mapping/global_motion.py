"""Where a body is on the ground and which way it faces, taken out of its points, so that the pose is left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.errors import InputError
from ..core.missing_samples import known_points
from ..rotations.rigid import ground_translation, ground_yaw, turned

ALL, TRANSLATION, NONE = "all", "translation", "none"
REMOVE = (ALL, TRANSLATION, NONE)


@dataclass(frozen=True)
class GroundMotion:
    """translation (F, 2) metres and yaw (F,) radians against the reference; points (F, N, 3) without them.

    The points are relative to the reference's centroid in all three axes: a jump stays in them.
    """

    translation: np.ndarray
    yaw: np.ndarray
    points: np.ndarray


class GlobalMotion:
    """Takes ground translation and yaw out of point clouds by least squares against one reference frame.

    Rhodin et al. 2014, section 4.1. Z is up. ``remove`` says what goes: "all", "translation" only (a body that shall
    keep its turning), or "none" (a face or a hand that does not travel).
    """

    def __init__(self, reference: np.ndarray, remove: str = ALL, weights: np.ndarray | None = None):
        """reference: (N, 3), NaN for points that are not known there; those count nothing in any frame.

        weights: (N,) of the points, all alike where None; see ``steady_points``.
        """
        reference = np.asarray(reference, float)
        if remove not in REMOVE:
            raise InputError(f"'{remove}' cannot be removed; use one of {', '.join(REMOVE)}.")
        known = known_points(reference)
        if not known.any():
            raise InputError("The reference frame has no known point; choose another frame.")
        self.reference, self.remove = reference, remove
        self.weights = np.ones(len(reference)) if weights is None else np.asarray(weights, float)
        self.pivot = reference[known].mean(axis=0)

    def track(self, points: np.ndarray, before: GroundMotion | None = None) -> GroundMotion:
        """Of points (F, N, 3); the yaw goes on from the last frame of before, else begins within half a turn of 0.

        Causal: a frame depends on earlier ones only for whole turns, and where too little of it is known, for all of
        its motion. So one call, many calls and one frame at a time give the same.
        """
        points = np.asarray(points, float)
        if points.ndim != 3 or points.shape[1:] != self.reference.shape:
            raise InputError(f"Points have shape {points.shape}; the reference has {len(self.reference)} points.")
        last = (np.zeros(2), 0.0) if before is None else (before.translation[-1], before.yaw[-1])
        translation, yaw = np.zeros((len(points), 2)), np.zeros(len(points))
        if self.remove == ALL:
            yaw = _held(ground_yaw(points, self.reference, self.weights), last[1])
            steps = np.diff(yaw, prepend=last[1])
            yaw = last[1] + np.cumsum(steps - 2.0 * np.pi * np.round(steps / (2.0 * np.pi)))
        if self.remove != NONE:
            place = ground_translation(points, self.reference, self.pivot[:2], yaw, self.weights)
            translation = _held(place, last[0])
        rest = points - self.pivot
        rest[..., :2] = turned(rest[..., :2] - translation[:, None], -yaw[:, None])
        return GroundMotion(translation, yaw, rest)

    def stream(self) -> GlobalStream:
        """The same, fed one frame at a time."""
        return GlobalStream(self)


class GlobalStream:
    """A live source's frames, one at a time; it remembers the last yaw and translation only."""

    def __init__(self, motion: GlobalMotion):
        self._motion, self._last = motion, None

    def step(self, points: np.ndarray) -> GroundMotion:
        """Of points (N, 3): a motion of one frame, the same as ``track`` gives at that frame."""
        self._last = self._motion.track(np.asarray(points, float)[None], self._last)
        return self._last


def _held(values, start):
    """values (F, ...) with NaN replaced by the last known value, before that by start."""
    values = np.concatenate((np.asarray(start, float)[None], values))
    known = np.isfinite(values).reshape(len(values), -1).all(axis=1)
    return values[np.maximum.accumulate(np.where(known, np.arange(len(values)), 0))][1:]
