"""Feet on a new ground: what pushes them while they stand, how they swing, and what hips go down for."""

import numpy as np
import pytest

from solvers.adapt.present_places import present_places
from solvers.adapt.solve import AdaptOptions, SurfaceUse, adapt
from solvers.adapt.stances import _eased
from solvers.adapt.stood_pushes import stood_pushes
from solvers.adapt.swing_leads import swing_leads
from solvers.adapt.swings import swings
from solvers.adapt.terms import AdaptTerms
from tests.adapt_bound import gap
from tests.adapt_ground import RISE, TREAD, bound_march, stairs

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


def test_swings_go_at_one_speed():
    """Half way no faster than needed for what the ends take, and as they come so they go."""
    share = np.linspace(0.0, 1.0, 2001)
    way = _eased(share)
    speed = np.diff(way) / np.diff(share)
    np.testing.assert_allclose(way + way[::-1], 1.0, atol=1e-12)
    assert speed.min() >= 0 and speed.max() < 1.45 and speed[[0, -1]].max() < 0.01
    assert np.ptp(speed[700:1300]) < 1e-9


def test_hips_go_down_for_legs_that_stand(walk, standing):
    """Hanging 40 cm too high over a swinging foot costs nothing; over a standing one as much as before."""
    terms = AdaptTerms(walk, USES, AdaptOptions(surfaces=USES))
    everything = slice(None)
    targets = walk.tree.from_track(walk.track.positions)
    stances = standing.stances
    foot = stances.joints[0]
    swings = (standing.swinging(everything)[:, foot] > 0.9).all(axis=1)
    stand = stances.weights[(stances.joints == foot).all(axis=1)].max(axis=0) == 1.0
    assert swings.any() and stand.any() and not (swings & stand).any()
    targets[np.isin(walk.tree.order, np.flatnonzero(foot)), 2] -= 0.4
    before, now = (terms.posture.lack(everything, targets, given)[0] for given in (None, standing))
    assert now[swings].max() < 0.1 * before[swings].min()
    np.testing.assert_array_equal(now[stand], before[stand])


def leads(walk, standing, now=None, rows=slice(None), gravity=(0.0, 0.0, -1.0)):
    now = standing.frames([stairs().state(0)])[0] if now is None else now
    return swing_leads(standing, now, rows, np.array(gravity), walk.scale)


def test_feet_that_swing_up_lead_and_down_trail(walk, standing):
    found = leads(walk, standing)
    swinging, stances = standing.swinging(slice(None)) > 0, standing.stances
    assert np.abs(found[~swinging]).max() < 1e-12 and found[..., 1].min() > -1e-12
    assert 0.04 * walk.scale < found[..., 1].max() <= 0.05 * walk.scale
    assert np.abs(found[..., [0, 2]]).max() < 1e-12
    down = standing.origins - (standing.frames([stairs().state(0)])[0] - standing.origins)
    assert gap(leads(walk, standing, down), -found) < 1e-12
    assert not leads(walk, standing, standing.origins[None] + [0.0, 0.0, 0.3]).any()
    rows = slice(20, 31)
    np.testing.assert_array_equal(leads(walk, standing, rows=rows), found[rows])
    assert len(stances) > 4


def test_an_ankle_is_no_nearer_to_a_riser_than_to_its_tread(walk):
    """What is nearest to a foot stays what it stands on: stairs that go down have a riser behind each heel."""
    going_down = stairs(rise=-0.17)
    standing = present_places(walk, [going_down], USES).standing
    displaced = standing.frames([going_down.state(0)])[0][0] - standing.origins
    ankles = [k for k, name in enumerate(walk.track.skeleton.names) if name.startswith("ankle")]
    stances = standing.stances
    for foot, frame, move in zip(stances.joints, stances.middle, displaced, strict=True):
        ankle = next(k for k in ankles if foot[k])
        _, y, height = walk.track.positions[frame, ankle] + move
        steps = np.floor((y - 0.6) / TREAD) + 1.0
        if steps < 1.0:
            continue  # before the stairs
        above = height + 0.17 * steps
        assert y - (0.6 + TREAD * (steps - 1.0)) > min(above, 0.1) - 0.02


def test_swings_tell_how_fast_they_have_to_rise(walk, standing):
    now, down = standing.frames([stairs().state(0)])[0], np.array([0.0, 0.0, -1.0])
    found, own = swings(walk, standing, now, down), swings(walk, standing, standing.origins[None], down)
    assert np.abs(own.rises).max() < 1e-12 and own.alike.max() < 1e-9 and not own.fast(walk.scale).size
    # Strides of four treads, of two where they begin before the stairs.
    assert set((found.rises / RISE).round(3)) <= {0.0, 2.0, 3.0, 4.0} and found.rises.max() > 3.9 * RISE
    np.testing.assert_allclose(found.speeds, found.rises / (found.last - found.first) / walk.dt)
    first = found.fast(walk.scale)
    assert first.size and (found.speeds[first] > 1.2 * walk.scale).all() and (np.diff(found.speeds[first]) <= 0).all()
    assert not swings(walk, standing, now, down).fast(10.0).size


def test_no_path_of_a_swing_takes_smaller_steps_than_the_least(walk, standing):
    """Straight and even it takes just as much; grown like the way, the largest step is as long as it says."""
    now, down = standing.frames([stairs().state(0)])[0], np.array([0.0, 0.0, -1.0])
    found = swings(walk, standing, now, down)
    positions = adapt(walk, [stairs()], AdaptOptions(surfaces=USES)).positions
    for joint, first, last, least, alike in zip(
        found.joints, found.first, found.last, found.least, found.alike, strict=True
    ):
        ways = (p[first : last + 1, joint] for p in (walk.track.positions, positions))
        before, after = (np.linalg.norm(np.diff(way, axis=0), axis=1) for way in ways)
        assert (after - before).max() > least - 0.002 and least <= alike + 1e-9


def test_what_stands_under_an_upright_body_is_followed_closely(walk, standing):
    """Hips that are too high would drag feet along; nothing else is asked for more."""
    terms = AdaptTerms(walk, USES, AdaptOptions(surfaces=USES))
    everything = slice(None)
    joints = walk.tree.from_track(walk.track.positions)
    hold = np.zeros((1, len(walk.samples.child), joints.shape[-1]))
    _, before = terms.following(everything, joints, hold)
    terms.stand(standing)
    _, after = terms.following(everything, joints, hold)
    stands = standing.stands(everything)
    np.testing.assert_array_equal(walk.tree.to_track((after - before)[:, None])[..., 0] > 0, stands)
    assert stands.any() and not stands[:, ~standing.stances.joints.any(axis=0)].any()
