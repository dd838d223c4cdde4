"""Key poses are met, whatever affine space they are written in; beyond them it is the affine map of least squares."""

import numpy as np
import pytest

from benchmarks.baselines.affine_pose_map import AffinePoseMap
from solvers.core.errors import InputError


@pytest.fixture
def keys(rng):
    return rng.normal(size=(6, 9)) + 3.0, rng.normal(size=(6, 4))


def test_key_poses_are_met(keys):
    mapping = AffinePoseMap.fit(*keys)
    np.testing.assert_allclose(mapping.predict(keys[0]), keys[1], atol=1e-10)
    np.testing.assert_allclose(mapping.weights(keys[0]), np.eye(6), atol=1e-10)
    np.testing.assert_allclose(mapping.predict(keys[0][2]), keys[1][2], atol=1e-10)


def test_weights_sum_to_one_and_give_the_pose_with_the_least_norm(keys, rng):
    """Of more keys than the space has dimensions, so that there are many weights to choose from."""
    source = rng.normal(size=(12, 5))
    at = rng.normal(size=(7, 5)) * 4.0
    weights = AffinePoseMap.fit(source, rng.normal(size=(12, 2))).weights(at)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(weights @ source, at, atol=1e-10)
    conditions = np.concatenate((source.T, np.ones((1, 12))))
    least = np.linalg.lstsq(conditions, np.concatenate((at, np.ones((7, 1))), axis=1).T, rcond=None)[0].T
    np.testing.assert_allclose(weights, least, atol=1e-10)
    np.testing.assert_allclose(AffinePoseMap.fit(*keys).weights(rng.normal(size=(7, 9))).sum(axis=1), 1.0, atol=1e-12)


def test_another_affine_space_for_the_source_changes_nothing(keys, rng):
    turn, shift = rng.normal(size=(9, 9)), rng.normal(size=9)
    mixes = rng.normal(size=(20, 6))
    at = (mixes / mixes.sum(axis=1, keepdims=True)) @ keys[0]
    plain = AffinePoseMap.fit(*keys).predict(at)
    moved = AffinePoseMap.fit(keys[0] @ turn + shift, keys[1]).predict(at @ turn + shift)
    np.testing.assert_allclose(moved, plain, rtol=1e-7, atol=1e-7)


def test_the_nearest_mix_stands_for_a_pose_that_is_none(keys, rng):
    normal = np.linalg.svd(keys[0] - keys[0].mean(axis=0))[2][-1]
    mapping = AffinePoseMap.fit(*keys)
    np.testing.assert_allclose(mapping.predict(keys[0] + 5.0 * normal), keys[1], atol=1e-9)


def test_with_many_keys_it_is_the_affine_map_of_least_squares(rng):
    source, target = rng.normal(size=(40, 5)) + 1.0, rng.normal(size=(40, 3))
    ones = np.ones((40, 1))
    solved = np.linalg.lstsq(np.concatenate((source, ones), axis=1), target, rcond=None)[0]
    found = AffinePoseMap.fit(source, target).predict(source)
    np.testing.assert_allclose(found, np.concatenate((source, ones), axis=1) @ solved, atol=1e-10)


def test_equal_key_poses_share_their_weight(rng):
    source = np.repeat(rng.normal(size=(3, 5)), 2, axis=0)
    target = rng.normal(size=(6, 2))
    means = np.repeat(target.reshape(3, 2, 2).mean(axis=1), 2, axis=0)
    np.testing.assert_allclose(AffinePoseMap.fit(source, target).predict(source), means, atol=1e-10)


def test_bad_input_is_named(keys):
    source, target = keys
    for given, words in (
        ((source[:1], target[:1]), "two pairs and has 1"),
        ((source, target[:4]), "one row a pair"),
        ((source, np.where(np.arange(6)[:, None] == 2, np.nan, target)), "target pose of pair 3"),
    ):
        with pytest.raises(InputError, match=words):
            AffinePoseMap.fit(*given)
