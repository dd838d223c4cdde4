"""Controls that go where their carriers are carried, without an evaluation."""

import numpy as np
import pytest

from solvers.controls.closed_form import arrivals, carried_channels, nearest_carriers, rigid, rigid_inverse
from solvers.rotations import rotation_vectors as rotvec
from tests.control_toys import CONTROLS, RIDERS, Toy

FRAMES = 9


@pytest.fixture(scope="module")
def toy():
    return Toy.build()


def moved_rigidly(rng, count):
    out = np.tile(np.eye(4), (count, 1, 1))
    out[:, :3, :3] = rotvec.exp(rng.normal(0.0, 0.5, (count, 3)))
    out[:, :3, 3] = rng.normal(0.0, 0.3, (count, 3))
    return out


def test_what_stays_where_it_is_keeps_its_channels(toy):
    rng, switch = np.random.default_rng(0), np.zeros(FRAMES)
    channels = toy.moved(rng, FRAMES)
    pose = toy.evaluate(channels, switch)
    still = np.zeros(len(CONTROLS), bool)
    same = carried_channels(
        toy.controls, toy.stepper, channels, pose, pose[:, toy.controls.carriers], toy.controls.riders[0], still
    )
    assert np.abs(toy.stepper.between(channels, same)).max() < 1e-9


def test_arms_hands_and_feet_come_to_their_targets(toy):
    """The arm's frame turns with nothing and is placed by the chest, which is known once it was evaluated."""
    rng, switch = np.random.default_rng(1), np.zeros(FRAMES)
    source = toy.moved(rng, FRAMES)
    goal = toy.moved(rng, FRAMES)
    for name in ("torso", "hips", "chest"):
        k = list(CONTROLS).index(name)
        goal.location[:, k], goal.rotation[:, k] = source.location[:, k], source.rotation[:, k]
    pose, targets = toy.evaluate(source, switch), toy.evaluate(goal, switch)[:, toy.controls.carriers]
    channels, still = source, np.array([name == "foot" for name in CONTROLS])
    for _ in range(3):
        channels = carried_channels(
            toy.controls, toy.stepper, channels, pose, targets, toy.controls.riders[0], still
        )  # fmt: skip
        pose = toy.evaluate(channels, switch)
    off = np.abs(toy.stepper.between(goal, channels)).max(axis=(0, 2))
    assert off[[list(CONTROLS).index(name) for name in RIDERS]].max() < 1e-6


def test_carriers_below_one_that_is_turned_go_along():
    rng = np.random.default_rng(2)
    parents = np.array([-1, 0, 1, 1])
    carried = np.stack([moved_rigidly(rng, FRAMES) for _ in parents], axis=1)
    targets = np.stack([moved_rigidly(rng, FRAMES) for _ in parents], axis=1)
    turned, placed = np.array([False, True, False, False]), np.zeros(4, bool)
    found = arrivals(carried, targets, parents, turned, placed)
    assert np.allclose(found[:, 0], carried[:, 0])
    assert np.allclose(found[:, 1, :3, :3], targets[:, 1, :3, :3])
    assert np.allclose(found[:, 1, :3, 3], carried[:, 1, :3, 3])
    for k in (2, 3):
        assert np.allclose(
            rigid_inverse(found[:, 1]) @ found[:, k], rigid_inverse(carried[:, 1]) @ carried[:, k], atol=1e-9
        )
    assert np.allclose(arrivals(carried, carried, parents, ~placed, ~placed), carried)


def test_rigid_takes_scales_away():
    rng = np.random.default_rng(3)
    matrices = moved_rigidly(rng, FRAMES)
    assert np.allclose(rigid(matrices @ np.diag((2.0, 0.5, 3.0, 1.0))), matrices, atol=1e-9)
    assert np.allclose(rigid_inverse(matrices) @ matrices, np.eye(4), atol=1e-9)


def test_a_bone_that_rides_on_nothing_goes_with_the_one_above(toy):
    rides = np.full(len(toy.controls.rig.names), -1)
    rides[3] = 7
    assert list(nearest_carriers(toy.controls.rig, rides)) == list(rides)
