"""A ground is followed by steps: the same at any frame rate, wherever it lies, whatever is above it."""

import numpy as np
import pytest

from solvers.surface.followed_ground import MISSING, ON, UNREACHED, Ground
from solvers.surface.ground_heights import GroundHeights
from tests.grounds import grid

QUAD = np.array([[0, 1, 2], [0, 2, 3]])


def tread(begin, end, height, width=5.0):
    return np.array([(-width, begin, height), (width, begin, height), (width, end, height), (-width, end, height)])


def of(*treads):
    return GroundHeights(np.concatenate(treads), np.concatenate([QUAD + 4 * k for k in range(len(treads))]))


def way(*ys):
    return np.stack((0.0 * np.array(ys), ys), axis=1)


def test_one_surface_alone_is_as_high_as_it_is(rng):
    vertices, triangles = grid(9)
    vertices[:, 2] = 0.2 * rng.normal(size=len(vertices))
    heights = GroundHeights(vertices, triangles)
    ways = np.cumsum(0.3 * rng.uniform(-1, 1, (40, 3, 2)), axis=0).clip(-4, 4)
    start = Ground.first_below(heights, ways[:, 0], 0.0)
    found = start.along(ways, 0.5)
    np.testing.assert_array_equal(found.levels, heights(ways.reshape(-1, 2)).reshape(40, 3))
    assert (found.states == ON).all()


def test_stairs_are_climbed_and_gone_down_at_any_frame_rate_and_height():
    stairs = [tread(k, k + 1, 0.15 * k) for k in range(12)] + [tread(0, 12, 9.0)]
    for height, count in ((0.0, 12), (0.0, 67), (-40.0, 12)):
        heights = of(*(step + [0, 0, height] for step in stairs))
        ys = np.linspace(0.5, 11.5, count)
        there = way(*ys, *ys[::-1])
        found = Ground.first_below(heights, there, height + 0.2).along(there[:, None], 0.2)
        np.testing.assert_allclose(found.levels[:, 0], height + 0.15 * np.floor(there[:, 1]), atol=1e-12)
        assert (found.states == ON).all()


def test_beyond_a_step_and_beyond_the_end_the_last_height_is_kept_and_told():
    heights = of(tread(0, 1, 0.0), tread(1, 2, 1.0), tread(2, 3, 0.1), tread(4, 5, -0.05))
    found = Ground(heights, 0.0, np.zeros(2)).along(way(0.5, 1.5, 2.5, 3.5, 4.5)[:, None], 0.2)
    np.testing.assert_allclose(found.levels[:, 0], [0.0, 0.0, 0.1, 0.1, -0.05])
    assert found.states[:, 0].tolist() == [ON, UNREACHED, ON, MISSING, ON]


def test_where_it_begins_is_below_the_eye_or_else_the_lowest():
    heights = of(tread(0, 1, 3.0), tread(0, 1, 1.0), tread(0, 1, 7.0))
    there = way(-1.0, 0.5)
    for eye, level in ((4.0, 3.0), (3.0, 3.0), (0.0, 1.0), (9.0, 7.0)):
        first = Ground.first_below(heights, there, eye)
        assert first.level == pytest.approx(level)
        np.testing.assert_array_equal(first.start, there[1])
    assert Ground.first_below(heights, way(-1.0, -2.0), 4.0) is None


def test_ways_do_not_depend_on_each_other(rng):
    heights = of(tread(0, 1, 0.0), tread(1, 2, 0.1), tread(0, 2, 3.0), tread(2, 3, 0.9))
    ways = np.stack((rng.uniform(-4, 4, (30, 4)), rng.uniform(-0.5, 3, (30, 4))), axis=2)
    ground = Ground(heights, 0.0, np.array([0.0, 0.5]))
    both = ground.along(ways, 0.2)
    for number in range(4):
        alone = ground.along(ways[:, number : number + 1], 0.2)
        np.testing.assert_array_equal(both.levels[:, number], alone.levels[:, 0])
        np.testing.assert_array_equal(both.states[:, number], alone.states[:, 0])
