"""Radial basis functions meet their pairs, go through lines along them, and are refused what is no pair."""

import numpy as np
import pytest

from benchmarks.baselines.rbf_pose_map import RbfPoseMap
from solvers.core.errors import InputError


def test_pairs_are_met_and_constants_kept(rng):
    rows, poses = rng.normal(size=(7, 40)), rng.normal(size=(7, 5))
    found = RbfPoseMap.fit(rows, poses)
    np.testing.assert_allclose(found.predict(rows), poses, atol=1e-9)
    level = RbfPoseMap.fit(rows, np.ones((7, 2)))
    np.testing.assert_allclose(level.predict(rng.normal(size=(4, 40))), 1.0, atol=1e-9)


def test_between_two_pairs_it_goes_straight():
    rows = np.array([[0.0, 0.0, 1.0], [2.0, 0.0, 1.0]])
    found = RbfPoseMap.fit(rows, np.array([[1.0], [5.0]])).predict(np.linspace(rows[0], rows[1], 5))
    np.testing.assert_allclose(found[:, 0], [1.0, 2.0, 3.0, 4.0, 5.0], atol=1e-9)


def test_too_few_pairs_are_refused():
    with pytest.raises(InputError, match="two"):
        RbfPoseMap.fit(np.ones((1, 3)), np.ones((1, 3)))
