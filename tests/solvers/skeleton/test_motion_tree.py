"""The tree of what moves together, from poses of bones that hang on nothing."""

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.skeleton import motion_tree
from solvers.skeleton.motion_tree import motion_parents
from tests.moving_bones import NAMES, TREE, moving
from tests.random_rigs import make_rig

NONE = np.full(len(TREE), -1)


def found(pose, rest, lengths, parents=NONE, chosen=None, known=None):
    chosen = np.ones(len(TREE), bool) if chosen is None else chosen
    return motion_parents(parents, pose, rest, lengths, chosen, 1.8, known)


@pytest.mark.parametrize("stretch", [0.0, 0.1])
@pytest.mark.parametrize("still", [(), NAMES, ("spine", "chest", "head"), ("foot.L", "shin.L")])
def test_a_body_without_parents_is_found_whole(still, stretch):
    case = moving(np.random.default_rng(0), still, stretch)
    np.testing.assert_array_equal(found(*case), TREE)


def test_the_order_of_bones_does_not_matter_and_one_that_goes_its_own_way_stands_by_itself():
    rng = np.random.default_rng(1)
    pose, rest, lengths = moving(rng)
    order = rng.permutation(len(TREE))
    rank = np.argsort(order)
    expected = np.where(TREE[order] >= 0, rank[TREE[order]], -1)
    np.testing.assert_array_equal(found(pose[:, order], rest[order], lengths[order]), expected)
    pose[:, 6, :3, 3] += rng.normal(0.0, 0.3, (len(pose), 3))
    np.testing.assert_array_equal(found(pose, rest, lengths), np.where(np.arange(len(TREE)) == 6, -1, TREE))


def test_parts_that_hang_together_are_joined_and_bones_not_asked_for_are_left():
    case = moving(np.random.default_rng(3))
    parents = TREE.copy()
    parents[[4, 9]] = -1  # a leg and a foot come off
    np.testing.assert_array_equal(found(*case, parents), TREE)
    chosen = np.ones(len(TREE), bool)
    chosen[9] = False
    np.testing.assert_array_equal(found(*case, parents, chosen)[9], -1)


def test_what_is_known_decides_where_the_motion_does_not():
    pose, rest, lengths = moving(np.random.default_rng(4), ("hips", "spine"))
    rest[4, :3, 3] = pose[:, 4, :3, 3] = (0.06, 0.0, 1.25)  # nearer to the spine than to the hips
    assert found(pose, rest, lengths)[4] == 1
    known = NONE.copy()
    known[4] = 0
    assert found(pose, rest, lengths, known=known)[4] == 0


def test_a_rig_with_a_hierarchy_keeps_it():
    rig = make_rig(np.random.default_rng(5))
    pose = np.tile(rig.rest, (4, 1, 1, 1))
    parents = np.append(-1, np.arange(len(rig.parents) - 1))
    chosen = np.ones(len(parents), bool)
    kept = motion_parents(parents, pose, rig.rest, rig.lengths, chosen, 1.0)
    np.testing.assert_array_equal(kept, parents)


def test_twins_that_begin_side_by_side_hang_on_what_ends_there():
    """Shoulders begin nearer to each other than to the spine."""
    pose, rest, lengths = moving(np.random.default_rng(6), ("hips", "spine", "chest"))
    sideways = Rotation.from_euler("z", 90.0, degrees=True).as_matrix()
    for bone, side in ((4, 1.0), (7, -1.0)):
        rest[bone, :3, :3] = pose[:, bone, :3, :3] = sideways if side < 0.0 else sideways.T
        rest[bone, :3, 3] = pose[:, bone, :3, 3] = (0.02 * side, 0.0, 1.68)
        lengths[bone] = 0.15
    found_tree = found(pose, rest, lengths)
    assert found_tree[4] == found_tree[7] == 2


def test_nothing_hangs_on_still_details():
    """A chain across a face hangs on the skull, bone by bone."""
    pose, rest, lengths = moving(np.random.default_rng(7))
    head, face = 3, 3
    places = [(0.02 * k, 0.1, 1.7 - 0.02 * k) for k in range(face)]
    more = np.tile(rest[head], (face, 1, 1))
    more[:, :3, 3] = places
    carried = pose[:, [head]] @ np.linalg.inv(rest[head]) @ more
    pose, rest = np.concatenate((pose, carried), axis=1), np.concatenate((rest, more))
    lengths = np.append(lengths, np.full(face, 0.028))
    every = np.ones(len(rest), bool)
    tree = motion_parents(np.full(len(rest), -1), pose, rest, lengths, every, 1.8)
    np.testing.assert_array_equal(tree, np.append(TREE, np.full(face, head)))


def test_the_cheapest_parents_cost_least_of_all_trees():
    """Against all assignments of parents that are trees; half of the edges are missing."""
    rng = np.random.default_rng(8)
    count = 4
    for _ in range(8):
        cost = rng.uniform(size=(count, count + 1)) + 2.0 * (np.arange(count + 1) == count)
        cost[:, :-1][rng.uniform(size=(count, count)) < 0.5] = np.inf
        np.fill_diagonal(cost, np.inf)
        least = min(
            sum(cost[np.arange(count), parents])
            for parents in itertools.product(range(count + 1), repeat=count)
            if is_tree(parents)
        )
        found_parents = motion_tree._cheapest_parents(cost)
        assert is_tree(found_parents) and cost[np.arange(count), found_parents].sum() == pytest.approx(least)


def is_tree(parents):
    """Whether all of N nodes hang on the root N in the end."""
    at = np.arange(len(parents) + 1)
    for _ in parents:
        at = np.append(parents, len(parents))[at]
    return (at == len(parents)).all()


def test_a_cycle_in_a_cycle_a_thousand_times_over():
    """Each node is nearest to the one before it, so that each joins the cycle of all before it, one by one. Recursion
    gave up."""
    count, root = 1500, 700
    cost, nodes = np.full((count, count + 1), np.inf), np.arange(count)
    cost[nodes[1:], nodes[:-1]], cost[nodes[:-1], nodes[1:]] = 0.0, 1.0
    cost[:, count] = 10.0 * count
    cost[root, count] = 0.0
    expected = np.where(nodes < root, nodes + 1, np.where(nodes > root, nodes - 1, count))
    np.testing.assert_array_equal(motion_tree._cheapest_parents(cost), expected)


def test_bones_are_compared_a_part_at_a_time(monkeypatch):
    """The arrays of all pairs and frames of a thousand bones would take gigabytes; the tree is the same."""
    looked_at, strayed = [], motion_tree._strayed

    def counted(pose, frames, loose, on, most):
        looked_at.append(len(loose) * len(on))
        return strayed(pose, frames, loose, on, most)

    monkeypatch.setattr(motion_tree, "_strayed", counted)
    monkeypatch.setattr(motion_tree, "_PAIRS", 30)
    np.testing.assert_array_equal(found(*moving(np.random.default_rng(9))), TREE)
    assert max(looked_at) <= 30 and sum(looked_at) == len(TREE) ** 2
