"""The cheapest way to walk through two clips at once: dynamic time warping with a bound on runs, through given pairs.

A path is a list of nodes (source row, target row). It starts at the first pair, ends at the last and passes through
all pairs. Each step goes one row on in the source (vertical), in the target (horizontal) or in both (diagonal). After
a diagonal step at most `run` horizontal steps may follow, or at most `run` vertical ones, and then the next diagonal
step: run = 2 is the bound of three nodes in a row of Boukhayma et al. 2017, section 5.1. The first pair counts as
reached diagonally. Pairs do not interrupt a run: the steps before a pair count after it too, so that the whole path
keeps the bound. A path costs the sum of its nodes, each counted once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..core.errors import InputError


@dataclass(frozen=True)
class WarpPath:
    """nodes: (P, 2) int, source and target row of each node, in order.  cost: the sum over the nodes."""

    nodes: np.ndarray
    cost: float


def constrained_path(cost: np.ndarray, pairs: np.ndarray, run: int = 2) -> WarpPath:
    """The cheapest admissible path through all pairs over cost (n, m), see the top of this file.

    pairs: (L, 2) int, source and target rows, increasing in both columns, L >= 2.  run: >= 1.
    InputError where a cost is not finite, pairs are out of range or order, or no admissible path joins two of them.
    """
    cost, pairs = _checked(cost, pairs, run)
    arrivals = [[float(cost[tuple(pairs[0])])] + run * [np.inf] for _ in range(2)]
    blocks = []
    for number, ((top, left), (bottom, right)) in enumerate(zip(pairs[:-1], pairs[1:], strict=True)):
        block = _Block(cost[top : bottom + 1, left : right + 1], arrivals, run)
        blocks.append(block)
        arrivals = block.arrivals()
        if min(arrivals[0] + arrivals[1]) == np.inf:
            raise InputError(_too_steep(number, pairs, run))
    return WarpPath(_traced(blocks, pairs, run), min(arrivals[0] + arrivals[1]))


def within_reach(pairs: np.ndarray, run: int = 2) -> np.ndarray:
    """(L - 1,) bool: whether an admissible path joins each pair to the next, whatever comes before and after."""
    steps = np.diff(pairs, axis=0)
    shorter, longer = steps.min(axis=1), steps.max(axis=1)
    return (shorter > 0) & (longer <= (run + 1) * shorter)


class _Block:
    """The nodes from one pair to the next: the cheapest cost to each, whatever the state it is reached in.

    Only a run over the pair that starts the block reaches the block's first row and column. The shorter side is walked
    row by row, the longer one is an array.
    """

    def __init__(self, costs: np.ndarray, arrivals: list[list[float]], run: int):
        """arrivals: what it costs to reach the pair that starts the block, for each axis (0 vertical, 1 horizontal) by
        0 to run steps since the last diagonal one."""
        self._turned = costs.shape[0] > costs.shape[1]
        costs = np.ascontiguousarray(costs.T if self._turned else costs)
        best = _best_costs(costs, arrivals[::-1] if self._turned else arrivals, run)
        self._run, self._columns = run, costs.shape[1]
        self._strides = self._columns, 1
        # Single numbers are read from flat memory in half the time.
        self._costs, self._best = memoryview(costs.ravel()), memoryview(best.ravel())

    def arrivals(self) -> list[list[float]]:
        """The same of the pair that ends the block."""
        table = [(self._run + 1) * [np.inf] for _ in range(2)]
        for value, axis, steps in self._ways(len(self._best) - 1, (self._run, self._run)):
            table[axis][steps] = value
        # Reached diagonally it is as good a start for either axis.
        table[1][0] = table[0][0]
        return table[::-1] if self._turned else table

    def traced(self, most: tuple[int, int]) -> tuple[np.ndarray, tuple[int, int]]:
        """The cheapest path (P, 2) from the end of the block back to its start, which it leaves out, for at most so
        many (vertical, horizontal) steps before its last node; the second result is the same bound for the start."""
        places, most = self._walk(most[::-1] if self._turned else most)
        nodes = np.stack(np.divmod(places, self._columns), axis=1)
        return (nodes[:, ::-1], most[::-1]) if self._turned else (nodes, most)

    def _walk(self, most: tuple[int, int]) -> tuple[list[int], tuple[int, int]]:
        """The same, with the nodes' places in the flat tables and the bounds as the block is turned."""
        best, costs, diagonal = self._best, self._costs, self._columns + 1
        place = len(best) - 1
        _, axis, steps = min(self._ways(place, most))
        places = []
        while True:
            for _ in range(steps):
                places.append(place)
                place -= self._strides[axis]
            places.append(place)
            place -= diagonal
            row, column = divmod(place, self._columns)
            if not (row and column):
                break
            # The way is determined by the node's cost, which is summed as it was for the table.
            cost, steps = best[place], 0
            if best[place - diagonal] + costs[place] != cost:
                _, axis, steps = next(way for way in self._ways(place, (self._run, self._run)) if way[0] == cost)
        # Steps along the border go on before the pair; where there are none the pair is left diagonally.
        places.extend(range(place, 0, -self._strides[0] if row else -1))
        return places, (0 if column else self._run - row, 0 if row else self._run - column)

    def _ways(self, place: int, most: tuple[int, int]) -> Iterator[tuple[float, int, int]]:
        """(cost, axis, steps) of reaching the node by a diagonal step and so many steps along the axis."""
        best, costs = self._best, self._costs
        before = place - self._columns - 1
        yield best[before] + costs[place], 0, 0
        for axis, inside in enumerate(divmod(place, self._columns)):
            stride = self._strides[axis]
            for steps in range(1, min(most[axis], inside - 1) + 1):
                back = steps * stride
                value = best[before - back]
                for node in range(place - back, place + 1, stride):
                    value += costs[node]
                yield value, axis, steps


def _best_costs(costs: np.ndarray, arrivals: list[list[float]], run: int) -> np.ndarray:
    """The cheapest cost to each node of a block, as its costs (rows, columns): infinite out of reach.

    A run starts where a diagonal step ends. The cost of a node is the least of those of reaching it
        diagonally: costs[i, j] + best[i - 1, j - 1]
        by h horizontal steps since: costs[i, j] + (by h - 1 steps)[i, j - 1]
        by v vertical steps since: costs[i, j] + (by v - 1 steps)[i - 1, j]
    """
    best = np.full(costs.shape, np.inf)
    best[0, 0] = min(arrivals[0] + arrivals[1])
    for border, passed, reached in ((best[:, 0], costs[:, 0], arrivals[0]), (best[0], costs[0], arrivals[1])):
        total = 0.0
        for steps in range(1, min(run, len(border) - 1) + 1):
            total += passed[steps]
            border[steps] = min(reached[: run + 1 - steps]) + total
    # Of one row: by 0 to run steps along it, and by 1 to run steps down to it. No diagonal leads to its first column.
    along, down = np.full((run + 1, costs.shape[1]), np.inf), np.full((run, costs.shape[1]), np.inf)
    least = np.empty_like(down)
    stepped, (first, *others) = along[1:], least[:, 1:]
    diagonal, *beside = along[:, 1:]
    onward = list(zip(along[:-1, :-1], beside, strict=True))
    downward = list(pairwise((diagonal, *down[:, 1:])))[::-1]
    add, minimum = np.add, np.minimum
    # Short rows are a matter of calls: one for contiguous arrays takes a fourth of one for slices with two axes.
    for here, before, row in zip(costs[1:, 1:], best[:-1, :-1], best[1:, 1:], strict=True):
        for shorter, longer in downward:
            add(shorter, here, longer)
        add(before, here, diagonal)
        for shorter, longer in onward:
            add(shorter, here, longer)
        minimum(stepped, down, least)
        for other in others:
            minimum(first, other, first)
        minimum(diagonal, first, row)
    return best


def _traced(blocks: list[_Block], pairs: np.ndarray, run: int) -> np.ndarray:
    """(P, 2) int, the nodes from the first pair to the last: block by block, from the end."""
    most = (run, run)
    pieces = []
    for block, start in zip(blocks[::-1], pairs[-2::-1], strict=True):
        nodes, most = block.traced(most)
        pieces.append(nodes + start)
    pieces.append(pairs[:1])
    return np.concatenate(pieces)[::-1].copy()


def _checked(cost, pairs, run) -> tuple[np.ndarray, np.ndarray]:
    cost, pairs = np.asarray(cost, float), np.asarray(pairs)
    if cost.ndim != 2 or not cost.size:
        raise InputError(f"The costs have shape {cost.shape}; give a source row by target row table.")
    if run < 1:
        raise InputError(f"A path cannot keep to runs of at most {run} steps; allow at least one.")
    if not np.isfinite(cost).all():
        source, target = np.argwhere(~np.isfinite(cost))[0]
        raise InputError(f"The cost of source row {source} and target row {target} is not a number; check both clips.")
    return cost, checked_pairs(pairs, cost.shape)


def checked_pairs(pairs: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """pairs (L, 2) as int; InputError that names the pair (counted from 1) that is no pair of rows or out of order."""
    pairs = np.asarray(pairs)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        raise InputError("Pairs are whole source and target rows, two columns; round them first.")
    if len(pairs) < 2:
        raise InputError(f"{len(pairs)} pairs were given; mark at least two, at the start and the end.")
    outside = np.argwhere((pairs < 0) | (pairs >= shape))
    if outside.size:
        pair, side = outside[0]
        clip, row, last = ("source", "target")[side], pairs[pair, side], shape[side] - 1
        raise InputError(f"Pair {pair + 1} is at {clip} row {row}, but the {clip} has rows 0 to {last}.")
    wrong = np.flatnonzero((np.diff(pairs, axis=0) < 1).any(axis=1))
    if wrong.size:
        raise InputError(
            f"{_both(wrong[0], pairs)} are out of order: the second must be later in both clips. Sort or remove one."
        )
    return pairs.astype(int)


def _both(number: int, pairs: np.ndarray) -> str:
    first, last = pairs[number], pairs[number + 1]
    return f"Pairs {number + 1} ({first[0]}, {first[1]}) and {number + 2} ({last[0]}, {last[1]})"


def _too_steep(number: int, pairs: np.ndarray, run: int) -> str:
    steps = np.diff(pairs, axis=0)[number]
    need = -(-steps.max() // steps.min()) - 1
    return (
        f"{_both(number, pairs)} cannot be joined: {steps[0]} source rows against {steps[1]} target rows is too steep "
        f"for runs of at most {run} steps. Move or remove one of the two, or allow runs of {need}."
    )
