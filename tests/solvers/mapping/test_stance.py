"""The speed that standing feet ask for, where they stand and where nothing does."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.mapping.stance import stance_velocity

TIMES = np.arange(60) / 30


def hopper(flight):
    """A foot of four vertices that slides back at 2 m/s while it stands, and a head; flight (F,) bool lifts it."""
    sole = np.array([[x, y, 0.0] for x in (-0.1, 0.1) for y in (-0.1, 0.1)])
    points = np.concatenate((sole, [[0.0, 0.0, 1.8]]))[None] + np.zeros((60, 1, 3))
    points[:, :4, 1] += 2.0 * TIMES[:, None]
    points[..., 2] += np.where(flight, 0.4, 0.0)[:, None]
    return points


FLIGHT = TIMES % 1.0 > 0.6


def test_a_foot_that_stands_gives_the_speed_and_in_flight_it_goes_on():
    np.testing.assert_allclose(stance_velocity(hopper(np.zeros(60, bool)), TIMES), [[0.0, -2.0]] * 60, atol=1e-9)
    points = hopper(FLIGHT)
    points[FLIGHT, :4, 1] += 3.0
    np.testing.assert_allclose(stance_velocity(points, TIMES), [[0.0, -2.0]] * 60, atol=1e-9)


def test_height_of_the_ground_size_and_uneven_times_do_not_matter(rng):
    points = hopper(FLIGHT)
    np.testing.assert_allclose(stance_velocity(50 * points + [1, 2, 30], TIMES), 50 * stance_velocity(points, TIMES))
    times = np.sort(rng.uniform(0, 2, 60))
    points = hopper(np.zeros(60, bool))
    points[:, :4, 1] += 2.0 * (times - TIMES)[:, None]
    np.testing.assert_allclose(stance_velocity(points, times)[:, 1], -2.0)


def test_one_frame_tells_nothing_and_where_nothing_stands_there_is_no_number():
    with pytest.raises(InputError, match="two frames"):
        stance_velocity(hopper(np.zeros(60, bool))[:1], TIMES[:1])
    assert np.isnan(stance_velocity(np.zeros((60, 3, 3)), TIMES)).all()
