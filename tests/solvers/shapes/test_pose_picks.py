"""Poses that stand for a motion: spread, none twice."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.shapes.pose_picks import spread_poses


def test_clusters_are_each_picked_once(rng):
    centres = 10.0 * rng.normal(size=(5, 8))
    poses = np.repeat(centres, 30, axis=0) + 0.01 * rng.normal(size=(150, 8))
    assert sorted(spread_poses(poses, 5) // 30) == [0, 1, 2, 3, 4]


def test_it_begins_with_the_usual_pose_and_goes_on_to_what_is_unlike(rng):
    poses = rng.normal(size=(200, 4))
    poses[17], poses[99] = poses.mean(axis=0), 50.0
    picked = spread_poses(poses, 6)
    nearest = np.linalg.norm(poses - poses.mean(axis=0), axis=1).argmin()
    assert picked[0] == nearest and picked[1] == 99 and len(set(picked)) == 6


def test_more_picks_keep_the_earlier_ones_and_what_repeats_is_not_picked_twice(rng):
    poses = rng.normal(size=(60, 3))
    assert np.array_equal(spread_poses(poses, 4), spread_poses(poses, 9)[:4])
    assert len(spread_poses(np.tile(poses[:6], (8, 1)), 20)) == 6
    assert len(spread_poses(np.ones((5, 2)), 3)) == 1
    with pytest.raises(InputError, match="at least one|At least one"):
        spread_poses(np.zeros((3, 2)), 0)
