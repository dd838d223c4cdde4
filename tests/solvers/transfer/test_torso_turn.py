"""What a torso turns otherwise than it is copied: none onto itself, found where it shows, and little far from all."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks._transfer_cases import direction
from benchmarks._transfer_world import COPIED, LEARNT, LOCAL, in_the_world
from solvers.rotations.rotation_vectors import exp, log
from solvers.transfer.torso_turn import TorsoTurn

SHAPES = np.random.default_rng(8).normal(size=(4, 3)) * 0.05


def poses(seed, count=80, size=1.0):
    """Rows of a torso that bends smoothly, and its rotations in the world."""
    rng = np.random.default_rng(seed)
    times = np.linspace(0, 4, count)[:, None]
    rows = 0.1 * size * np.sin(times * rng.uniform(0.8, 2.0, 4) + rng.uniform(0, 6, 4))
    turns = Rotation.from_rotvec(0.4 * np.sin(times * rng.uniform(0.8, 2.0, 3) + rng.uniform(0, 6, 3)))
    return rows, turns.as_matrix()


def other(rows):
    """What the target turns otherwise: it leans, and bends more."""
    return exp(rows @ SHAPES * 10.0 + (0.08, 0.0, 0.0))


def angles(rotations):
    return np.linalg.norm(log(rotations), axis=-1)


def test_a_torso_onto_itself_turns_no_other_way():
    rows, turns = poses(0)
    assert angles(TorsoTurn.learn(rows, turns, turns).turns(poses(1)[0])).max() < 1e-9


def test_what_shows_is_found():
    """Of the same kind of motion, a fifth of it is left."""
    rows, turns = (np.concatenate(values) for values in zip(*(poses(seed) for seed in range(2, 7)), strict=True))
    learnt = TorsoTurn.learn(rows, turns, turns @ other(rows))
    new = poses(1)[0]
    left = angles(np.swapaxes(learnt.turns(new), 1, 2) @ other(new))
    assert np.sqrt(np.mean(left**2)) < 0.2 * np.sqrt(np.mean(angles(other(new)) ** 2))


def test_a_turned_world_and_the_order_of_pairs_change_nothing():
    rows, turns = poses(0)
    wanted, new = turns @ other(rows), poses(1)[0]
    expected = TorsoTurn.learn(rows, turns, wanted).turns(new)
    world = Rotation.random(random_state=3).as_matrix()
    order = np.random.default_rng(1).permutation(len(rows))
    for found in (
        TorsoTurn.learn(rows, world @ turns, world @ wanted),
        TorsoTurn.learn(rows[order], turns[order], wanted[order]),
    ):
        assert np.abs(found.turns(new) - expected).max() < 1e-9
    assert np.abs(TorsoTurn.learn(rows, turns, wanted).turns(new[7:8]) - expected[7]).max() < 1e-12


def test_far_from_all_pairs_it_is_as_copied():
    rows, turns = poses(0)
    learnt = TorsoTurn.learn(rows, turns, turns @ other(rows))
    near, far = poses(1)[0], poses(1, size=30.0)[0]
    strange = np.abs(far).max(axis=1) > 1.5
    assert angles(learnt.turns(far[strange])).max() < 0.02 < angles(learnt.turns(near)).max()


def test_noise_is_not_learnt():
    """Turns that have nothing to do with poses are mostly left out."""
    rows, turns = poses(0, 200)
    chance = 0.1 * np.random.default_rng(5).normal(size=(len(rows), 3))
    learnt = TorsoTurn.learn(rows, turns, turns @ exp(chance))
    assert np.sqrt(np.mean(angles(learnt.turns(poses(1)[0])) ** 2)) < 0.35 * np.sqrt(3.0) * 0.1


def test_a_stiff_torso_and_one_that_stays_tell_nothing():
    rows, turns = poses(0)
    assert TorsoTurn.learn(rows[:, :0], turns, turns @ other(rows)) is None
    assert TorsoTurn.learn(0.0 * rows, turns, turns @ other(rows)) is None


def test_the_same_from_arrays():
    rows, turns = poses(0)
    learnt, new = TorsoTurn.learn(rows, turns, turns @ other(rows)), poses(1)[0]
    assert np.array_equal(TorsoTurn.from_arrays(learnt.to_arrays()).turns(new), learnt.turns(new))


@pytest.mark.captures
@pytest.mark.slow
@pytest.mark.parametrize("backward", [False, True])
def test_unseen_clips_are_nearer_in_the_world(backward):
    """Nearly as near as in the torso's frame; none is much farther off than with a copied turn."""
    found = in_the_world(direction(backward))
    for clip, copied in found[COPIED].items():
        assert found[LEARNT][clip] < 1.05 * copied
    assert np.mean(list(found[LEARNT].values())) < 1.05 * np.mean(list(found[LOCAL].values()))
