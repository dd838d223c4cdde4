"""What it costs to pair two poses: against the formulas pose by pose."""

import numpy as np
import pytest

from solvers.transfer.association_cost import bridge_cost, regression_cost, unevenness
from solvers.transfer.pose_regression import PoseRegression


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def test_by_regressions(rng):
    source, target = tuple(rng.normal(size=(9, 4)) for _ in range(2)), tuple(rng.normal(size=(7, 3)) for _ in range(2))
    regressions = [PoseRegression.fit(a[:6], 5.0 * b[:6]) for a, b in zip(source, target, strict=True)]
    cost = regression_cost(regressions, source, target)
    assert cost.shape == (9, 7)
    for i in range(9):
        for j in range(7):
            expected = 0.0
            for regression, a, b in zip(regressions, source, target, strict=True):
                variance = regression.variance(a[i]) * regression.output_scale**2
                expected += 0.5 * ((b[j] - regression.predict(a[i])) ** 2).sum() / variance
            assert cost[i, j] == pytest.approx(expected, rel=1e-9)


def test_units_do_not_matter(rng):
    source, target = rng.normal(size=(12, 4)), rng.normal(size=(10, 3))
    known, answers = source[:5], target[:5]
    learnt = regression_cost([PoseRegression.fit(known, answers)], (source,), (target,))
    other = regression_cost([PoseRegression.fit(9 * known, 0.1 * answers)], (9 * source,), (0.1 * target,))
    np.testing.assert_allclose(other, learnt, rtol=1e-6)


def test_the_bridge():
    pairs = np.array([[2.0, 1.0], [12.0, 21.0], [16.0, 22.0]])
    cost = bridge_cost(pairs, (20, 25), 1.0 / 300.0)
    assert cost[7, 11] == 0.0 and cost[14].argmin() in (21, 22)
    assert cost[7, 15] == pytest.approx(150.0 * 16.0 / (20.0**2 * 0.25))
    assert cost[4, 8] == pytest.approx(150.0 * 9.0 / (20.0**2 * 0.2 * 0.8))
    np.testing.assert_array_equal(cost[[2, 12, 16], [1, 21, 22]], 0.0)
    assert np.isfinite(cost).all() and (cost >= 0.0).all()
    assert cost[12, 20] > 0.0 and cost[2, 2] > 0.0, "at a pair it is strong, not absent"
    assert not cost[:2].any() and not cost[17:].any()

    cost = bridge_cost(np.array([[0.0, 0.0], [0.25, 0.5], [0.5, 3.0], [9.0, 9.0]]), (10, 10), 0.01)
    assert np.isfinite(cost).all(), "between pairs that are near"


def test_unevenness_is_what_pairs_were_drawn_with(rng):
    """Without pairs between others it is the typical one; each even one lowers it, whatever the rates."""
    clips = []
    for share in rng.uniform(0.2, 0.8, 5000):
        away = 0.05 * np.sqrt(share * (1.0 - share)) * rng.normal()
        clips.append(np.array([[0.0, 0.0], [100.0 * share, 300.0 * (share + away)], [100.0, 300.0]]))
    assert unevenness(clips) == pytest.approx(0.05**2, rel=0.1)
    assert unevenness([np.array([[0.0, 5.0], [10.0, 90.0]])]) == pytest.approx(1.0 / 300.0)
    even = unevenness([np.array([[0.0, 0.0], [10.0, 30.0], [30.0, 90.0]])])
    assert 0.0 < even < 1.0 / 300.0
