import numpy as np

from solvers.evenly import evenly_spaced


def test_few_rows_are_all_kept():
    np.testing.assert_array_equal(evenly_spaced(np.arange(5), 9), np.arange(5))


def test_ends_and_even_steps_of_many():
    kept = evenly_spaced(np.arange(101), 11)
    np.testing.assert_array_equal(kept, np.arange(0, 101, 10))
