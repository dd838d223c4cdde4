"""Grounds to stand on, for tests of the solvers."""

import numpy as np

from solvers.surface.ground_heights import GroundHeights


def grid(count, size=4.0):
    x, y = (a.ravel() for a in np.meshgrid(*[np.linspace(-size, size, count)] * 2, indexing="ij"))
    number = np.arange(count * count).reshape(count, count)
    a, b, c, d = (part.ravel() for part in (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]))
    return np.stack((x, y, 0 * x), axis=1), np.concatenate((np.stack((a, b, c), 1), np.stack((a, c, d), 1)))


def plane(low, high, height=0.0, slope=0.0):
    """Vertices (4, 3) from corner to corner, in order about it."""
    corners = [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])]
    return [(x, y, height + slope * y) for x, y in corners]


def ground_of(*planes):
    quads = np.concatenate([np.array([[0, 1, 2], [0, 2, 3]]) + 4 * number for number in range(len(planes))])
    return GroundHeights(np.concatenate(planes), quads)
