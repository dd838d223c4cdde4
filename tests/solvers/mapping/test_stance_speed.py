"""Standing feet ask for their one speed where they are planted, and for their mean where they slide."""

import numpy as np
import pytest

from solvers.mapping.stance_speed import stance_speed

STEP = 1.0 / 480.0


def feet(speeds, count=480):
    """Heights, lift and speeds back (N, K) of feet one after the other: each is down for its share of a second."""
    share = count // len(speeds)
    down = np.arange(count)[:, None] // share == np.arange(len(speeds))
    return np.where(down, 0.0, 0.3), np.where(down, 0.0, 1.0), np.where(down, np.array(speeds), -2.0)


def test_planted_feet_go_at_their_speed_whatever_they_do_as_they_come_down_and_leave():
    heights, lift, back = feet((2.0, 2.0))
    for ends in (slice(0, 20), slice(220, 260), slice(460, 480)):
        back[ends] *= np.linspace(0.6, 1.0, 20)[:, None].repeat(len(back[ends]) // 20, axis=0)
    assert back[heights == 0.0].mean() < 1.95
    assert stance_speed(heights, lift, back, 1.5, STEP) == pytest.approx(2.0, rel=1e-9)


def test_sliding_feet_go_at_their_mean_and_flight_from_the_last_to_the_next():
    told = feet((1.0, 3.0))
    assert stance_speed(*told, 1.5, STEP) == pytest.approx(2.0, rel=0.01)
    flies = [np.delete(array, 1, axis=1) for array in feet((1.0, 2.0, 6.0))]
    assert stance_speed(*flies, 1.5, STEP) == pytest.approx(3.5, rel=0.01)


def test_larger_feet_ask_for_more_and_finer_moments_for_the_same():
    told = feet((1.0, 3.0))
    found = stance_speed(*told, 1.5, STEP)
    larger = stance_speed(3.0 * told[0], told[1], 3.0 * told[2], 4.5, STEP)
    assert larger == pytest.approx(3.0 * found, rel=1e-9)
    finer = [np.repeat(array, 2, axis=0) for array in told]
    assert stance_speed(*finer, 1.5, 0.5 * STEP) == pytest.approx(found, rel=1e-3)


def test_what_never_goes_back_while_it_is_down_asks_for_nothing():
    heights, lift, back = feet((1.0, 3.0))
    assert stance_speed(heights, lift, -np.abs(back), 1.5, STEP) == 0.0
    assert stance_speed(heights, lift, np.zeros_like(back), 1.5, STEP) == 0.0
