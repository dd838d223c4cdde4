"""Time between pairs: nothing on the line, endless where it would go back, dear where the others run evenly."""

import numpy as np

from solvers.transfer.association_cost import bridge_residuals, unevenness
from solvers.transfer.clip_pair import ClipRows
from solvers.transfer.pair_time import time_cost


def clip(targets):
    rows = np.zeros((101, 2))
    pairs = np.stack((np.linspace(0, 100, len(targets)), targets), axis=1).astype(float)
    return ClipRows((rows,), (rows,), pairs)


def test_a_pair_is_cheapest_on_the_line_between_its_neighbours_and_endless_beyond_them():
    cost = time_cost([clip([0, 25, 60, 75, 100])], 0, 2)
    assert cost.argmin() == 50 and cost[50] == 0.0
    assert np.isinf(cost[:26]).all() and np.isinf(cost[75:]).all() and np.isfinite(cost[26:75]).all()
    assert (np.diff(cost[26:51]) < 0).all() and (np.diff(cost[50:75]) > 0).all()


def test_ends_are_told_by_the_next_two():
    clips = [clip([20, 25, 50, 75, 80])]
    first, last = time_cost(clips, 0, 0), time_cost(clips, 0, 4)
    assert first.argmin() == 0 and np.isinf(first[25:]).all()
    assert last.argmin() == 100 and np.isinf(last[:76]).all()
    assert not time_cost([clip([0, 100])], 0, 0)[:100].any()  # two pairs tell nothing but that time goes on


def test_it_costs_more_where_all_others_are_even_and_a_pair_does_not_speak_for_itself():
    even, uneven = clip(np.linspace(0, 100, 11)), clip([0, 2, 20, 24, 44, 46, 60, 66, 80, 82, 100])
    assert time_cost([even, even], 0, 5)[42] > 2.0 * time_cost([even, uneven], 0, 5)[42]
    moved = clip([0, 10, 20, 30, 40, 58, 60, 70, 80, 90, 100])
    assert np.array_equal(time_cost([even], 0, 5), time_cost([moved], 0, 5))


def test_residuals_are_those_that_unevenness_is_the_mean_of():
    pairs = clip([0, 30, 45, 80, 100]).pairs
    residuals = bridge_residuals(pairs[:-2], pairs[1:-1], pairs[2:])
    assert unevenness([pairs]) == (residuals.sum() + 3.0 / 300.0) / (len(residuals) + 3)
