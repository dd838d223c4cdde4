"""Cubic curves through keys: what they tell exactly, what becomes of corners, equivariance."""

import numpy as np
import pytest

from solvers.skeleton import smooth_curves

TIMES = np.arange(31.0)
UNEVEN = np.cumsum(np.random.default_rng(4).uniform(0.5, 1.5, 31))


def keys_of(*frames, count=31, channels=1):
    out = np.zeros((count, channels), bool)
    out[[0, *frames, count - 1]] = True
    return out


def waves(times, channels=3, seed=0):
    """(F, channels, 2) smooth rows."""
    rng = np.random.default_rng(seed)
    rate, phase = rng.uniform(0.1, 0.5, (2, channels, 2))
    return np.sin(rate * times[:, None, None] + 6.0 * phase)


def fitted(rows, keys, times=TIMES):
    samples = smooth_curves.sampled(rows, times)
    return samples, smooth_curves.fitted(samples, keys)


@pytest.mark.parametrize("times", [TIMES, UNEVEN], ids=["even", "uneven"])
@pytest.mark.parametrize("degree", [0, 1, 2, 3])
def test_polynomials_up_to_cubic_are_told_by_two_keys(times, degree):
    x = (times - times.mean()) / np.ptp(times)
    rows = np.stack((x**degree, 2.0 - x**degree), axis=1)[:, None]
    keys = keys_of()
    samples, tangents = fitted(rows, keys, times)
    np.testing.assert_allclose(smooth_curves.through(samples, keys, tangents), rows, atol=1e-9)
    middle = 0.5 * (x[1:] + x[:-1])
    found = smooth_curves.half_way(samples, keys, tangents)
    np.testing.assert_allclose(found[:, 0, 0], middle**degree, atol=1e-9)


@pytest.mark.parametrize("times", [TIMES, UNEVEN], ids=["even", "uneven"])
def test_slopes_are_exact_up_to_the_fourth_degree(times):
    x = (times - 15.0) / 30.0
    rows = np.polynomial.polynomial.polyval(x, [1.0, -2.0, 0.5, 3.0, -1.5])[:, None, None]
    exact = np.polynomial.polynomial.polyval(x, [-2.0, 1.0, 9.0, -6.0]) / 30.0
    np.testing.assert_allclose(smooth_curves.slopes(rows, times)[:, 0, 0], exact, atol=1e-10)
    for count in (1, 2, 3, 4):
        line = smooth_curves.slopes(np.arange(float(count))[:, None, None], np.arange(float(count)))
        np.testing.assert_allclose(line, 0.0 if count == 1 else 1.0, atol=1e-12)


def test_tangents_are_the_best_there_are():
    """Any other ones are farther from the samples, which alone count where keys are far apart."""
    rows, keys = waves(TIMES), keys_of(10, 20, channels=3)
    samples, tangents = fitted(rows, keys)

    def cost(tangents):
        off = smooth_curves.through(samples, keys, tangents) - rows
        own = np.where(keys[..., None], tangents.coming - samples.slopes, 0.0)
        return (off**2).sum() + smooth_curves._OWN * (own**2).sum()

    best = cost(tangents)
    rng = np.random.default_rng(1)
    for _ in range(20):
        change = np.where(keys[..., None], rng.normal(0, 0.01, rows.shape), 0.0)
        assert cost(smooth_curves.Tangents(*(side + change for side in tangents))) > best


def test_curves_go_through_their_keys_and_are_smooth_there():
    rows, keys = waves(TIMES), keys_of(7, 8, 20, channels=3)
    samples, tangents = fitted(rows, keys)
    found = smooth_curves.through(samples, keys, tangents)
    np.testing.assert_allclose(found[keys], rows[keys], atol=1e-12)
    np.testing.assert_array_equal(tangents.coming, tangents.leaving)


def test_channels_are_fitted_each_for_itself():
    """Beside others with keys of their own, a channel has the curve that it has alone."""
    rows = waves(TIMES)
    keys = np.concatenate([keys_of(*frames) for frames in ((7, 8, 20), (), (15,))], axis=1)
    samples, together = fitted(rows, keys)
    for channel in range(3):
        _, alone = fitted(rows[:, [channel]], keys[:, [channel]])
        np.testing.assert_allclose(together.coming[:, [channel]], alone.coming, atol=1e-12)
        some = samples.of(np.array([channel]))
        np.testing.assert_array_equal(some.slopes, samples.slopes[:, [channel]])


def test_equivariance_to_scale_shift_and_time():
    rows, keys = waves(TIMES), keys_of(7, 8, 20, channels=3)
    rows[12:, 0] += 3.0  # a step
    _, tangents = fitted(rows, keys)
    _, other = fitted(5.0 - 30.0 * rows, keys, 7.0 + 0.25 * TIMES)
    for side in (0, 1):
        np.testing.assert_allclose(other[side], -120.0 * tangents[side], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("knee", [13.0, 13.4, 13.5])
def test_corners_stay(knee):
    """On a sample or between two; straight lines beside it stay straight."""
    rows = np.abs(TIMES - knee)[:, None, None]
    found = np.flatnonzero(smooth_curves.corners(rows, TIMES)[:, 0])
    assert found.tolist() == ([13] if knee == 13.0 else [13, 14])
    keys = keys_of(*found)
    samples, tangents = fitted(rows, keys)
    np.testing.assert_allclose(smooth_curves.through(samples, keys, tangents), rows, atol=1e-9)
    half = smooth_curves.half_way(samples, keys, tangents)
    np.testing.assert_allclose(half, 0.5 * (rows[1:] + rows[:-1]), atol=1e-9)
    assert tangents.coming[13, 0, 0] == pytest.approx(-1.0)


def test_smooth_waves_have_no_corners():
    for period in (10.0, 13.0, 40.0):
        rows = np.sin(2 * np.pi * np.arange(200.0) / period + 0.3)[:, None, None]
        inside = smooth_curves.corners(rows, np.arange(200.0))[3:-3, 0]
        assert inside.mean() == 0.0
