"""A part's poses: they come back, distances of rows are metres, resolution does not matter."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.core.steps import result_of
from solvers.transfer.part_space import learn_part_steps

MASS = np.concatenate((np.full(20, 0.1), np.full(10, 0.7)))


@pytest.fixture
def poses(rng):
    ways = rng.normal(size=(6, 30, 3)) * np.geomspace(0.1, 0.01, 6)[:, None, None]
    return (rng.normal(size=(30, 3)) + np.einsum("fd,dnk->fnk", rng.normal(size=(25, 6)), ways)).astype(np.float32)


def learn(poses, mass=MASS, components=20):
    return result_of(learn_part_steps(poses, np.arange(len(mass)), mass, "Arm", components))


def test_poses_come_back(poses):
    space = learn(poses)
    assert space.components == 6 and learn(poses, components=4).components == 4
    assert np.abs(space.vertices_of(space.coefficients_of(poses)) - poses).max() < 1e-5
    one = space.vertices_of(space.coefficients_of(poses[3]))
    assert np.abs(one - poses[3]).max() < 1e-5 and one.dtype == np.float32


def test_distances_of_rows_are_those_of_the_vertices(poses):
    rows = learn(poses).coefficients_of(poses)
    apart = np.sqrt(np.sum((poses[4] - poses[9]) ** 2, axis=1) @ MASS / MASS.sum())
    assert np.linalg.norm(rows[4] - rows[9]) == pytest.approx(apart, rel=1e-5)


def test_a_pose_outside_is_told_by_the_nearest_inside(poses, rng):
    space = learn(poses, components=3)
    rows = space.coefficients_of(poses)

    def away(rows):
        return np.sum((space.vertices_of(rows) - poses) ** 2 * MASS[:, None], axis=(1, 2))

    for _ in range(10):
        assert np.all(away(rows) <= away(rows + rng.normal(0, 0.01, rows.shape)) + 1e-7)


def test_doubled_vertices_of_half_the_area_change_nothing(poses):
    twice = learn(np.concatenate((poses, poses[:, 20:]), axis=1), np.concatenate((MASS[:20], np.full(20, 0.35))))
    rows, other = learn(poses).coefficients_of(poses), twice.coefficients_of(np.concatenate((poses, poses[:, 20:]), 1))
    assert np.abs(np.abs(rows) - np.abs(other)).max() < 1e-4


def test_a_part_that_never_moves_is_named_and_a_torso_may_be_stiff(poses):
    still = np.tile(poses[0], (10, 1, 1))
    with pytest.raises(InputError, match="'Arm' never moves"):
        learn(still)
    space = result_of(learn_part_steps(still, np.arange(len(MASS)), MASS, "Torso", may_be_stiff=True))
    assert space.components == 0 and space.coefficients_of(poses).shape == (25, 0)
    assert np.abs(space.vertices_of(np.zeros((4, 0))) - poses[0]).max() < 1e-6
