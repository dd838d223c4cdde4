"""Smoothing is causal, keeps what does not change, does not depend on the rate, and is the same live."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.regression.one_sided_gaussian import Smoother, smooth

SIGMA = 0.1


@pytest.fixture
def track(rng):
    return rng.normal(size=(120, 3, 3)), np.cumsum(rng.uniform(0.001, 0.05, 120))


def test_what_does_not_change_stays(track):
    np.testing.assert_allclose(smooth(np.full((120, 2), 3.0), track[1], SIGMA), 3.0)


def test_the_weights_are_those_of_the_definition(track):
    values, times = track
    got = smooth(values, times, SIGMA)
    for frame in (0, 1, 7, 119):
        window = (times <= times[frame]) & (times[frame] - times <= 6 * SIGMA)
        at = times[window]
        if len(at) == 1:
            want = values[frame]
        else:
            weight = np.exp(-0.5 * ((times[frame] - at) / SIGMA) ** 2)
            want = np.trapezoid if hasattr(np, "trapezoid") else np.trapz
            want = want(weight[:, None, None] * values[window], at, axis=0) / want(weight, at)
        np.testing.assert_allclose(got[frame], want, atol=1e-12)


def test_live_is_the_same_as_the_batch(track, rng):
    values, times = track
    values = values.copy()
    values[rng.uniform(size=(120, 3)) < 0.2] = np.nan
    smoother = Smoother(SIGMA)
    live = np.array([smoother.step(v, t) for v, t in zip(values, times, strict=True)])
    np.testing.assert_allclose(live, smooth(values, times, SIGMA), atol=1e-12)
    np.testing.assert_array_equal(np.isnan(live), np.isnan(values))


def test_the_future_does_not_matter(track):
    values, times = track
    np.testing.assert_allclose(smooth(values[:50], times[:50], SIGMA), smooth(values, times, SIGMA)[:50], atol=1e-12)


@pytest.mark.parametrize("fps", [30, 24])
def test_the_frame_rate_does_not_matter(fps):
    def at(rate):
        times = np.arange(0, 3, 1 / rate)
        return smooth(np.sin(2 * np.pi * times), times, SIGMA)

    coarse = at(fps)
    assert np.abs(coarse - at(fps * 8)[::8])[fps // 2 :].max() < 0.02


def test_a_burst_of_equal_samples_does_not_weigh_more():
    times = np.arange(60) / 30
    values = np.sin(3 * times)
    burst = np.sort(np.concatenate((times, times[40] - np.linspace(1e-4, 1e-3, 20))))
    plain, crowded = smooth(values, times, SIGMA), smooth(np.sin(3 * burst), burst, SIGMA)
    assert abs(crowded[-1] - plain[-1]) < 0.01


def test_noise_falls_and_a_steady_motion_lags_by_what_is_said(rng):
    times = np.arange(600) / 60
    assert smooth(rng.normal(size=600), times, SIGMA)[60:].std() < 0.45
    lag = (times - smooth(times, times, SIGMA))[60:]
    np.testing.assert_allclose(lag, np.sqrt(2 / np.pi) * SIGMA, rtol=0.01)


def test_no_time_is_no_smoothing_and_bad_input_is_named(track):
    np.testing.assert_array_equal(smooth(*track, 0.0), track[0])
    np.testing.assert_array_equal(Smoother(0.0).step(track[0][0], 1.0), track[0][0])
    for request, words in (
        (lambda: smooth(*track, -1.0), "-1"),
        (lambda: Smoother(np.nan), "nan"),
        (lambda: smooth(track[0], track[1][::-1], SIGMA), "increase"),
    ):
        with pytest.raises(InputError, match=words):
            request()
