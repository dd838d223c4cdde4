"""How sharply feet turn tells how much their motion was rounded, at any tempo, and truly shorter steps from it."""

import numpy as np
import pytest

from solvers.mapping.gaits import LEVELS, Gait, cycles_and_sharpness, longer, rounded

FPS = 120.0


def measured(places, fps=FPS):
    speeds = np.diff(places, axis=0) * fps
    return cycles_and_sharpness(0.5 * (places[1:] + places[:-1]), speeds, len(speeds) / fps)


def phases(cycles, frequency, feet=4):
    return np.arange(round(cycles * FPS / frequency) + 1)[:, None] / FPS * frequency + np.arange(feet) / feet


def triangle(phase):
    return np.abs((phase % 1.0) - 0.5)


@pytest.mark.parametrize("frequency", (0.7, 1.0, 2.3))
@pytest.mark.parametrize("cycles", (1.6, 2.0, 5.3))
def test_a_sine_is_as_sharp_as_one_and_a_triangle_as_its_harmonics_say(cycles, frequency):
    """Sums of 1 / k^2 and 1 / k^4 over odd k: pi^2 / 8 over pi^4 / 96."""
    phase = phases(cycles, frequency)
    for way, sharp in ((np.sin(2 * np.pi * phase), 1.0), (triangle(phase), 12 / np.pi**2)):
        np.testing.assert_allclose(measured(way), (frequency, sharp), rtol=0.03)
        np.testing.assert_allclose(measured(0.3 * way + 5.0), measured(way), rtol=1e-9)
        np.testing.assert_allclose(measured(way[::-1]), measured(way), rtol=0.01)


def test_feet_that_have_not_turned_or_drift_are_as_sharp_as_nothing():
    phase = phases(0.7, 1.0)
    assert measured(np.sin(2 * np.pi * phase))[1] == 0.0
    phase = phases(5.0, 1.0)
    assert measured(np.sin(2 * np.pi * phase) * (1.0 + phase) + 9.0 * phase)[1] == 0.0
    assert measured(np.zeros((200, 2)))[1] == 0.0


def test_a_motion_is_rounded_as_a_gaussian_rounds_it():
    times = np.arange(61) / 30
    way = np.sin(2 * np.pi * times)[:, None] + [0.0, 3.0]
    (found,) = rounded((way,), times, 0.1, cycles=True)
    np.testing.assert_allclose(found - [0.0, 3.0], np.exp(-0.5 * 0.2**2 * np.pi**2) * (way - [0.0, 3.0]), atol=1e-4)
    np.testing.assert_array_equal(rounded((way,), times, 0.0, cycles=False)[0], way)
    ends = rounded((way,), times, 0.1, cycles=False)[0]
    np.testing.assert_allclose(ends[10:-10], found[10:-10], atol=0.03)


@pytest.fixture
def gaits():
    """Own ones whose feet push, go and turn the less, the more they are rounded."""
    loss = np.exp(-8.0 * LEVELS**2)
    return tuple(Gait(2.0 * at, 1.5 * at, 0.4, 2.0, 1.0 + 0.3 * at**12) for at in loss)


def test_what_is_rounded_goes_as_far_and_what_is_shorter_does_not(gaits):
    own, some = gaits[0], gaits[4]
    assert longer(own, gaits, 2.1).by * own.pushed == pytest.approx(2.1)
    assert longer(some, gaits, 2.1).by * some.pushed == pytest.approx(2.1, rel=0.02)
    unknown = (own._replace(sharp=0.0),)
    assert longer(some, unknown, 2.1).by * some.pushed < 0.96 * 2.1
    for of in (own, some):
        short = of._replace(pushed=0.8 * of.pushed, to_and_fro=0.8 * of.to_and_fro)
        assert longer(short, gaits, 2.1) == pytest.approx(longer(of, gaits, 2.1), rel=1e-9)
        fast = of._replace(pushed=3.0 * of.pushed, to_and_fro=3.0 * of.to_and_fro, often=3.0 * of.often)
        assert longer(fast, gaits, 2.1) == pytest.approx(longer(of, gaits, 2.1), rel=1e-9)


def test_what_is_sharper_than_its_own_or_not_known_is_not_rounded(gaits):
    own = gaits[0]
    sharper = own._replace(sharp=2.0)
    assert (
        longer(sharper, gaits, 2.1)
        == longer(own._replace(sharp=0.0), gaits, 2.1)
        == longer(own, (own._replace(sharp=0.0),), 2.1)
    )
    assert longer(own._replace(stands=0.8), gaits, 3.0) == (1.0, 0.0)
