"""How far a target travels and how far it turns, from how fast its pose changes and how its source turns.

One linear map from the absolute rates of the target's coefficients to its ground velocity (Rhodin et al. 2014, eq. 1;
the supplement's listing uses the pose in place of the rates, which moves a body that stands). What the map is learnt
from depends on the target: its own travel, the feet that stand while it moves on the spot, or a stride that the user
gives.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.errors import InputError
from ..core.lag import checked_times, rates
from ..rotations.rigid import turned
from .stance import stance_velocity

LAG = 0.1
TRANSLATION, STANCE, STRIDE, STAYS = "translation", "stance", "stride", "stays"
FROM = (TRANSLATION, STANCE, STRIDE, STAYS)
FORWARD = (0.0, -1.0)
# Of the trace of the inputs' square: less tears on another motion, more slows down what it was learnt from.
_RIDGE = 1e-4
_TRAVELS = 1.5
# Radii that standing feet ask for in a cycle of what walks, at any tempo: walks of 11 rigs have 0.8 and more.
_WALKS = 0.45
_STEADY = 0.8


@dataclass(frozen=True)
class Travel:
    """learnt_from: what the map was learnt from, one of ``FROM``.  weights: (2, D) metres a unit of coefficient.

    note: in words, why that was taken.
    """

    learnt_from: str
    weights: np.ndarray
    note: str

    def velocity(self, coefficient_rates: np.ndarray) -> np.ndarray:
        """Ground velocity (..., 2) metres a second, in the target's own heading, from rates (..., D) a second."""
        return np.abs(coefficient_rates) @ self.weights.T


def learn_travel(
    coefficients: np.ndarray,
    times: np.ndarray,
    translation: np.ndarray,
    yaw: np.ndarray,
    vertices: np.ndarray,
    stride: float = 0.0,
    learn_from: str | None = None,
    ground: np.ndarray | None = None,
) -> Travel:
    """The travel of a target, from its own motion.

    coefficients: (F, D) of its poses.  times: (F,) seconds.  translation (F, 2) metres and yaw (F,): its global motion
    against its first frame.  vertices: (F, V, 3) metres, without that motion, Z up.  stride: metres a cycle of its
    motion (the whole range where it has no shorter one) along ``FORWARD``, 0 where the user gave none.  ground: (F, 2)
    the velocity that its feet ask for, where that is known; None for its ``stance_velocity``.

    learn_from: one of ``FROM``, else chosen: its translation where that is longer than 1.5 radii (RMS distance of its
    vertices from their centre), else standing feet where they ask for a steady way of at least 0.45 radii in a cycle of
    its motion (see ``cycle_seconds``), else the stride, else it stays.
    Raises InputError where what is asked for is not there.
    """
    times = checked_times(times, len(coefficients))
    speed = rates(coefficients, times, LAG)
    radius = float(np.sqrt(((vertices - vertices.mean(axis=1, keepdims=True)) ** 2).sum(axis=2).mean()))
    if learn_from is not None and learn_from not in FROM:
        raise InputError(f"Travel cannot be learnt from '{learn_from}'; use one of {', '.join(FROM)}.")
    extent = float(np.linalg.norm(np.ptp(translation, axis=0)))
    if learn_from == TRANSLATION or (learn_from is None and extent > _TRAVELS * radius):
        moved = turned(rates(translation, times, LAG), -np.asarray(yaw, float))
        return _fitted(TRANSLATION, speed, moved, f"the target travels {extent:.3g} m over its range")
    if learn_from in (None, STANCE):
        ground = stance_velocity(vertices, times) if ground is None else ground
        mean = float(np.linalg.norm(ground.mean(axis=0)))
        steady = mean / max(float(np.linalg.norm(ground, axis=1).mean()), 1e-12)
        if learn_from == STANCE and not np.isfinite(mean):
            raise InputError("No vertex of the target stands on the ground; give a stride instead.")
        walks = steady > _STEADY and mean * cycle_seconds(coefficients, times) > _WALKS * radius
        if learn_from == STANCE or walks:
            return _fitted(STANCE, speed, ground, f"its standing feet slide back at {mean:.3g} m/s")
    if learn_from == STRIDE and not stride > 0.0:
        raise InputError("A stride must be longer than zero; give its length in metres.")
    if learn_from == STRIDE or (learn_from is None and stride > 0.0):
        period = cycle_seconds(coefficients, times)
        ahead = np.array(FORWARD) * (stride / period)
        moved = np.repeat(ahead[None], len(times), axis=0)
        return _fitted(STRIDE, speed, moved, f"{stride:.3g} m for each cycle of {period:.3g} s")
    return Travel(STAYS, np.zeros((2, speed.shape[1])), "the target moves on the spot and no stride is given")


def _fitted(learnt_from, speed, velocity, note):
    """Ridge through the origin: a pose that does not change does not travel. The first frame has no rate."""
    inputs = np.abs(speed[1:])
    if not inputs.any():
        raise InputError("The target does not move; choose a range in which it does.")
    gram = inputs.T @ inputs
    weights = np.linalg.solve(gram + _RIDGE * np.trace(gram) * np.eye(len(gram)), inputs.T @ velocity[1:])
    return Travel(learnt_from, weights.T, note)


def cycle_seconds(coefficients: np.ndarray, times: np.ndarray) -> float:
    """Length of one cycle of coefficients (F, D) over times (F,): the whole range where nothing in it repeats.

    The first lag, after the poses have once become unlike, at which they are as alike again as at any, where the mean
    squared difference falls below two fifths of that of unrelated poses.
    """
    even = np.linspace(times[0], times[-1], len(times))
    poses = np.stack([np.interp(even, times, column) for column in np.asarray(coefficients, float).T], axis=1)
    lags = np.arange(1, max(len(poses) * 3 // 4, 2))
    unlike = np.array([((poses[lag:] - poses[:-lag]) ** 2).sum(axis=1).mean() for lag in lags])
    unlike /= max(2.0 * ((poses - poses.mean(axis=0)) ** 2).sum(axis=1).mean(), 1e-300)
    apart = np.flatnonzero(unlike > 0.5)
    alike = np.flatnonzero(unlike < 0.4)
    alike = alike[alike > apart[0]] if apart.size else alike[:0]
    if not alike.size:
        return float(times[-1] - times[0])
    first = alike[: np.flatnonzero(np.append(np.diff(alike), 2) > 1)[0] + 1]
    return float(lags[first[np.argmin(unlike[first])]] * (even[1] - even[0]))


def integrated(velocity: np.ndarray, heading: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Positions (F, 2) from the origin, of velocities (F, 2) in the body's own heading (F,), by the trapezoid rule."""
    world = turned(np.asarray(velocity, float), np.asarray(heading, float))
    steps = 0.5 * (world[1:] + world[:-1]) * np.diff(times)[:, None]
    return np.concatenate((np.zeros((1, 2)), np.cumsum(steps, axis=0)))


class Path:
    """The same, one step at a time; a time that is not later than the last one moves nothing."""

    def __init__(self):
        self.position = np.zeros(2)
        self._last: tuple[float, np.ndarray] | None = None

    def step(self, velocity: np.ndarray, heading: float, time: float) -> np.ndarray:
        """Position (2,) at a time in seconds, of a velocity (2,) in the body's own heading, radians."""
        world = turned(np.asarray(velocity, float), np.asarray(heading, float))
        if self._last is not None and time > self._last[0]:
            self.position = self.position + 0.5 * (world + self._last[1]) * (time - self._last[0])
        self._last = (float(time), world)
        return self.position
