"""Heights of a ground: planes exactly, terrain as interpolated face by face, overhangs, holes and long strips."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.surface.ground_heights import GroundHeights
from tests.grounds import grid


def test_a_slope_is_met_exactly_and_nothing_beyond_it(rng):
    vertices, triangles = grid(9)
    vertices[:, 2] = 2.0 + 0.3 * vertices[:, 0] - 0.7 * vertices[:, 1]
    points = rng.uniform(-5, 5, (2000, 3))
    inside = (np.abs(points[:, :2]) <= 4.0).all(axis=1)
    found = GroundHeights(vertices, triangles)(points)
    assert np.isnan(found[~inside]).all()
    np.testing.assert_allclose(found[inside], 2.0 + points[inside, :2] @ [0.3, -0.7], atol=1e-12)
    # On corners and edges as well.
    np.testing.assert_allclose(GroundHeights(vertices, triangles)(vertices), vertices[:, 2], atol=1e-12)


def test_every_point_is_as_the_face_through_which_its_upright_line_goes(rng):
    vertices, triangles = grid(7)
    vertices = vertices + rng.normal(0, 0.25, vertices.shape)
    points = rng.uniform(-3, 3, (300, 3))
    found = GroundHeights(vertices, triangles)(points)
    corners = vertices[triangles]
    for point, height in zip(points, found, strict=True):
        shares = [np.linalg.solve(np.vstack((c[:, :2].T, np.ones(3))), [*point[:2], 1.0]) for c in corners]
        heights = [share @ c[:, 2] for share, c in zip(shares, corners, strict=True) if share.min() >= -1e-9]
        assert height == pytest.approx(max(heights), abs=1e-9)


def test_under_a_bridge_the_bridge_counts_and_walls_do_not(rng):
    vertices, triangles = grid(5)
    wall = np.array([[0.0, -1, 0], [0, 1, 0], [0, 1, 9], [0, -1, 9]])
    bridge = np.array([[-1.0, -1, 3], [1, -1, 3], [1, 1, 3], [-1, 1, 3]])
    quad = np.array([[0, 1, 2], [0, 2, 3]])
    both = GroundHeights(np.concatenate((vertices, wall, bridge)), np.concatenate((triangles, quad + 25, quad + 29)))
    np.testing.assert_array_equal(both(np.array([[0.0, 0.3, 1], [3.0, 0, 1]])), [3.0, 0.0])
    points = np.array([[0.5, 0.3, 1], [3.1, 0.3, 1], [9.0, 0, 0], [0.5, 0.3, 1]])
    np.testing.assert_array_equal(both(points, np.array([2.9, 2.0, 5.0, 3.0])), [0.0, 0.0, np.nan, 3.0])
    starts, heights = both.layers(points)
    assert np.diff(starts).tolist() == [2, 1, 0, 2]
    np.testing.assert_array_equal(heights, [0.0, 3.0, 0.0, 0.0, 3.0])


def test_a_long_strip_and_a_single_face_are_found():
    strip = np.array([[0.0, 0, 1], [1e4, 0, 1], [1e4, 0.01, 1], [0, 0.01, 1]])
    np.testing.assert_allclose(GroundHeights(strip, [[0, 1, 2], [0, 2, 3]])(np.array([[777.0, 0.004]])), 1.0)
    np.testing.assert_allclose(GroundHeights(strip, [[0, 1, 2]])(np.array([[9e3, 0.001]])), 1.0)
    assert np.isnan(GroundHeights(strip, [[0, 1, 2]])(np.array([[1.0, 0.009]]))).all()
    assert len(GroundHeights(strip, [[0, 1, 2]])(np.empty((0, 3)))) == 0


def test_a_wall_alone_and_what_is_not_a_number_are_refused():
    wall = np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 1]])
    with pytest.raises(InputError, match="no face to stand on"):
        GroundHeights(wall, [[0, 1, 2]])
    with pytest.raises(InputError, match="not a number"):
        GroundHeights(np.full((3, 3), np.nan), [[0, 1, 2]])
