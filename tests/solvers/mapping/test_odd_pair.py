"""A pair that is off is named with what answers by the others; pairs that agree or are all unlike are not."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.mapping.odd_pair import odd_pair
from solvers.regression.ridge import PoseRidge

FRAMES = 48


def cycle(rng, size, harmonics=1, noise=0.02):
    """(48, size) a closed motion about its mean, of unit length on average."""
    turn = 2 * np.pi * np.arange(FRAMES) / FRAMES
    ways = np.concatenate([(np.cos(k * turn), np.sin(k * turn)) for k in range(1, harmonics + 1)]).T
    rows = ways @ rng.normal(size=(2 * harmonics, size)) + noise * rng.normal(size=(FRAMES, size))
    return rows / np.sqrt((rows**2).sum(axis=1).mean())


@pytest.fixture
def motion(rng):
    """Features with a one, and coefficients of a target of another scale and mean."""
    rows = np.concatenate((cycle(rng, 30), np.ones((FRAMES, 1))), axis=1)
    return rows, 40.0 * cycle(rng, 12) + 7.0


@pytest.mark.parametrize("count", [6, 8, 12])
@pytest.mark.parametrize("off", [-12, 12, 24])
def test_the_pair_that_is_off_is_named(motion, count, off):
    rows, poses = motion
    at = np.round(np.arange(count) * FRAMES / count).astype(int)
    assert odd_pair(rows[at], poses[at], poses) is None
    for bad in range(count):
        frames = at.copy()
        frames[bad] = (at[bad] + off) % FRAMES
        found = odd_pair(rows[at], poses[frames], poses)
        assert found.pair == bad and found.ratio > 2.8
        assert min(abs(found.answer - at[bad]), FRAMES - abs(found.answer - at[bad])) <= 4


def test_it_is_the_one_that_the_rest_without_it_miss(motion):
    """By learning again without each pair in turn."""
    rows, poses = motion
    at = np.arange(0, FRAMES, 6)
    frames = at.copy()
    frames[3] += 20
    found = odd_pair(rows[at], poses[frames], poses)
    missed = []
    for pair in range(len(at)):
        rest = np.arange(len(at)) != pair
        without = PoseRidge.fit(rows[at[rest]], poses[frames[rest]] - poses.mean(axis=0), noise=0.05)
        said = without.predict(rows[at[pair]]) + poses.mean(axis=0)
        missed.append(np.linalg.norm(said - poses[frames[pair]]))
        if pair == found.pair:
            assert found.answer == np.linalg.norm(poses - said, axis=1).argmin()
    assert found.pair == int(np.argmax(missed)) == 3


def test_order_scale_and_place_do_not_matter(motion, rng):
    rows, poses = motion
    at = np.arange(0, FRAMES, 6)
    frames = at.copy()
    frames[5] = (frames[5] + 24) % FRAMES
    first, order = odd_pair(rows[at], poses[frames], poses), rng.permutation(8)
    other = odd_pair(rows[at][order], 1e-3 * poses[frames][order] - 5.0, 1e-3 * poses - 5.0)
    assert order[other.pair] == first.pair and other.answer == first.answer
    assert other.ratio == pytest.approx(first.ratio)


def test_pairs_that_tell_nothing_of_each_other_are_not_named(rng):
    rows = np.concatenate((rng.normal(size=(10, 60)) / np.sqrt(60), np.ones((10, 1))), axis=1)
    poses = rng.normal(size=(10, 12))
    assert odd_pair(rows, poses, poses) is None
    assert odd_pair(rows[:4], poses[:4], poses) is None
    assert odd_pair(rows[[0] * 6], poses[[0] * 6], poses) is None
    with pytest.raises(InputError, match="two"):
        odd_pair(rows[:1], poses[:1], poses)


@pytest.mark.parametrize("count", [6, 8, 12])
@pytest.mark.parametrize("off", [-20, 20])
def test_time_tells_where_poses_do_not(rng, count, off):
    """Of two rounds of a cycle six pairs were too few, and another round as good as the right one."""
    rows = np.concatenate((np.tile(cycle(rng, 30), (2, 1)), np.ones((2 * FRAMES, 1))), axis=1)
    poses = np.tile(cycle(rng, 12), (2, 1))
    at = np.round(np.linspace(0, 2 * FRAMES - 1, count)).astype(int)
    order = rng.permutation(count)
    right = np.stack((at + 101.0, at), axis=1)
    assert odd_pair(rows[at], poses[at], poses, right) is None
    for bad in range(1, count - 1):
        frames = at.copy()
        frames[bad] += off
        if not 0 <= frames[bad] < 2 * FRAMES:
            continue
        times = np.stack((at + 101.0, frames), axis=1)
        found = odd_pair(rows[at], poses[frames], poses, times)
        assert found.pair == bad and abs(found.answer - at[bad]) <= 4
        again = odd_pair(rows[at][order], poses[frames][order], poses, times[order])
        assert order[again.pair] == bad and again.answer == found.answer


def test_without_time_or_order_poses_alone_tell(motion, rng):
    """Pairs that were performed have no time, and those of a cycle that is gone through twice do not go on."""
    rows, poses = motion
    at, frames = np.arange(0, FRAMES, 6), np.arange(0, FRAMES, 6)
    frames[5] = (frames[5] + 24) % FRAMES
    expected = odd_pair(rows[at], poses[frames], poses)
    performed = np.stack((np.where(at == 12, np.nan, at), frames), axis=1)
    assert odd_pair(rows[at], poses[frames], poses, performed) == expected
    mixed = np.stack((rng.permutation(len(at)) * 6.0, frames), axis=1)
    assert odd_pair(rows[at], poses[frames], poses, mixed) == expected
