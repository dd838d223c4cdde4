import numpy as np

from solvers.core.subsampling import evenly_spaced, evenly_spaced_indices, strided


def test_few_rows_are_all_kept():
    np.testing.assert_array_equal(evenly_spaced(np.arange(5), 9), np.arange(5))


def test_ends_and_even_steps_of_many():
    kept = evenly_spaced(np.arange(101), 11)
    np.testing.assert_array_equal(kept, np.arange(0, 101, 10))


def test_every_so_many_from_the_first_on():
    assert len(strided(np.empty((0, 3)), 4)) == 0
    np.testing.assert_array_equal(strided(np.arange(5), 9), np.arange(5))
    np.testing.assert_array_equal(strided(np.arange(10), 4), [0, 3, 6, 9])
    assert all(0 < len(strided(np.arange(count), 7)) <= 7 for count in range(1, 60))


def test_indices_are_distinct_and_hold_both_ends():
    for count in range(1, 200):
        for most in (2, 3, 7, 50, 199):
            found = evenly_spaced_indices(count, most)
            assert len(found) == min(count, most) and found[0] == 0 and found[-1] == count - 1
            assert (np.diff(found) > 0).all()
