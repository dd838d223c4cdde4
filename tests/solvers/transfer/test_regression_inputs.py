"""Velocities are those of the motion, in one unit at every frame rate."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.transfer.regression_inputs import TIME_UNIT, inputs_of_parts, with_velocity


def swing(fps, seconds=1.0):
    times = np.arange(0.0, seconds + 0.5 / fps, 1.0 / fps)
    return np.stack((np.sin(3.0 * times), np.cos(5.0 * times)), axis=1)


def test_rows_come_first_and_steady_motion_has_its_velocity_at_every_frame(rng):
    rows = np.outer(np.arange(6) / 24.0, [1.5, -4.0])
    found = with_velocity(rows, 24.0)
    np.testing.assert_array_equal(found[:, :2], rows)
    np.testing.assert_allclose(found[:, 2:], np.tile([2.0 * 1.5 * TIME_UNIT, -8.0 * TIME_UNIT], (6, 1)), atol=1e-12)
    np.testing.assert_allclose(with_velocity(rows[:2], 24.0)[:, 2:], found[:2, 2:], atol=1e-12)
    rows = rng.normal(size=(7, 3))
    np.testing.assert_allclose(with_velocity(rows, 30.0)[1:-1, 3:], rows[2:] - rows[:-2], atol=1e-12)


def test_velocity_is_the_derivative_and_the_error_falls_with_the_square_of_the_frame():
    def error(fps):
        times = np.arange(0.0, 1.0 + 0.5 / fps, 1.0 / fps)
        exact = np.stack((3.0 * np.cos(3.0 * times), -5.0 * np.sin(5.0 * times)), axis=1) * 2.0 * TIME_UNIT
        return np.abs(with_velocity(swing(fps), fps)[:, 2:] - exact).max()

    assert 3.6 < error(30.0) / error(60.0) < 4.4


def test_the_same_motion_at_another_rate_gives_the_same_rows():
    slow, fast = with_velocity(swing(30.0), 30.0), with_velocity(swing(60.0), 60.0)[::2]
    speed = np.abs(fast[:, 2:]).max()
    assert np.abs(slow - fast)[1:-1].max() < 0.005 * speed
    assert np.abs(slow - fast).max() < 0.01 * speed


def test_a_clip_played_backwards_has_the_opposite_velocity_and_a_single_frame_is_held(rng):
    rows = rng.normal(size=(9, 2))
    there, back = with_velocity(rows, 25.0), with_velocity(rows[::-1], 25.0)[::-1]
    np.testing.assert_allclose(back[:, 2:], -there[:, 2:], atol=1e-12)
    assert np.array_equal(with_velocity(rows[:1], 24.0), np.concatenate((rows[:1], 0 * rows[:1]), axis=1))


def test_bad_input_is_named(rng):
    rows = rng.normal(size=(5, 2))
    bad = np.where(np.arange(10).reshape(5, 2) == 7, np.nan, rows)
    for given, fps, words in (
        (rows[:0], 30.0, "no frames"),
        (rows[0], 30.0, "one row a frame"),
        *((rows, fps, "rate must be positive") for fps in (0.0, -1.0, np.nan)),
        (bad, 30.0, "Frame 3"),
    ):
        with pytest.raises(InputError, match=words):
            with_velocity(given, fps)


def test_limbs_see_the_torso_and_stiff_parts_see_all(rng):
    torso, arm, stiff, leg = (rng.normal(size=(7, width)) for width in (3, 4, 0, 2))
    seen = inputs_of_parts((torso, arm, stiff, leg))
    assert np.array_equal(seen[0], torso)
    assert np.array_equal(seen[1], np.concatenate((arm, torso), axis=1))
    assert np.array_equal(seen[2], np.concatenate((torso, arm, leg), axis=1))
    assert np.array_equal(seen[3], np.concatenate((leg, torso), axis=1))
    seen = inputs_of_parts((stiff, arm, leg))
    assert np.array_equal(seen[0], np.concatenate((arm, leg), axis=1)) and np.array_equal(seen[1], arm)
    (whole,) = inputs_of_parts((torso,))
    assert np.array_equal(whole, torso)
