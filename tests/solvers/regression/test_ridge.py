"""The dual form equals the primal formula and scikit-learn's; pairs that repeat or contradict are borne and named."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.regression.ridge import NOISE, PoseRidge, contradiction, posterior_variance


@pytest.fixture
def pairs(rng):
    rows = np.concatenate((rng.normal(0, 0.3, (5, 12)), np.ones((5, 1))), axis=1)
    return rows, rng.normal(size=(5, 4))


@pytest.mark.parametrize("noise", [0.05, 1.0])
def test_mean_and_variance_are_those_of_equation_3_and_of_scikit_learn(pairs, rng, noise):
    process = pytest.importorskip("sklearn.gaussian_process")
    rows, coefficients = pairs
    ridge, at = PoseRidge.fit(rows, coefficients, noise), rng.normal(size=(20, 13))
    inverse = np.linalg.inv(rows.T @ rows / noise + np.eye(13))
    np.testing.assert_allclose(ridge.predict(at), at @ inverse @ rows.T @ coefficients / noise, atol=1e-12)
    np.testing.assert_allclose(ridge.variance(at), np.einsum("fp,pq,fq->f", at, inverse, at), atol=1e-12)
    np.testing.assert_allclose(ridge.predict(at[3]), ridge.predict(at)[3], atol=1e-12)
    np.testing.assert_allclose(ridge.variance(at[3]), ridge.variance(at)[3], atol=1e-12)
    np.testing.assert_allclose(posterior_variance(at, rows[:0]), (at**2).sum(axis=1))
    kernel = process.kernels.DotProduct(0.0, "fixed")
    theirs = process.GaussianProcessRegressor(kernel, alpha=noise, optimizer=None).fit(rows, coefficients[:, 0])
    mean, deviation = theirs.predict(at, return_std=True)
    np.testing.assert_allclose(ridge.predict(at)[:, 0], mean, atol=1e-9)
    np.testing.assert_allclose(ridge.variance(at), deviation**2, atol=1e-9)


def test_at_the_pairs_the_map_is_nearly_theirs_and_sure(pairs):
    ridge = PoseRidge.fit(*pairs, noise=1e-9)
    np.testing.assert_allclose(ridge.predict(pairs[0]), pairs[1], atol=1e-6)
    np.testing.assert_allclose(ridge.variance(pairs[0]), 0.0, atol=1e-6)


def test_repeated_pairs_change_nothing_but_their_weight(pairs):
    rows, coefficients = pairs
    twice = PoseRidge.fit(np.tile(rows, (2, 1)), np.tile(coefficients, (2, 1)), 2 * NOISE)
    np.testing.assert_allclose(twice.predict(rows), PoseRidge.fit(rows, coefficients).predict(rows), atol=1e-10)
    assert contradiction(np.tile(rows, (2, 1)), np.tile(coefficients, (2, 1))).disagreement < 0.5


def test_contradicting_pairs_are_averaged_and_named(pairs):
    rows, coefficients = pairs[0].copy(), pairs[1]
    rows[3] = rows[1]
    ridge = PoseRidge.fit(rows, coefficients, 1e-6)
    np.testing.assert_allclose(ridge.predict(rows[1]), coefficients[[1, 3]].mean(axis=0), atol=1e-4)
    found = contradiction(rows, coefficients)
    assert (found.first, found.second) == (1, 3) and found.serious
    assert not contradiction(*pairs).serious


def test_two_pairs_leave_out_the_share_that_is_said(rng):
    rows = np.array([[0.3, 0.0, 1.0], [0.0, 0.1, 1.0]])
    found = contradiction(rows, rng.normal(size=(2, 3)))
    half = 0.5 * (0.3**2 + 0.1**2)
    assert found.disagreement == pytest.approx(NOISE / (NOISE + half), rel=0.2)


def test_equal_targets_do_not_contradict_and_bad_input_is_named(pairs):
    rows, coefficients = pairs
    assert contradiction(rows, np.ones((5, 4))).disagreement < 0.1
    for source, target, noise, words in (
        (rows[:1], coefficients[:1], NOISE, "two pairs and has 1"),
        (rows[:0], coefficients[:0], NOISE, "two pairs and has 0"),
        (rows, coefficients[:4], NOISE, "one row a pair"),
        (rows, np.where(np.arange(5)[:, None] == 2, np.nan, coefficients), NOISE, "target pose of pair 3"),
        (rows, coefficients, 0.0, "positive"),
    ):
        with pytest.raises(InputError, match=words):
            PoseRidge.fit(source, target, noise)
