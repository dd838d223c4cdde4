"""What all other pairs predict of each pair."""

import numpy as np

from solvers.regression.leave_one_out import leave_groups_out, leave_one_out


def test_it_is_what_learning_without_each_pair_gives(rng):
    """The mean and the variance of the process of the others, whose noise is the pair's own too."""
    rows, outputs, noise = rng.normal(size=(9, 4)), rng.normal(size=(9, 3)), 0.3
    covariances = rows @ rows.T + noise * np.eye(9)
    missed, unknown = leave_one_out(covariances, outputs)
    for pair in range(9):
        others = np.delete(np.arange(9), pair)
        weights = np.linalg.solve(covariances[np.ix_(others, others)], covariances[others, pair])
        assert np.abs(outputs[pair] - weights @ outputs[others] - missed[pair]).max() < 1e-12
        assert abs(covariances[pair, pair] - weights @ covariances[others, pair] - unknown[pair]) < 1e-12


def test_groups_are_left_out_together(rng):
    rows, outputs, groups = rng.normal(size=(9, 4)), rng.normal(size=(9, 3)), np.array([0, 0, 1, 2, 2, 2, 1, 3, 0])
    covariances = rows @ rows.T + 0.3 * np.eye(9)
    missed = leave_groups_out(covariances, outputs, groups)
    for group in range(4):
        out, others = groups == group, groups != group
        said = covariances[np.ix_(out, others)] @ np.linalg.solve(covariances[np.ix_(others, others)], outputs[others])
        assert np.abs(outputs[out] - said - missed[out]).max() < 1e-12
    assert (
        np.abs(leave_groups_out(covariances, outputs, np.arange(9)) - leave_one_out(covariances, outputs)[0]).max()
        < 1e-12
    )
