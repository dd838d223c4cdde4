"""The cheapest way to walk through two clips at once: dynamic time warping with a bound on runs, through given pairs.

A path is a list of nodes (source row, target row). It starts at the first pair, ends at the last and passes through
all pairs. Each step goes one row on in the source (vertical), in the target (horizontal) or in both (diagonal). After
a diagonal step at most `run` horizontal steps may follow, or at most `run` vertical ones, and then the next diagonal
step: run = 2 is the bound of three nodes in a row of Boukhayma et al. 2017, section 5.1. The first pair counts as
reached diagonally. Pairs do not interrupt a run: the steps before a pair count after it too, so that the whole path
keeps the bound. A path costs the sum of its nodes, each counted once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .errors import InputError

# Numbers in the run costs that are made at once: they stay in the cache, and large blocks need little memory.
CHUNK = 1 << 16


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
    arrivals = np.full((2, run + 1), np.inf)
    arrivals[:, 0] = cost[tuple(pairs[0])]
    blocks = []
    for number, ((top, left), (bottom, right)) in enumerate(zip(pairs[:-1], pairs[1:], strict=True)):
        block = _Block(cost[top : bottom + 1, left : right + 1], arrivals, run)
        blocks.append(block)
        arrivals = block.arrivals()
        if np.isinf(arrivals).all():
            raise InputError(_too_steep(number, pairs, run))
    return WarpPath(_traced(blocks, pairs, run), float(arrivals.min()))


def within_reach(pairs: np.ndarray, run: int = 2) -> np.ndarray:
    """(L - 1,) bool: whether an admissible path joins each pair to the next, whatever comes before and after."""
    steps = np.diff(pairs, axis=0)
    shorter, longer = steps.min(axis=1), steps.max(axis=1)
    return (shorter > 0) & (longer <= (run + 1) * shorter)


class _Block:
    """The nodes from one pair to the next: the cheapest cost to each, whatever the state it is reached in.

    A run starts where a diagonal step ends, so that the cost of a node follows from those in front of such steps:
        best[i, j] = min over h of best[i - 1, j - 1 - h] + costs[i, j - h : j + 1], and over v the other way round.
    A row needs earlier rows only: the shorter side is walked row by row, the longer one is an array.
    Only a run over the pair that starts the block reaches the block's first row and column.
    """

    def __init__(self, costs: np.ndarray, arrivals: np.ndarray, run: int):
        """arrivals (2, run + 1): the cost of the pair that starts the block, by axis (0 vertical, 1 horizontal) and
        steps since the last diagonal one."""
        self._turned = costs.shape[0] > costs.shape[1]
        self._costs = costs.T.copy() if self._turned else costs
        self._run = run
        self._best = _best_costs(self._costs, arrivals[::-1] if self._turned else arrivals, run)

    def arrivals(self) -> np.ndarray:
        """The same of the pair that ends the block."""
        table = np.full((2, self._run + 1), np.inf)
        row, column = self._costs.shape
        for value, axis, steps in self._ways(row - 1, column - 1, (self._run, self._run)):
            table[axis if steps else slice(None), steps] = value
        return table[::-1] if self._turned else table

    def traced(self, most: tuple[int, int]) -> tuple[list[tuple[int, int]], tuple[int, int]]:
        """The cheapest path from the end of the block back to its start, which it leaves out, for at most so many
        (vertical, horizontal) steps before its last node; the second result is the same bound for the start."""
        nodes, most = self._walk(most[::-1] if self._turned else most)
        return ([node[::-1] for node in nodes], most[::-1]) if self._turned else (nodes, most)

    def _walk(self, most):
        row, column = self._costs.shape[0] - 1, self._costs.shape[1] - 1
        nodes = []
        while row and column:
            _, axis, steps = min(self._ways(row, column, most))
            if axis:
                nodes += [(row, column - step) for step in range(steps + 1)]
                row, column = row - 1, column - steps - 1
            else:
                nodes += [(row - step, column) for step in range(steps + 1)]
                row, column = row - steps - 1, column - 1
            most = (self._run, self._run)
        if row:
            return nodes + [(step, 0) for step in range(row, 0, -1)], (self._run - row, 0)
        if column:
            return nodes + [(0, step) for step in range(column, 0, -1)], (0, self._run - column)
        return nodes, most

    def _ways(self, row: int, column: int, most) -> list[tuple[float, int, int]]:
        """(cost, axis, steps) of reaching the node by a diagonal step and so many steps along the axis."""
        best, costs = self._best.item, self._costs.item
        # best is padded by `run` on both sides: this is the node before (row, column) on the diagonal.
        before, beside = row + self._run - 1, column + self._run - 1
        down = along = costs(row, column)
        ways = [(best(before, beside) + down, 0, 0)]
        for steps in range(1, min(most[0], row - 1) + 1):
            down += costs(row - steps, column)
            ways.append((best(before - steps, beside) + down, 0, steps))
        for steps in range(1, min(most[1], column - 1) + 1):
            along += costs(row, column - steps)
            ways.append((best(before, beside - steps) + along, 1, steps))
        return ways


def _best_costs(costs: np.ndarray, arrivals: np.ndarray, run: int) -> np.ndarray:
    """The cheapest cost to each node of a block, (rows + run, columns + run): infinite in front and out of reach."""
    rows, columns = costs.shape
    best = np.full((rows + run, columns + run), np.inf)
    best[run, run] = arrivals.min()
    for steps in range(1, run + 1):
        if steps < rows:
            best[run + steps, run] = arrivals[0, : run + 1 - steps].min() + costs[1 : steps + 1, 0].sum()
        if steps < columns:
            best[run, run + steps] = arrivals[1, : run + 1 - steps].min() + costs[0, 1 : steps + 1].sum()
    down, across = best.strides
    # Views of the nodes in front of the diagonal step, one more column (row) back for each step of the run.
    beside = as_strided(best[run:, run:], (rows - 1, run + 1, columns - 1), (down, -across, across), writeable=False)
    above = as_strided(best[run - 1 :, run:], (rows - 1, run, columns - 1), (down, -down, across), writeable=False)
    ways = np.empty((2 * run + 1, columns - 1))
    horizontal, vertical = ways[: run + 1], ways[run + 1 :]
    inner = best[run + 1 :, run + 1 :]
    height = min(max(1, CHUNK // ways.size), rows - 1)
    along, upward = np.empty((height, *horizontal.shape)), np.empty((height, *vertical.shape))
    for first in range(0, rows - 1, height):
        chunk = slice(first, min(first + height, rows - 1))
        count = chunk.stop - first
        _run_costs(costs[1:, 1:], first, along[:count], upward[:count])
        # The last chunk may be shorter than the buffers.
        for row, left, top, add_left, add_top in zip(
            inner[chunk], beside[chunk], above[chunk], along[:count], upward[:count], strict=True
        ):
            np.add(left, add_left, out=horizontal)
            np.add(top, add_top, out=vertical)
            np.minimum.reduce(ways, axis=0, out=row)
    return best


def _run_costs(costs: np.ndarray, first: int, along: np.ndarray, upward: np.ndarray) -> None:
    """Writes the costs of runs that end in the nodes of the rows from first on: horizontal ones of 0 to run steps to
    along (rows, run + 1, columns), vertical ones of 1 to run steps to upward (rows, run, columns).

    Runs that would begin outside are cut off at the border: nothing leads to them.
    """
    count, run = upward.shape[:2]
    here = costs[first : first + count]
    along[:, 0] = here
    for steps in range(1, run + 1):
        along[:, steps, :steps] = along[:, steps - 1, :steps]
        np.add(along[:, steps - 1, steps:], here[:, :-steps], out=along[:, steps, steps:])
    total = here
    for steps in range(1, run + 1):
        inside = max(0, min(count, steps - first))
        upward[:inside, steps - 1] = total[:inside]
        before = costs[first + inside - steps : first + count - steps]
        np.add(total[inside:], before, out=upward[inside:, steps - 1])
        total = upward[:, steps - 1]


def _traced(blocks: list[_Block], pairs: np.ndarray, run: int) -> np.ndarray:
    """(P, 2) int, the nodes from the first pair to the last: block by block, from the end."""
    most = (run, run)
    pieces = []
    for block, start in zip(blocks[::-1], pairs[-2::-1], strict=True):
        nodes, most = block.traced(most)
        pieces.append(np.array(nodes) + start)
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
