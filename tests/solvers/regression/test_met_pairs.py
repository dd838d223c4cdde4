"""A map meets its pairs, is the ridge regression far from them, and averages what nothing tells apart."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.regression.met_pairs import MetPairs, misses
from solvers.regression.ridge import PoseRidge, contradiction

MET = 0.01  # of the distance from the mean pose


def cycle(count, size=12, rng=None):
    """Features (count, P) around a cycle of length 1, their last one 1, and coefficients (count, 4) that go along."""
    rng = np.random.default_rng(0) if rng is None else rng
    phase = 2 * np.pi * np.arange(count) / count
    waves = np.stack((np.cos(phase), np.sin(phase), 0.4 * np.cos(2 * phase), 0.4 * np.sin(2 * phase)), axis=1)
    plane = np.linalg.qr(rng.normal(size=(size, 4)))[0]
    return np.column_stack((waves @ plane.T, np.ones(count))), waves @ np.diag([2.0, 2.0, 1.0, 1.0])


@pytest.mark.parametrize("step", [12, 6, 3, 1])
def test_pairs_are_met_where_the_ridge_misses_them(step):
    """From six pairs of a cycle to all its frames."""
    rows, coefficients = (values[::step] for values in cycle(72))
    found, left = (misses(of.fit(rows, coefficients).predict(rows), coefficients).max() for of in (MetPairs, PoseRidge))
    assert found < MET and left > 100 * found


def test_poses_between_the_pairs_are_no_worse():
    rows, coefficients = cycle(72)
    for step in (12, 9, 6):
        away = [
            np.linalg.norm(of.fit(rows[::step], coefficients[::step]).predict(rows) - coefficients, axis=1).mean()
            for of in (MetPairs, PoseRidge)
        ]
        print(step, away)
        assert away[0] < away[1]


def test_without_a_share_it_is_the_ridge_and_far_away_as_well(rng):
    rows, coefficients = (values[::12] for values in cycle(72))
    ridge, at = PoseRidge.fit(rows, coefficients), np.column_stack((rng.normal(0, 0.4, (50, 12)), np.ones(50)))
    np.testing.assert_allclose(MetPairs.fit(rows, coefficients, 0.0).predict(at), ridge.predict(at), atol=1e-12)
    far = rows * [[3.0]] - np.eye(13)[12] * 2.0
    apart = np.abs(MetPairs.fit(rows, coefficients).predict(far) - ridge.predict(far)).max()
    assert apart < 0.01 * np.abs(coefficients).max()
    whole, half = (misses(MetPairs.fit(rows, coefficients, of).predict(rows), coefficients).max() for of in (1.0, 0.5))
    assert 10 * whole < half < misses(ridge.predict(rows), coefficients).max()


def test_order_and_turns_of_the_features_change_nothing(rng):
    rows, coefficients = (values[::9] for values in cycle(72))
    at = rows + np.column_stack((0.2 * rng.normal(size=(8, 12)), np.zeros(8)))
    found, order = MetPairs.fit(rows, coefficients).predict(at), rng.permutation(8)
    np.testing.assert_allclose(MetPairs.fit(rows[order], coefficients[order]).predict(at), found, atol=1e-10)
    turn = np.eye(13)
    turn[:12, :12] = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    np.testing.assert_allclose(MetPairs.fit(rows @ turn, coefficients).predict(at @ turn), found, atol=1e-10)
    one_by_one = [MetPairs.fit(rows, coefficients).predict(row) for row in at]
    np.testing.assert_allclose(one_by_one, found, atol=1e-12)


def test_a_pair_more_between_two_frames_of_the_source_is_met_too():
    """As far apart as frames of a slow clip are, and where the target goes along with the source."""
    rows, coefficients = cycle(720)
    picks = np.sort(np.concatenate((np.arange(0, 720, 120), np.arange(0, 720, 120) + 2)))
    fitted = MetPairs.fit(rows[picks], coefficients[picks])
    assert misses(fitted.predict(rows[picks]), coefficients[picks]).max() < MET
    away = np.linalg.norm(fitted.predict(rows) - coefficients, axis=1)
    ridge = PoseRidge.fit(rows[picks], coefficients[picks])
    assert away.max() < np.linalg.norm(ridge.predict(rows) - coefficients, axis=1).max()


@pytest.mark.parametrize("apart", [0.0, 1e-6, 1e-3, 1e-2, 1e-1, 1.0])
def test_contradicting_pairs_neither_break_the_others_nor_swing_beyond_what_they_ask(apart):
    """Two pairs ever nearer in the source, opposite in the target: averaged, and met where they are apart."""
    rows, coefficients = (values[::12] for values in cycle(72))
    other = rows[0] + apart * np.eye(13)[0]
    rows, coefficients = np.vstack((rows, other)), np.vstack((coefficients, -coefficients[0]))
    fitted = MetPairs.fit(rows, coefficients)
    found = fitted.predict(rows)
    assert misses(found, coefficients)[1:6].max() < MET
    np.testing.assert_allclose(found[[0, 6]].mean(axis=0), 0.0, atol=0.1 * np.linalg.norm(coefficients[0]))
    assert contradiction(rows, coefficients).serious == (apart < 1.0)
    assert (misses(found, coefficients)[[0, 6]] > 0.5).all() if apart < 1.0 else misses(found, coefficients).max() < MET
    along = rows[0] + np.linspace(-1, 1, 2001)[:, None] * np.eye(13)[0]
    swing, usual = (
        np.linalg.norm(of.predict(along), axis=1).max() for of in (fitted, PoseRidge.fit(rows, coefficients))
    )
    print(apart, swing, usual)
    assert swing < max(2.0 * usual, 2.0 * np.linalg.norm(coefficients[0]))


def test_misses_are_over_the_distance_from_the_mean_pose():
    poses = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 1.0]])
    found = misses(poses + [[0.0, 0.5], [0.0, 0.01], [0.1, 0.0]], poses)
    np.testing.assert_allclose(found[[0, 2]], 0.1)
    assert 0.1 < found[1] < 1.0
    assert misses(np.zeros((2, 3)), np.zeros((2, 3))).max() == 0.0


def test_bad_input_is_named():
    rows, coefficients = cycle(6)
    for share in (-0.1, 1.1, np.nan):
        with pytest.raises(InputError, match="share from 0 to 1"):
            MetPairs.fit(rows, coefficients, share)
    with pytest.raises(InputError, match="two pairs"):
        MetPairs.fit(rows[:1], coefficients[:1])
    with pytest.raises(InputError, match="target pose of pair 2"):
        MetPairs.fit(rows, np.where(np.arange(6)[:, None] == 1, np.nan, coefficients))
