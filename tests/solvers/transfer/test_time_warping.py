"""Dynamic time warping through pairs: against all admissible paths."""

import re

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.transfer.time_warping import constrained_path, within_reach


def random_cost(rows, columns, seed=0):
    return np.random.default_rng(seed).gamma(1.0, size=(rows, columns))


def admissible(nodes, run):
    """Whether the nodes are a path of the rules, told from its steps alone."""
    steps = np.diff(nodes, axis=0)
    if not (((steps == 0) | (steps == 1)).all() and steps.any(axis=1).all()):
        return False
    word = "".join("D" if step.all() else "HV"[step[0]] for step in steps)
    return re.fullmatch(f"(H{{0,{run}}}|V{{0,{run}}})(D(H{{0,{run}}}|V{{0,{run}}}))*", word) is not None


def all_costs(cost, pairs, run):
    """The cost of every admissible path from the first pair to the last that passes through all of them."""
    pairs = [tuple(pair) for pair in pairs]
    found = []

    def go(row, column, axis, steps, total, passed):
        total += cost[row, column]
        passed += (row, column) in pairs
        if (row, column) == pairs[-1]:
            if passed == len(pairs):
                found.append(total)
            return
        if row < pairs[-1][0] and column < pairs[-1][1]:
            go(row + 1, column + 1, None, 0, total, passed)
        if row < pairs[-1][0] and axis in (None, 0) and steps < run:
            go(row + 1, column, 0, steps + 1, total, passed)
        if column < pairs[-1][1] and axis in (None, 1) and steps < run:
            go(row, column + 1, 1, steps + 1, total, passed)

    go(*pairs[0], None, 0, 0.0, 0)
    return found


def check(path, cost, pairs, run):
    assert admissible(path.nodes, run)
    assert path.cost == pytest.approx(cost[tuple(path.nodes.T)].sum(), rel=1e-12)
    assert {tuple(pair) for pair in pairs} <= {tuple(node) for node in path.nodes}
    assert tuple(path.nodes[0]) == tuple(pairs[0]) and tuple(path.nodes[-1]) == tuple(pairs[-1])


@pytest.mark.parametrize("run", [1, 2, 3])
@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (5, 4), (4, 7), (6, 6)])
def test_no_admissible_path_is_cheaper(run, shape):
    for seed in range(8):
        cost, pairs = random_cost(*shape, seed), np.array([[0, 0], [shape[0] - 1, shape[1] - 1]])
        path = constrained_path(cost, pairs, run)
        check(path, cost, pairs, run)
        assert path.cost == pytest.approx(min(all_costs(cost, pairs, run)), rel=1e-12)


@pytest.mark.parametrize("run", [1, 2, 3])
def test_no_admissible_path_through_pairs_is_cheaper(run):
    """Pairs at random, also such that are one row apart: runs over pairs are many."""
    rng, feasible = np.random.default_rng(run), 0
    for seed in range(150):
        cost = random_cost(7, 7, seed)
        count = rng.integers(2, 5)
        pairs = np.sort(np.stack([rng.choice(7, count, replace=False) for _ in range(2)], axis=1), axis=0)
        costs = all_costs(cost, pairs, run)
        if not costs:
            with pytest.raises(InputError, match="cannot be joined"):
                constrained_path(cost, pairs, run)
            continue
        feasible += 1
        path = constrained_path(cost, pairs, run)
        check(path, cost, pairs, run)
        assert path.cost == pytest.approx(min(costs), rel=1e-12)
    assert feasible > 60


def test_a_run_goes_on_over_a_pair_and_keeps_its_bound():
    cost = np.ones((4, 6))
    cost[1, 1:5] = -1.0
    pairs = np.array([[0, 0], [1, 2], [3, 5]])
    nodes = constrained_path(cost, pairs, 3).nodes.tolist()
    assert [node for node in nodes if node[0] == 1] == [[1, 1], [1, 2], [1, 3], [1, 4]]
    nodes = constrained_path(cost, pairs, 2).nodes.tolist()
    assert [node for node in nodes if node[0] == 1] in ([[1, 1], [1, 2], [1, 3]], [[1, 2], [1, 3], [1, 4]])


def test_swapping_the_clips_swaps_the_path():
    cost, pairs = random_cost(80, 60), np.array([[2, 1], [20, 30], [50, 45], [79, 57]])
    path, swapped = constrained_path(cost, pairs), constrained_path(cost.T, pairs[:, ::-1])
    np.testing.assert_array_equal(path.nodes, swapped.nodes[:, ::-1])
    assert path.cost == pytest.approx(swapped.cost, rel=1e-12)


def test_what_all_nodes_cost_more_the_path_costs_more():
    """Equal steps of both clips have one path of the fewest nodes; where all paths have as many, a shift is free."""
    cost, pairs = random_cost(30, 88), np.array([[0, 0], [29, 87]])
    path = constrained_path(cost, pairs)
    shifted = constrained_path(cost + 5.0, pairs)
    np.testing.assert_array_equal(np.unique(path.nodes[:, 0]), np.arange(30))
    assert len(path.nodes) == len(shifted.nodes) == 88, "only horizontal runs fit: one node a column"
    np.testing.assert_array_equal(path.nodes, shifted.nodes)
    assert shifted.cost == pytest.approx(path.cost + 5.0 * 88, rel=1e-12)
    np.testing.assert_array_equal(constrained_path(np.full((9, 9), 3.0), [[0, 0], [8, 8]]).nodes, np.c_[:9, :9])


def test_large_blocks_are_made_in_chunks():
    cost = random_cost(700, 900)
    ends = np.array([[0, 0], [699, 899]])
    path = constrained_path(cost, ends)
    check(path, cost, ends, 2)
    halves = np.array([ends[0], path.nodes[len(path.nodes) // 2], ends[1]])
    assert constrained_path(cost, halves).cost == pytest.approx(path.cost, rel=1e-12)


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([[0, 0]], "at least two"),
        ([[0, 0], [20, 5]], "Pair 2 is at source row 20"),
        ([[0, 0], [5, 12]], "Pair 2 is at target row 12"),
        ([[0, -1], [5, 5]], "Pair 1 is at target row -1"),
        ([[0, 0], [5, 6], [5, 8]], r"Pairs 2 \(5, 6\) and 3 \(5, 8\)"),
        ([[0, 0], [5, 6], [5, 6]], "out of order"),
        ([[0, 0], [5, 6], [4, 8]], "out of order"),
        ([[0.5, 0], [5, 6]], "round"),
        ([[0, 0], [1, 8], [9, 9]], r"Pairs 1 \(0, 0\) and 2 \(1, 8\) cannot be joined.*runs of 7"),
        ([[0, 0], [3, 3], [4, 9], [9, 11]], r"Pairs 2 \(3, 3\) and 3 \(4, 9\) cannot be joined"),
    ],
)
def test_wrong_pairs_are_named(pairs, words):
    with pytest.raises(InputError, match=words):
        constrained_path(np.ones((20, 12)), pairs)


def test_other_wrong_input_is_named():
    def with_value(value):
        return np.where(np.arange(20).reshape(4, 5) == 13, value, 1.0)

    for cost, run, words in (
        (np.ones((4, 5)), (0,), "at least one"),
        (with_value(np.nan), (), "source row 2 and target row 3"),
        (with_value(np.inf), (), "source row 2 and target row 3"),
        (np.ones(4), (), "shape"),
    ):
        with pytest.raises(InputError, match=words):
            constrained_path(cost, [[0, 0], [3, 4]], *run)


def test_reach():
    pairs = np.array([[0, 0], [1, 3], [2, 7], [8, 9], [8, 9]])
    np.testing.assert_array_equal(within_reach(pairs), [True, False, True, False])
