"""The published cost of pairing two poses, against sampled linear maps."""

import numpy as np
import pytest

from benchmarks.baselines.linear_map_cost import NOISE, densify_by_linear_maps, linear_map_cost
from solvers.transfer.correspondence import ClipRows


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def test_the_linear_map_is_that_of_the_posterior(rng):
    """Mean and spread of M x over maps weighted by how well they explain the pairs."""
    source, target = rng.normal(size=(30, 2)), rng.normal(size=(30, 1))
    source, target = (rows / np.sqrt(np.mean(rows**2)) for rows in (source, target))
    known, answers = source[:2], target[:2]
    maps = rng.normal(size=(400_000, 2))
    misfit = maps @ known.T - answers[:, 0]
    weights = np.exp(-0.5 * (misfit**2).sum(axis=1) / NOISE)
    weights /= weights.sum()
    cost = linear_map_cost((source,), (target,), (known,), (answers,))
    for row in (2, 3):
        images = maps @ source[row]
        mean = weights @ images
        variance = weights @ (images - mean) ** 2
        np.testing.assert_allclose(cost[row], 0.5 * (target[:, 0] - mean) ** 2 / variance, rtol=0.1, atol=0.05)


def test_a_still_part_tells_nothing_to_the_linear_map(rng):
    source, target = rng.normal(size=(6, 2)), rng.normal(size=(5, 2))
    still = np.zeros((6, 3))
    one = linear_map_cost((source,), (target,), (source[:2],), (target[:2],))
    both = linear_map_cost((source, still), (target, target), (source[:2], still[:2]), (target[:2], target[:2]))
    np.testing.assert_array_equal(one, both)


def test_units_do_not_matter(rng):
    rows, others = rng.normal(size=(12, 4)), rng.normal(size=(10, 3))

    def cost(unit, other_unit):
        mine, theirs = unit * rows, other_unit * others
        return linear_map_cost((mine,), (theirs,), (mine[:5],), (theirs[:5],))

    np.testing.assert_allclose(cost(9.0, 0.1), cost(1.0, 1.0), rtol=1e-6)


def test_it_passes_through_the_pairs(rng):
    rows = np.cumsum(rng.normal(size=(30, 3)), axis=0)
    pairs = np.array([[0.0, 0.0], [11.0, 9.0], [29.0, 29.0]])
    [dense] = densify_by_linear_maps([ClipRows((rows,), (rows + 0.01 * rng.normal(size=rows.shape),), pairs)])
    np.testing.assert_allclose(dense.target_rows[pairs[:, 0].astype(int)], pairs[:, 1], atol=1e-9)
    assert (np.diff(dense.target_rows) >= 0.0).all()
