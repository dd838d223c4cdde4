"""What is missing stands between its neighbours in time, or as it was last known."""

import numpy as np

from solvers.core.missing_samples import interpolate_gaps, known_points

TIMES = np.array([0.0, 1.0, 2.0, 4.0, 5.0])


def line():
    return np.stack((TIMES, 2 * TIMES), axis=1)[..., None] * np.ones(3)


def test_gaps_are_filled_in_time():
    points = line()
    points[1:3, 0], points[0, 1], points[4, 1] = np.nan, np.nan, np.nan
    filled = interpolate_gaps(points, TIMES, known_points(points))
    np.testing.assert_allclose(filled[:, 0], line()[:, 0])
    np.testing.assert_allclose(filled[:, 1, 0], [2, 2, 4, 8, 8])


def test_what_is_never_known_stays_unknown():
    points = line()
    points[:, 1] = np.nan
    filled = interpolate_gaps(points, TIMES, known_points(points))
    assert np.isnan(filled[:, 1]).all() and (filled[:, 0] == points[:, 0]).all()


def test_nothing_missing_changes_nothing():
    points = line()
    known = known_points(points)
    np.testing.assert_array_equal(interpolate_gaps(points, TIMES, known), points)
