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


def learnt_of(rows, copied, wanted, limbs=None, clip=None):
    """Of a torso, and limbs (n, D) that tell nothing unless they are given."""
    noise = np.random.default_rng(len(rows)).normal(size=(len(rows), 3))
    parts = [rows, noise if limbs is None else limbs]
    return TorsoTurn.learn(parts, copied, wanted, np.zeros(len(rows), int) if clip is None else clip)


def turns_of(learnt, rows, limbs=None):
    return learnt.turns([rows, np.zeros((len(rows), 3)) if limbs is None else limbs])


def angles(rotations):
    return np.linalg.norm(log(rotations), axis=-1)


def test_a_torso_onto_itself_turns_no_other_way():
    rows, turns = poses(0)
    assert angles(turns_of(learnt_of(rows, turns, turns), poses(1)[0])).max() < 1e-9


def test_what_shows_is_found():
    """Of the same kind of motion, a fifth of it is left."""
    rows, turns = (np.concatenate(values) for values in zip(*(poses(seed) for seed in range(2, 7)), strict=True))
    learnt = learnt_of(rows, turns, turns @ other(rows))
    new = poses(1)[0]
    left = angles(np.swapaxes(turns_of(learnt, new), 1, 2) @ other(new))
    assert np.sqrt(np.mean(left**2)) < 0.2 * np.sqrt(np.mean(angles(other(new)) ** 2))


def test_a_turned_world_and_the_order_of_pairs_change_nothing():
    rows, turns = poses(0)
    wanted, new = turns @ other(rows), poses(1)[0]
    expected = turns_of(learnt_of(rows, turns, wanted), new)
    world = Rotation.random(random_state=3).as_matrix()
    order = np.random.default_rng(1).permutation(len(rows))
    for found in (
        learnt_of(rows, world @ turns, world @ wanted),
        learnt_of(rows[order], turns[order], wanted[order]),
    ):
        assert np.abs(turns_of(found, new) - expected).max() < 1e-9
    assert np.abs(turns_of(learnt_of(rows, turns, wanted), new[7:8]) - expected[7]).max() < 1e-12


def test_far_from_all_pairs_it_is_as_copied():
    rows, turns = poses(0)
    learnt = learnt_of(rows, turns, turns @ other(rows))
    near, far = poses(1)[0], poses(1, size=30.0)[0]
    strange = np.abs(far).max(axis=1) > 1.5
    assert angles(turns_of(learnt, far[strange])).max() < 0.02 < angles(turns_of(learnt, near)).max()


def test_noise_is_not_learnt():
    """Turns that have nothing to do with poses are mostly left out."""
    rows, turns = poses(0, 200)
    chance = 0.1 * np.random.default_rng(5).normal(size=(len(rows), 3))
    learnt = learnt_of(rows, turns, turns @ exp(chance))
    assert np.sqrt(np.mean(angles(turns_of(learnt, poses(1)[0])) ** 2)) < 0.35 * np.sqrt(3.0) * 0.1


def test_a_stiff_torso_and_one_that_stays_tell_nothing():
    rows, turns = poses(0)
    assert learnt_of(rows[:, :0], turns, turns @ other(rows)) is None
    assert learnt_of(0.0 * rows, turns, turns @ other(rows)) is None


def test_the_same_from_arrays():
    rows, turns = poses(0)
    learnt, new = learnt_of(rows, turns, turns @ other(rows)), poses(1)[0]
    assert np.array_equal(turns_of(TorsoTurn.from_arrays(learnt.to_arrays()), new), turns_of(learnt, new))


def lifting(seed, count=80):
    """Limbs (n, 3) that lift, and how the target leans by that."""
    times = np.linspace(0, 4, count)[:, None]
    limbs = 0.3 * np.sin(times * np.random.default_rng(seed).uniform(0.8, 2.0, 3) + (0.0, 1.0, 2.0))
    return limbs, exp(np.outer(limbs[:, 0], (1.2, 0.0, 0.0)))


def test_a_lean_that_limbs_alone_show_is_told_by_them(seeds=(2, 3, 4, 5)):
    """It stayed as copied, 20 degrees off where an arm is lifted: the torso's shape tells nothing of it."""
    clips = [(*poses(seed, 80), *lifting(seed)) for seed in seeds]
    rows, turns, limbs, leans = (np.concatenate(values) for values in zip(*clips, strict=True))
    clip = np.repeat(np.arange(len(seeds)), 80)
    learnt = learnt_of(rows, turns, turns @ leans, limbs, clip)
    lifted, wanted = lifting(9)
    left = angles(np.swapaxes(turns_of(learnt, poses(9)[0], lifted), 1, 2) @ wanted)
    assert learnt.whole and np.sqrt(np.mean(left**2)) < 0.5 * np.sqrt(np.mean(angles(wanted) ** 2))
    assert TorsoTurn.from_arrays(learnt.to_arrays()).whole


def test_limbs_are_not_asked_where_the_torso_tells(motion=(2, 3, 4)):
    clips = [(*poses(seed), lifting(seed)[0]) for seed in motion]
    rows, turns, limbs = (np.concatenate(values) for values in zip(*clips, strict=True))
    assert not learnt_of(rows, turns, turns @ other(rows), limbs, np.repeat(np.arange(3), 80)).whole


@pytest.mark.captures
@pytest.mark.slow
@pytest.mark.parametrize("backward", [False, True])
def test_unseen_clips_are_nearer_in_the_world(backward):
    """Nearly as near as in the torso's frame; none is much farther off than with a copied turn."""
    found = in_the_world(direction(backward))
    for clip, copied in found[COPIED].items():
        assert found[LEARNT][clip] < 1.05 * copied
    assert np.mean(list(found[LEARNT].values())) < 1.05 * np.mean(list(found[LOCAL].values()))
