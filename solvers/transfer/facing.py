"""Where one body faces against another, by how their shapes lie on each other seen from above."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ..core.subsampling import strided
from ..rotations.rigid import procrustes, turned_about_z

# Turns that are tried, and again between the best one and its neighbours.
_TURNS, _FINER = 72, 5
# Points of a body that are looked for on the other.
_POINTS = 800
# What facing the other way costs, as a share of the squared size: it must be supported by more than noise.
_TURN_COST = 0.0002
# One of them may lean.  Turns that fit nearly as well as the best, by this factor, are looked at as they would fit
# upright: after so many rounds of the iterative closest point, and no more than so far from upright, radians.
_NEARLY, _ROUNDS, _LEANS = 3.0, 12, np.radians(50.0)
# That tells only where it leaves less than this share of the misfit: bodies of other shapes lie closer at any lean.
_IS_LEAN = 0.25


def facing(source: np.ndarray, source_weights: np.ndarray, target: np.ndarray, target_weights: np.ndarray) -> float:
    """Yaw, radians, that turns a source to where a target faces; Z up, of any size and place.

    source, target: (V, 3) points of their surfaces.  weights (V,): shares of their area.  The turn about Z through the
    middles with the least mean squared distance from points to the nearest of the other body, both ways, in units of
    their sizes.  Bodies of like shape of which one leans are first laid on each other (Besl and McKay 1992), since the
    front of one may then lie where the back of the other is.  Where facing one way fits as well as the other it is the
    smaller turn.
    """
    one, other = _Cloud(source, source_weights), _Cloud(target, target_weights)
    turns = np.linspace(-np.pi, np.pi, _TURNS, endpoint=False)
    costs = _costs(one, other, turns)
    best = float(turns[np.argmin(costs)])
    likely = (costs <= np.roll(costs, 1)) & (costs <= np.roll(costs, -1)) & (costs <= _NEARLY * costs.min())
    upright = [one.leant(_lean(one, other, yaw)) for yaw in turns[likely]]
    fits = [_costs(each, other, np.array([yaw]))[0] for each, yaw in zip(upright, turns[likely], strict=True)]
    if min(fits) < _IS_LEAN * costs.min():
        number = int(np.argmin(fits))
        one, best = upright[number], float(turns[likely][number])
    finer = best + np.linspace(-1.0, 1.0, 2 * _FINER + 1) * (2.0 * np.pi / _TURNS)
    return float(finer[np.argmin(_costs(one, other, finer))])


class _Cloud:
    """A body about its middle, in units of its size: all its points in a tree, some of them with weights of sum one."""

    def __init__(self, points: np.ndarray, weights: np.ndarray):
        self._all, self._shares = points, weights
        weights = weights / weights.sum()
        away = points - weights @ points
        away /= np.sqrt(weights @ np.square(away).sum(axis=1))
        self.tree, self.some, weights = cKDTree(away), strided(away, _POINTS), strided(weights, _POINTS)
        self.weights = weights / weights.sum()

    def leant(self, rotation: np.ndarray) -> _Cloud:
        """The same, turned by (3, 3)."""
        return _Cloud(self._all @ rotation.T, self._shares)

    def misfit(self, other: _Cloud, yaw: float) -> float:
        """Of its points, turned, from the other body."""
        return float(self.weights @ np.square(other.tree.query(turned_about_z(self.some, yaw))[0]))


def _costs(one: _Cloud, other: _Cloud, turns: np.ndarray) -> np.ndarray:
    """(N,) of turns (N,)."""
    return np.array(
        [one.misfit(other, yaw) + other.misfit(one, -yaw) + _TURN_COST * (1.0 - np.cos(yaw)) for yaw in turns]
    )


def _lean(one: _Cloud, other: _Cloud, yaw: float) -> np.ndarray:
    """The lean (3, 3), without a turn about Z, that lays one on the other once it faces there; none where that is far
    from upright."""
    rotation = _about_z(yaw)
    for _ in range(_ROUNDS):
        mine = one.some @ rotation.T
        near = other.tree.data[other.tree.query(mine)[1]]
        back = one.some[cKDTree(mine).query(other.some)[1]]
        points, goals = np.concatenate((one.some, back)), np.concatenate((near, other.some))
        rotation, _ = procrustes(goals, points, np.concatenate((one.weights, other.weights)))
    if np.arccos(np.clip(rotation[2, 2], -1.0, 1.0)) > _LEANS:
        return np.eye(3)
    twist = np.arctan2(rotation[1, 0] - rotation[0, 1], rotation[0, 0] + rotation[1, 1])
    return _about_z(twist).T @ rotation


def _about_z(yaw: float) -> np.ndarray:
    return turned_about_z(np.eye(3), yaw).T
