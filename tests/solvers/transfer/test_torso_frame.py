"""The torso's frame: equivariant, upright at the first frame, indifferent to resolution and to the limbs."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.core.errors import InputError
from solvers.transfer.torso_frame import TorsoFrame, to_local
from tests.bendy_bodies import to_world

FRAMES = 12


@pytest.fixture
def bodies(rng):
    """A torso that bends a little while it travels and turns, then a limb that moves on its own."""
    torso = rng.normal(0, 0.3, (40, 3))
    shapes = torso + 0.02 * rng.normal(size=(FRAMES, 1, 1)) * rng.normal(size=(40, 3))
    turns = Rotation.from_rotvec(rng.normal(0, 0.6, (FRAMES, 3))).as_matrix()
    turns[0] = np.eye(3)
    limb = rng.normal(0, 1, (FRAMES, 10, 3))
    return to_world(np.concatenate((shapes, limb), axis=1), turns, rng.normal(0, 2, (FRAMES, 3)))


@pytest.fixture
def mask():
    return np.arange(50) < 40


def learnt(bodies, mask, mass=None):
    return TorsoFrame.learn(bodies, mask, np.ones(50) if mass is None else mass)


def test_frames_come_back(bodies, mask):
    rotations, translations = learnt(bodies, mask).of(bodies)
    assert np.abs(to_world(to_local(bodies, rotations, translations), rotations, translations) - bodies).max() < 1e-12
    assert np.linalg.det(rotations) == pytest.approx(1.0)


def test_upright_as_at_the_first_frame_and_centred_and_a_rigid_body_stands_still_in_it(bodies, mask, rng):
    frame = learnt(bodies, mask)
    rotations, translations = frame.of(bodies)
    assert Rotation.from_matrix(rotations[0]).magnitude() < 1e-9
    assert np.abs(frame.weights @ frame.reference).max() < 1e-12
    assert np.abs(translations - bodies[:, :40].mean(axis=1)).max() < 1e-12
    turns = Rotation.random(FRAMES, random_state=3).as_matrix()
    world = to_world(np.tile(rng.normal(size=(50, 3)), (FRAMES, 1, 1)), turns, rng.normal(size=(FRAMES, 3)))
    local = to_local(world, *learnt(world, mask).of(world))
    assert np.abs(local - local[0]).max() < 1e-12


def test_a_moved_world_moves_the_frame_alone(bodies, mask):
    turn, shift = Rotation.from_euler("z", 1.1).as_matrix(), np.array((3.0, -2.0, 0.5))
    moved = bodies @ turn.T + shift
    frame, other = learnt(bodies, mask), learnt(moved, mask)
    rotations, translations = frame.of(moved)
    before = frame.of(bodies)
    assert np.abs(rotations - turn @ before[0]).max() < 1e-9
    assert np.abs(translations - (before[1] @ turn.T + shift)).max() < 1e-9
    local = to_local(bodies, *before)
    assert np.abs(to_local(moved, *other.of(moved)) - local @ turn.T).max() < 1e-9


def test_limbs_do_not_turn_it(bodies, mask, rng):
    frame = learnt(bodies, mask)
    waving = bodies.copy()
    waving[:, 40:] += rng.normal(size=(FRAMES, 10, 3))
    assert np.array_equal(frame.of(waving)[0], frame.of(bodies)[0])


def test_doubled_vertices_of_half_the_area_change_nothing(bodies, mask):
    mass = np.concatenate((np.linspace(0.5, 2, 40), np.ones(10)))
    twice = np.concatenate((bodies[:, :20], bodies), axis=1)
    halved = np.concatenate((mass[:20] / 2, mass[:20] / 2, mass[20:]))
    one = learnt(bodies, mask, mass).of(bodies)
    other = TorsoFrame.learn(twice, np.arange(70) < 60, halved).of(twice)
    assert np.abs(one[0] - other[0]).max() < 1e-9 and np.abs(one[1] - other[1]).max() < 1e-9


def test_the_mean_fits_no_worse_than_any_frame(bodies, mask):
    def misfit(reference):
        frame = TorsoFrame(np.arange(40), reference, np.full(40, 1 / 40))
        return np.sum((to_local(bodies, *frame.of(bodies))[:, :40] - reference) ** 2)

    mean = misfit(learnt(bodies, mask).reference)
    assert all(mean < misfit(frame[:40] - frame[:40].mean(axis=0)) for frame in bodies)


def test_bad_torsos_are_named(bodies, mask):
    for given, of_torso, words in (
        (bodies, np.arange(50) < 2, "torso has 2 vertices"),
        (bodies * (1, 0, 0), mask, "lie on one line"),
    ):
        with pytest.raises(InputError, match=words):
            learnt(given, of_torso)
