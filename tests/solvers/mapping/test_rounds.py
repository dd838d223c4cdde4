"""A clip of a cycle comes round where it does, between two frames and after the last one as well."""

import numpy as np
import pytest

from solvers.mapping.rounds import cycle_length, rounds

FPS = 24.0


def walk(cycle, frames):
    """Points (F, 2, 3) that come round after so many frames, and times."""
    times = 7.0 + np.arange(frames) / FPS
    phase = 2.0 * np.pi * (np.arange(frames) / cycle)[:, None, None] + np.arange(6).reshape(2, 3)
    return np.sin(phase) + 0.3 * np.cos(2.0 * phase), times


@pytest.mark.parametrize(("cycle", "frames"), [(24.0, 25), (13.5, 15), (23.4, 25), (14.3, 15), (24.0, 24)])
def test_the_length_of_a_cycle_is_found_to_a_fraction_of_a_frame(cycle, frames):
    points, times = walk(cycle, frames)
    assert cycle_length(points, times, 0.2) * FPS == pytest.approx(cycle, abs=0.15)


def test_what_does_not_come_round_has_none():
    points, times = walk(24.0, 18)
    assert cycle_length(points, times, 0.2) is None
    assert cycle_length(points[:3], times[:3], 9.0) is None


@pytest.mark.parametrize("cycle", [24.0, 23.4])
def test_rounds_go_on_as_the_cycle_does(cycle):
    points, times = walk(cycle, 25)
    (found, same), later = rounds((points, points), times, cycle / FPS)
    np.testing.assert_array_equal(found, same)
    assert later[0] == times[0] and later[-1] == pytest.approx(times[0] + 3.0 * cycle / FPS)
    assert np.diff(later).min() > 0.2 / FPS
    phase = 2.0 * np.pi * ((later - 7.0) * FPS / cycle)[:, None, None] + np.arange(6).reshape(2, 3)
    np.testing.assert_allclose(found, np.sin(phase) + 0.3 * np.cos(2.0 * phase), atol=1e-9)
