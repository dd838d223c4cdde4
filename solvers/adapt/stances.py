"""Stances: from when to when hands and feet stand on objects that are replaced, and how their swings lie between.

A foot that goes over to another ground is displaced as one piece, and by the same all the time that it stands: the
ground below its ball and its heel may be two treads of a stair, and that below a foot which rolls changes every frame.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from .binding import Binding

# Metres at 1.8 m, half a sole: a foot may slide so far between two contacts, and stand all the while.
_SLID = 0.13
# Seconds: contacts that are apart by no more are one stance; a swing that takes no longer goes from one stance to the
# next; of a longer one so much at either end belongs to the stance.
_APART, _LONGEST, _FADE = 0.1, 1.2, 0.4
# Share of a swing in which it comes to its speed, and in which it loses it.
_GATHER = 0.3


@dataclass(frozen=True)
class Stances:
    """M stances. joints: (M, J) bool, which stand.  number: (M,) of the object.  first, last: (M,) rows.
    weights: (M, F) in [0, 1], how much the joints belong to each stance; a foot's sum to one at most."""

    joints: np.ndarray
    number: np.ndarray
    first: np.ndarray
    last: np.ndarray
    weights: np.ndarray

    def __len__(self) -> int:
        return len(self.number)

    def take(self, rows: np.ndarray) -> Stances:
        """Some of them, rows (K,)."""
        parts = (self.joints, self.number, self.first, self.last, self.weights)
        return Stances(*(part[rows] for part in parts))

    @property
    def pairs(self) -> np.ndarray:
        """(P,) rows of those after which the next row is the next stance of the same foot."""
        return np.flatnonzero((self.joints[1:] == self.joints[:-1]).all(axis=1))

    @property
    def middle(self) -> np.ndarray:
        """(M,) rows."""
        return (self.first + self.last) // 2


def stances(binding: Binding, numbers: Collection[int]) -> Stances:
    """Of all feet and hands on some objects, by their numbers."""
    frames, joints = binding.track.positions.shape[:2]
    found = []
    for foot in feet(binding):
        runs = sorted((*run, number) for number in numbers for run in _stances_of(binding, foot, number))
        found += zip([foot] * len(runs), runs, _weights(runs, frames, binding.dt), strict=True)
    first, last, number = np.array([run for _, run, _ in found], int).reshape(-1, 3).T
    foot = np.array([foot for foot, _, _ in found], bool).reshape(-1, joints)
    weights = np.array([weight for *_, weight in found], float).reshape(-1, frames)
    return Stances(foot, number, first, last, weights)


def feet(binding: Binding) -> list[np.ndarray]:
    """(J,) bool of each: effectors that hang on each other, and what hangs on them."""
    parents, effectors = binding.track.skeleton.parents, binding.effectors
    top = np.full(len(parents), -1)
    for joint, parent in enumerate(parents):  # parents come first
        if parent >= 0 and top[parent] >= 0:
            top[joint] = top[parent]
        elif effectors[joint]:
            top[joint] = joint
    return [top == joint for joint in np.unique(top[top >= 0])]


def _stances_of(binding: Binding, foot: np.ndarray, number: int) -> list[tuple[int, int]]:
    """First and last rows of the stances of a foot (J,) bool on an object.

    Contacts between which it stays down and slides a little are one stance: else it would change to another tread
    without a step.
    """
    joints = np.flatnonzero(foot & binding.effectors)
    down = (binding.contact[number][:, joints] > 0.5).any(axis=1)
    places = binding.track.positions[:, joints].mean(axis=1)
    out: list[tuple[int, int]] = []
    for first, last in _runs(binding.touched[number][:, foot].any(axis=1), _APART / binding.dt):
        if out and down[out[-1][1] : first].all():
            way = places[out[-1][0] : last + 1] - places[out[-1][1]]
            if np.linalg.norm(way, axis=1).max() <= _SLID * binding.scale:
                first = out.pop()[0]
        out.append((first, last))
    return out


def _runs(touched: np.ndarray, apart: float) -> list[tuple[int, int]]:
    """First and last rows of contacts, (F,) bool; those that are no more than so many frames apart are one."""
    change = np.flatnonzero(np.diff(touched, prepend=False, append=False)).reshape(-1, 2)
    out: list[tuple[int, int]] = []
    for first, end in change.tolist():
        if out and first - out[-1][1] - 1 <= apart:
            out[-1] = (out[-1][0], end - 1)
        else:
            out.append((first, end - 1))
    return out


def _weights(runs, frames: int, dt: float) -> list[np.ndarray]:
    """(F,) of each of a foot's runs (first, last, ...), which are in order."""
    rows, out = np.arange(frames), []
    for number, (first, last, *_) in enumerate(runs):
        before = runs[number - 1][1] if number else None
        after = runs[number + 1][0] if number + 1 < len(runs) else None
        rise, fall = _reach(before, first, dt), _reach(last, after, dt)
        up, down = (np.clip(part, 0.0, 1.0) for part in ((rows - first) / rise + 1.0, (last - rows) / fall + 1.0))
        out.append(np.minimum(_eased(up), _eased(down)))
    return out


def _reach(last, first, dt: float) -> float:
    """Frames that a stance takes to come or to go: all of a swing, or the near end of a long one."""
    if last is None or first is None:
        return _FADE / dt
    swing = max(first - last, 1)
    return float(swing) if swing * dt <= _LONGEST else _FADE / dt


def _eased(share: np.ndarray) -> np.ndarray:
    """From 0 to 1 at one speed, which a raised cosine brings up and down at either end.

    The way between two treads is long for the time of a swing. The path of least jerk (Flash and Hogan 1985) takes it
    at 1.9 times the mean speed half way, on top of the swing's own; this one at 1 / (1 - _GATHER) of it.
    """
    near = np.minimum(share, 1.0 - share)
    end = np.minimum(near, _GATHER)
    way = near - 0.5 * end - 0.5 * _GATHER / np.pi * np.sin(np.pi * end / _GATHER)
    way /= 1.0 - _GATHER
    return np.where(share < 0.5, way, 1.0 - way)
