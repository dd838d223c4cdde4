"""Feet that stand on a new ground are pushed as a whole, and by the same as long as they stand."""

import numpy as np
import pytest

from solvers.adapt.present_places import present_places
from solvers.adapt.solve import AdaptOptions, SurfaceUse, adapt
from solvers.adapt.stood_pushes import stood_pushes
from tests.adapt_bound import gap
from tests.adapt_ground import TREAD, bound_march, stairs

USES = (SurfaceUse(replaced="GRAVITY"),)


@pytest.fixture(scope="module")
def walk():
    """Steps of two treads."""
    return bound_march(stride=2 * TREAD, steps=6, step_frames=18)


@pytest.fixture(scope="module")
def standing(walk):
    return present_places(walk, [stairs()], USES).standing


@pytest.fixture(scope="module")
def pushed(walk, standing):
    """Pushes (J, 3, F), the same spread over time, and what is followed."""
    rng = np.random.default_rng(3)
    pushes, spread = 0.05 * rng.normal(size=(2, len(walk.tree.order), 3, len(walk.track.positions)))
    return pushes, spread, stood_pushes(standing, walk.tree, pushes, spread, walk.dt)


def test_a_foot_is_pushed_as_a_whole_all_the_time_that_it_stands(walk, standing, pushed):
    out = walk.tree.to_track(pushed[2])
    stances = standing.stances
    for foot, first, last in zip(stances.joints, stances.first, stances.last, strict=True):
        here = out[first : last + 1, foot]
        assert np.ptp(here.reshape(-1, 3), axis=0).max() < 1e-12


def test_what_does_not_stand_is_pushed_as_it_was(walk, standing, pushed):
    feet = walk.tree.from_track(standing.stances.joints.any(axis=0)[None, :, None])[:, 0, 0]
    _, spread, out = pushed
    assert not feet.all() and np.array_equal(out[~feet], spread[~feet])


def test_pushes_that_a_stance_agrees_on_are_followed_whole(walk, standing):
    """What pushes a foot alike at all its frames is no swing that has spread."""
    pushes = np.zeros((len(walk.tree.order), 3, len(walk.track.positions)))
    pushes[:, 0] = 0.02
    out = walk.tree.to_track(stood_pushes(standing, walk.tree, pushes, pushes, walk.dt))
    stances = standing.stances
    for foot, first, last in zip(stances.joints, stances.first, stances.last, strict=True):
        assert gap(out[first : last + 1, foot], [0.02, 0.0, 0.0]) < 1e-12


def test_feet_do_not_slide_on_stairs(walk, standing):
    """Swings give way to edges; the feet that they leave and come to stay where they are."""
    positions = adapt(walk, [stairs()], AdaptOptions(surfaces=USES)).positions
    touched = walk.touched.any(axis=0)
    both = touched[1:] & touched[:-1]
    steps = np.linalg.norm(np.diff(positions[..., :2], axis=0), axis=-1)[both]
    assert steps.mean() < 0.02 * walk.dt  # metres; the source's stand still
