"""Where one body faces against another, by how their shapes lie on each other seen from above."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ..core.subsampling import strided
from ..rotations.rigid import turned_about_z

# Turns that are tried, and again between the best one and its neighbours.
_TURNS, _FINER = 72, 5
# Points of a body that are looked for on the other.
_POINTS = 800
# What facing the other way costs, as a share of the squared size: it must be supported by more than noise.
_TURN_COST = 0.0002


def facing(source: np.ndarray, source_weights: np.ndarray, target: np.ndarray, target_weights: np.ndarray) -> float:
    """Yaw, radians, that turns a source to where a target faces; both upright, Z up, of any size and place.

    source, target: (V, 3) points of their surfaces.  weights (V,): shares of their area.  The turn about Z through the
    middles with the least mean squared distance from points to the nearest of the other body, both ways, in units of
    their sizes.  Where facing one way fits as well as the other it is the smaller turn.
    """
    one, other = _Cloud(source, source_weights), _Cloud(target, target_weights)
    turns = np.linspace(-np.pi, np.pi, _TURNS, endpoint=False)
    best = _best(one, other, turns)
    return _best(one, other, best + np.linspace(-1.0, 1.0, 2 * _FINER + 1) * (2.0 * np.pi / _TURNS))


class _Cloud:
    """A body about its middle, in units of its size: all its points in a tree, some of them with weights of sum one."""

    def __init__(self, points: np.ndarray, weights: np.ndarray):
        weights = weights / weights.sum()
        away = points - weights @ points
        away /= np.sqrt(weights @ np.square(away).sum(axis=1))
        self.tree, self.some, weights = cKDTree(away), strided(away, _POINTS), strided(weights, _POINTS)
        self.weights = weights / weights.sum()

    def misfit(self, other: _Cloud, yaw: float) -> float:
        """Of its points, turned, from the other body."""
        return float(self.weights @ np.square(other.tree.query(turned_about_z(self.some, yaw))[0]))


def _best(one: _Cloud, other: _Cloud, turns: np.ndarray) -> float:
    costs = [one.misfit(other, yaw) + other.misfit(one, -yaw) + _TURN_COST * (1.0 - np.cos(yaw)) for yaw in turns]
    return float(turns[int(np.argmin(costs))])
