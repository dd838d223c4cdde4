"""What collisions push by, spread over time: smooth, to one side, as large as it was, and nothing from nothing."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.adapt.pushes import SPREAD_REACH, lasting, limited, spread

DT = 1 / 60


def bump(size, start=60, stop=80, frames=150):
    """(1, 3, F) metres along x during some frames."""
    out = np.zeros((1, 3, frames))
    out[0, 0, start:stop] = size
    return out


def test_what_is_not_pushed_or_always_by_the_same_stays_so(rng):
    assert np.array_equal(spread(np.zeros((4, 3, 30)), DT, 1e-4), np.zeros((4, 3, 30)))
    steady = np.repeat(rng.normal(size=(4, 3, 1)), 30, axis=-1)
    assert np.allclose(spread(steady, DT, 1e-9), steady, atol=1e-12)


def test_rounding_gives_no_direction(rng):
    """Beside a push, noise once decided where the rest of it went."""
    pushes = bump(0.2) + rng.normal(scale=1e-11, size=(1, 3, 150))
    assert np.abs(spread(pushes, DT, 1e-4) - spread(bump(0.2), DT, 1e-4)).max() < 1e-9


def test_a_push_begins_before_and_is_never_smaller_meanwhile():
    given = spread(bump(0.2), DT, 1e-4)[0, 0]
    assert (given[60:80] > 0.18).all() and 0.02 < given[54] < 0.2 and given[np.r_[:50, 90:150]].max() < 0.1
    reach = int(SPREAD_REACH / DT)
    assert np.abs(given[np.r_[: 60 - reach, 80 + reach : 150]]).max() < 1e-3 and np.abs(np.diff(given)).max() < 0.02


@pytest.mark.parametrize("small", [0.05, 0.1])
def test_the_side_of_the_deepest_frames_wins(small):
    """A frame that leaves by the other side does not take the body along for that frame."""
    pushes = bump(0.2)
    pushes[0, 0, 70] = -small
    given = spread(pushes, DT, 1e-4)[0, 0]
    assert given[62:78].min() > 0.15 and np.abs(np.diff(given)).max() < 0.03


def test_pushes_that_contradict_each_other_pass_through_nothing():
    pushes = bump(0.2, 0, 75) + bump(-0.2, 75, 150)
    given = spread(pushes, DT, 1e-4)[0, 0]
    assert np.all(np.diff(given) < 1e-12) and np.abs(given[74:76]).max() < 0.03
    assert given[50] > 0.19 and given[100] < -0.19


def test_turned_scaled_or_played_backwards_it_is_the_same(rng):
    pushes = rng.normal(size=(5, 3, 40)) * (rng.random((5, 1, 40)) < 0.4)
    given, turn = spread(pushes, DT, 1e-4), Rotation.random(random_state=rng).as_matrix()
    turned = np.einsum("ab,jbf->jaf", 3.0 * turn, pushes)
    assert np.allclose(spread(turned, DT, 3e-4), np.einsum("ab,jbf->jaf", 3.0 * turn, given))
    assert np.allclose(spread(pushes[..., ::-1], DT, 1e-4), given[..., ::-1])


def test_lasting_is_the_largest_around():
    values = np.zeros(40)
    values[20] = 1.0
    assert np.array_equal(np.flatnonzero(lasting(values, 0.1, DT)), np.arange(14, 27))
    assert np.array_equal(np.flatnonzero(lasting(values > 0, 0.1, DT)), np.arange(14, 27))


def test_limited_keeps_directions_and_what_is_small(rng):
    pushes = rng.normal(size=(5, 3, 40))
    given = limited(pushes, 1.5)
    before, after = (np.linalg.norm(values, axis=1) for values in (pushes, given))
    assert np.allclose(after, np.minimum(before, 1.5)) and np.allclose(np.cross(pushes, given, axis=1), 0)
    assert np.array_equal(limited(np.zeros((2, 3, 4)), 1.0), np.zeros((2, 3, 4)))
