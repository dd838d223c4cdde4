"""Values a fixed time ago, all at once and from a bounded history."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.core.lag import checked_times, lagged, rates
from solvers.regression.history import History


@pytest.fixture
def track(rng):
    times = np.sort(rng.uniform(0, 3, 90))
    return times, rng.normal(size=(90, 4, 3))


def test_a_line_is_read_exactly(track):
    times = track[0]
    line = np.stack((3 * times, 1 - times), axis=1)
    there = np.maximum(times - 0.1, times[0])
    np.testing.assert_allclose(lagged(line, times, 0.1), np.stack((3 * there, 1 - there), axis=1), atol=1e-12)
    np.testing.assert_allclose(rates(line, times, 0.1)[1:], np.tile([3, -1], (89, 1)), atol=1e-9)
    assert not rates(line, times, 0.1)[0].any()


def test_a_history_reads_the_same(track):
    times, values = track
    expected, history = lagged(values, times, 0.1), History(0.1)
    for time, value, want in zip(times, values, expected, strict=True):
        history.push(value, time)
        got, elapsed = history.lagged()
        np.testing.assert_allclose(got, want, atol=1e-12)
        assert elapsed == pytest.approx(min(0.1, time - times[0]))


def test_a_history_is_bounded():
    history = History(0.1)
    for frame in range(20_000):
        history.push(np.zeros(1), frame * 1e-6)
        assert len(history) <= 1000
    for frame in range(1000):
        history.push(np.zeros(1), 1 + frame / 60)
    assert len(history) <= 9


def test_a_history_replaces_and_begins_anew():
    history = History(1.0)
    for time, value in ((0.0, 1.0), (0.5, 2.0), (0.5, 3.0)):
        history.push(np.array(value), time)
    assert history.window()[1] == [1.0, 3.0]
    history.push(np.array(9.0), 0.2)
    assert history.window()[1] == [9.0] and history.lagged() == (9.0, 0.0)


def test_one_sample_is_its_own_past():
    np.testing.assert_array_equal(lagged(np.ones((1, 2)), np.array([4.0]), 0.1), np.ones((1, 2)))


def test_times_that_do_not_increase_are_named():
    for times in ([0, 1, 1, 2], [0, 1, np.nan, 2], [0, 2, 1, 3]):
        with pytest.raises(InputError, match="frame 2"):
            checked_times(times, 4)
    with pytest.raises(InputError, match="one time a frame"):
        checked_times([0, 1], 3)
