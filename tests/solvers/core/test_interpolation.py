"""Values between rows."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.core.interpolation import BetweenRows

FRAMES = np.array([3.0, 4.0, 6.0, 10.0])


@pytest.mark.parametrize("shape", [(), (5,), (4, 3)])
def test_as_interpolation_of_each_column(shape):
    rng = np.random.default_rng(2)
    values, at = rng.normal(size=(len(FRAMES), *shape)), rng.uniform(0.0, 13.0, 50)
    columns = values.reshape(len(FRAMES), -1).T
    expected = np.stack([np.interp(at, FRAMES, column) for column in columns], axis=1).reshape(-1, *shape)
    np.testing.assert_allclose(BetweenRows.at(at, FRAMES).of(values), expected, atol=1e-13)


def test_rows_themselves_are_exact_and_the_ends_are_held():
    """A row beyond does not count for the last; places number the rows."""
    values = np.random.default_rng(0).normal(size=(4, 6)) * 1e6
    np.testing.assert_array_equal(BetweenRows.at(FRAMES, FRAMES).of(values), values)
    np.testing.assert_array_equal(BetweenRows.at(np.array([-9.0, 99.0]), FRAMES).of(values), values[[0, -1]])
    at = BetweenRows.at_places(np.array([-1.0, 0.0, 3.0, 7.5]), 4)
    np.testing.assert_array_equal(at.of(values), values[[0, 0, 3, 3]])
    between = BetweenRows.at_places(np.array([0.5, 1.0, 1.25]), 3).of(np.array([0.0, 10.0, 40.0]))
    np.testing.assert_allclose(between, [5.0, 10.0, 17.5])
    assert BetweenRows.at(np.array([1.0, 5.0]), np.array([3.0])).of(np.array([[7.0]])).tolist() == [[7.0], [7.0]]
    assert BetweenRows.at(np.array([1.0]), np.array([0.0, 1.0])).of(np.array([np.nan, 2.0])) == 2.0


def test_what_is_not_a_number_is_refused():
    with pytest.raises(InputError, match="not a number"):
        BetweenRows.at(np.array([1.0, np.nan]), FRAMES)
