"""The box is never left, is not felt well inside it, and its soft edge is smooth."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.regression.latent_box import EDGES, LatentBox


@pytest.fixture
def learnt(rng):
    return rng.normal(size=(40, 6)) * [5, 3, 1, 0.1, 1e-6, 0.0] + [1, -100, 0, 0, 3, 7]


@pytest.mark.parametrize("edge", ["soft", "hard"])
def test_never_left(rng, learnt, edge):
    box = LatentBox.around(learnt, edge)
    far = np.concatenate((rng.normal(size=(5000, 6)) * 1e3, np.full((1, 6), 1e300), np.full((1, 6), -np.inf)))
    kept = box.keep(far)
    assert (kept >= box.low).all() and (kept <= box.high).all()


@pytest.mark.parametrize("edge", EDGES)
def test_unchanged_well_inside(rng, learnt, edge):
    box = LatentBox.around(learnt, edge)
    centre, half = 0.5 * (box.low + box.high), 0.5 * (box.high - box.low)
    inside = centre + rng.uniform(-0.899, 0.899, (500, 6)) * half
    assert np.array_equal(box.keep(inside)[:, :5], inside[:, :5])
    assert np.array_equal(box.keep(inside[0]), box.keep(inside)[0])


def test_soft_edge_is_smooth_and_rises():
    box = LatentBox(np.array([-2.0]), np.array([4.0]))
    way = np.linspace(-8, 10, 20001)[:, None]
    kept = box.keep(way)[:, 0]
    slope = np.diff(kept) / np.diff(way[:, 0])
    assert (slope >= 0).all() and slope.max() < 1 + 1e-9
    assert np.abs(np.diff(slope)).max() < 0.01
    assert kept[-1] == pytest.approx(4.0) and kept[0] == pytest.approx(-2.0)
    hard = LatentBox(box.low, box.high, "hard").keep(way)[:, 0]
    assert np.abs(kept - hard).max() < 0.1 * 3.0


def test_no_edge_lets_everything_through_and_an_unknown_one_is_named(rng, learnt):
    far = rng.normal(size=(10, 6)) * 1e3
    assert np.array_equal(LatentBox.around(learnt, "none").keep(far), far)
    with pytest.raises(InputError, match="'round'.*soft, hard, none"):
        LatentBox.around(learnt, "round")


def test_poses_that_it_must_leave_alone(rng):
    """Where they come near the edge it begins at them and ends where it did; elsewhere it is as it was."""
    learnt = rng.uniform(-1, 1, (40, 3))
    box, poses = LatentBox.around(learnt), learnt[[np.argsort(learnt[:, 0])[-3], np.argmin(learnt[:, 1])]]
    poses[:, 2] = 0.0
    reaching = box.reaching(poses)
    np.testing.assert_allclose(reaching.keep(poses), poses, atol=1e-12)
    assert np.abs(box.keep(poses) - poses).max() > 0.01
    line = np.linspace(-2, 2, 4001)[:, None] * np.ones(3)
    kept = reaching.keep(line)
    assert (kept >= box.low).all() and (kept <= box.high).all() and (np.diff(kept, axis=0) >= 0.0).all()
    np.testing.assert_allclose(kept[:, 2], box.keep(line)[:, 2])
    np.testing.assert_allclose(box.reaching(poses, 0.0).keep(line), box.keep(line))
    half = box.reaching(poses, 0.5).keep(poses)
    assert (np.abs(half - poses) <= np.abs(box.keep(poses) - poses) + 1e-12).all() and not np.allclose(half, poses)


@pytest.mark.parametrize("edge", ["hard", "none"])
def test_other_edges_leave_poses_inside_alone_as_they_are(edge, rng):
    learnt = rng.uniform(-1, 1, (40, 3))
    box = LatentBox.around(learnt, edge)
    assert box.reaching(learnt[:5]) is box
    np.testing.assert_array_equal(box.keep(learnt), learnt)
