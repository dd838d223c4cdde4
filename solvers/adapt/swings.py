"""Swings from stance to stance on a new ground: how far up or down feet have to go, and in which time.

Steps stay as long as they were made, so that a walk takes two or three treads of a stair with each. No path makes that
slow: what it takes at least, and what it takes with the timing that the swing has in the source, is known beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .binding import Binding
from .standing import Standing

# Metres a second at 1.8 m that a foot goes up or down in a swing. People who walk up stairs lift it by two treads of
# 17 cm in some 0.55 s; twice that is a run.
STROLL, FAST = 0.6, 1.2


@dataclass(frozen=True)
class Swings:
    """P swings, foot by foot.

    joints: (P,) that go first of each foot.  numbers: (P,) of the objects that they come to.  first, last: (P,) rows,
    the last of one stance and the first of the next.  rises: (P,) metres up.  speeds: (P,) metres a second, up or down.
    least: (P,) metres by which the largest step from frame to frame is longer than its source's on any path.
    alike: (P,) metres by which it is where each step grows as much as the way does.
    """

    joints: np.ndarray
    numbers: np.ndarray
    first: np.ndarray
    last: np.ndarray
    rises: np.ndarray
    speeds: np.ndarray
    least: np.ndarray
    alike: np.ndarray

    def fast(self, scale: float) -> np.ndarray:
        """(K,) of those that are too fast to look like a walk, the fastest first. scale: body height / 1.8 m."""
        found = np.flatnonzero(self.speeds > FAST * scale)
        return found[np.argsort(-self.speeds[found], kind="stable")]


def swings(binding: Binding, standing: Standing, now: np.ndarray, gravity: np.ndarray) -> Swings:
    """Of feet with ground below both stances, see ``Standing.steps``.

    now: (S, M, 3) where they stand, S = 1 or F.  gravity: (3,) unit vector.
    """
    stances, pairs = standing.stances, standing.steps(gravity)
    pairs = pairs[stances.first[pairs + 1] > stances.last[pairs]]
    state = stances.middle if len(now) > 1 else np.zeros(len(stances), int)
    moved = now[state, np.arange(len(stances))] - standing.origins
    more = moved[pairs + 1] - moved[pairs]
    first, last = stances.last[pairs], stances.first[pairs + 1]
    joints = stances.joints[pairs].argmax(axis=1)
    steps = np.linalg.norm(np.diff(binding.track.positions, axis=0), axis=-1)
    way = np.concatenate((np.zeros((1, steps.shape[1])), np.cumsum(steps, axis=0)))
    before = binding.track.positions[last, joints] - binding.track.positions[first, joints]
    after = np.linalg.norm(before + more, axis=1)
    # The sum of steps is no shorter than the way between their ends: so much on average, and in the largest, at least.
    least = np.maximum(after - (way[last, joints] - way[first, joints]), 0.0) / (last - first)
    growth = np.maximum(after / np.maximum(np.linalg.norm(before, axis=1), 1e-9 * binding.scale) - 1.0, 0.0)
    largest = [steps[a:b, joint].max() for a, b, joint in zip(first, last, joints, strict=True)]
    rises = -(more @ np.asarray(gravity, float))
    speeds = np.abs(rises) / ((last - first) * binding.dt)
    numbers = stances.number[pairs + 1]
    return Swings(joints, numbers, first, last, rises, speeds, least, growth * np.array(largest).reshape(-1))
