"""Chains of bones that point at what carries them: a tail of which the tip comes first."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.skeleton.motion_tree import motion_parents
from solvers.skeleton.reversed_chains import reversed_bones
from tests.moving_bones import NAMES, TREE, moving
from tests.random_rigs import plain_rig

HEIGHT, LENGTH, COUNT = 1.8, 0.3, 3
BODY = len(NAMES)
TAIL = np.arange(BODY, BODY + COUNT)


def with_reversed_chain(rng, on, at):
    """Pose (F, B, 4, 4), rest (B, 4, 4), lengths (B,) of the body and a chain that leads away from a place (3,) by a
    bone at rest. Each bone of the chain swings about its tail, which is where the one before begins."""
    pose, rest, lengths = moving(rng)
    carrier, start = NAMES.index(on), np.array(at)
    tail_pose, tail_rest = [], []
    turn = pose[:, carrier, :3, :3] @ rest[carrier, :3, :3].T
    ends = pose[:, carrier, :3, 3] + np.einsum("fab,b->fa", turn, start - rest[carrier, :3, 3])
    inward = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]])  # a bone's length points at its carrier
    for number in range(COUNT):
        turn = turn @ Rotation.from_rotvec(rng.normal(0.0, 0.4, (len(pose), 3))).as_matrix()
        placed, matrix = np.tile(np.eye(4), (len(pose), 1, 1)), np.eye(4)
        placed[:, :3, :3], matrix[:3, :3] = turn @ inward, inward
        matrix[:3, 3] = start + [0.0, LENGTH * (number + 1), 0.0]
        placed[:, :3, 3] = ends = ends - LENGTH * placed[:, :3, 1]
        tail_pose.append(placed)
        tail_rest.append(matrix)
    return (
        np.concatenate((pose, np.stack(tail_pose, axis=1)), axis=1),
        np.concatenate((rest, np.stack(tail_rest))),
        np.append(lengths, np.full(COUNT, LENGTH)),
    )


def tree_of(pose, rest, lengths, parents=None):
    none = np.full(len(rest), -1)
    every = np.ones(len(rest), bool)
    return motion_parents(none if parents is None else parents, pose, rest, lengths, every, HEIGHT)


@pytest.mark.parametrize(("on", "at"), [("hips", (0, 0, 1)), ("head", (0, 0, 1.8)), ("chest", (0, 0.05, 1.5))])
def test_it_hangs_on_what_it_leads_to_and_the_hips_carry_all(on, at):
    case = with_reversed_chain(np.random.default_rng(0), on, at)
    np.testing.assert_array_equal(tree_of(*case), [*TREE, NAMES.index(on), *TAIL[:-1]])


def test_the_order_of_bones_does_not_matter():
    pose, rest, lengths = with_reversed_chain(np.random.default_rng(1), "hips", (0.0, 0.0, 1.0))
    tree, back = np.array([*TREE, 0, *TAIL[:-1]]), np.arange(len(rest))[::-1]
    expected = np.where(tree[back] >= 0, len(rest) - 1 - tree[back], -1)
    np.testing.assert_array_equal(tree_of(pose[:, back], rest[back], lengths[back]), expected)


def test_what_the_rig_hangs_on_the_tip_keeps_its_parents_and_a_chain_that_it_begins_there_hangs_as_a_whole():
    case = with_reversed_chain(np.random.default_rng(2), "hips", (0.0, 0.0, 1.0))
    parents = np.array([TAIL[0], *TREE[1:], *TAIL[1:], -1])
    np.testing.assert_array_equal(tree_of(*case, parents), parents)
    case = with_reversed_chain(np.random.default_rng(2), "head", (0.0, 0.0, 1.8))
    parents = np.array([*TREE, *TAIL[1:], -1])
    np.testing.assert_array_equal(tree_of(*case, parents), [*parents[:-1], NAMES.index("head")])


def test_bones_that_hang_by_their_tails_are_told_from_others():
    """A bone of the chain that keeps still counts as the ones that swing; nothing of the body does."""
    pose, rest, lengths = with_reversed_chain(np.random.default_rng(3), "hips", (0.0, 0.0, 1.0))
    still = pose[:, TAIL[0]] @ np.linalg.inv(rest[TAIL[0]])
    pose[:, TAIL[1]] = still @ rest[TAIL[1]]
    tree = np.array([*TREE, 0, *TAIL[:-1]])
    found = reversed_bones(plain_rig(np.full(len(rest), -1), rest, lengths), tree, pose, HEIGHT)
    assert np.flatnonzero(found).tolist()[:2] == TAIL[:2].tolist() and not found[:BODY].any()
    assert not reversed_bones(plain_rig(tree, rest, lengths), tree, pose, HEIGHT).any()
