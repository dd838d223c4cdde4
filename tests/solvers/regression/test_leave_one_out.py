"""What all other pairs predict of each pair."""

import numpy as np

from solvers.regression.leave_one_out import leave_one_out


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
