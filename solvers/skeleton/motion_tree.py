"""The tree of what moves together, for bones that a rig does not hang on each other: flat exports and baked copies."""

from __future__ import annotations

import numpy as np

from ..core.subsampling import strided
from .hierarchy import tops
from .reversed_chains import STRAY, turned_round

# Shares of the body's height, as ``STRAY`` is: a bone that strays farther in every other bone's frame stands by itself.
# Straying costs more than distance: it tells apart what only lies close from what goes along.
_DISTANCE_COST = 0.002
# A bone that is known to follow another one counts as nearer than one that it touches.
_KNOWN = 0.01
# Shorter bones that move less against what they hang on are details of it.
_DETAIL, _STILL = 0.03, 1e-3
# Frames looked at, and pairs of bones at once: some 100 MB.
_LOOKED_AT, _PAIRS = 32, 40_000


def motion_parents(
    parents: np.ndarray,
    pose: np.ndarray,
    rest: np.ndarray,
    lengths: np.ndarray,
    chosen: np.ndarray,
    height: float,
    known: np.ndarray | None = None,
) -> np.ndarray:
    """(B,) the bone that each bone moves with: its parent, or for chosen bones without one what their heads hang on.

    A bone hangs on another in whose frame its head keeps one place, the nearest such bone at rest; of all trees that
    leaves, the one with the least cost is taken (Chu and Liu 1965, Edmonds 1967). Chains that point at what carries
    them hang on that by their tails, see ``reversed_chains``.

    parents: (B,) of the rig, -1 for none.  pose: (F, B, 4, 4).  rest: (B, 4, 4).  lengths: (B,).  chosen: (B,) bool.
    height: of the body, in the rig's units as all of these.  known: (B,) the bone that each is known to follow, -1 for
    none: it counts as the nearest.
    """
    out = parents.copy()
    loose = np.flatnonzero(chosen & (parents < 0))
    if len(loose) < 2:
        return out
    on, whole = np.flatnonzero(chosen), pose
    pose = strided(pose, _LOOKED_AT)
    top, frames = tops(parents), np.linalg.pinv(pose[:, on, :3, :3])
    chunks = np.array_split(loose, -(-len(loose) * len(on) // _PAIRS))
    cost = np.concatenate([_costs(pose, frames, rest, lengths, part, on, height, known) for part in chunks])
    cost[top[on] == loose[:, None]] = np.inf
    # Of bones that could be the root the one that carries most is.
    nearest = np.bincount(cost.argmin(axis=1), minlength=len(on))[np.searchsorted(on, loose)]
    root_cost = height * (10.0 - 0.01 * _DISTANCE_COST * nearest)
    # Bones with a parent hang together already: a loose bone hangs on a whole part of the rig.
    for part, row in zip(loose, _arborescence(cost, loose, top[on], root_cost), strict=True):
        if row >= 0:
            out[part] = on[row]
    out = out if known is not None else _past_details(out, loose, whole, lengths, height)
    return turned_round(out, parents, pose, rest, lengths, chosen, height)


def _past_details(parents, loose, pose, lengths, height):
    """Motion parents (B,) in which nothing hangs on details of a face or hand that keep still on what they hang on."""
    out = parents.copy()
    hung = loose[parents[loose] >= 0]
    relative = np.linalg.inv(_proper(pose[:, parents[hung]])) @ pose[:, hung]
    relative[..., :3, :3] *= lengths[hung, None, None]
    still = np.abs(relative - relative[:1])[..., :3, :].max(axis=(0, 2, 3)) < _STILL * height
    is_detail = np.zeros(len(parents), bool)
    is_detail[hung] = still & (lengths[hung] < _DETAIL * height)
    for bone in hung:
        while is_detail[out[bone]]:
            out[bone] = out[out[bone]]
    return out


def _proper(matrices):
    """The matrices (..., 4, 4), the identity in place of those that have no inverse."""
    flat = np.abs(np.linalg.det(matrices[..., :3, :3])) < 1e-12
    return np.where(flat[..., None, None], np.eye(4), matrices)


def _costs(pose, frames, rest, lengths, loose, on, height, known):
    """(L, C) of hanging loose bones on others, inf where they stray. frames: (F, C, 3, 3) inverse, of the others."""
    strayed = _strayed(pose, frames, loose, on, STRAY * height)
    apart = _distances(rest, lengths, loose, on)
    if known is not None:
        apart[on == known[loose][:, None]] = -_KNOWN * height
    # Of bones that start in one place the longer one carries.
    longer = 1e-2 * lengths[loose][:, None] / (lengths[loose][:, None] + lengths[on])
    return strayed + _DISTANCE_COST * (apart + longer * height)


def _strayed(pose, frames, loose, on, most):
    """(L, C) how far the heads of loose bones stray from their middle place in the frames of others, inf where that is
    more than most."""
    heads = pose[..., :3, 3]
    own = np.einsum("fcab,fcb->fca", frames, heads[:, on])
    places = frames.reshape(len(pose), -1, 3) @ heads[:, loose].swapaxes(1, 2)
    places = places.reshape(*own.shape, len(loose)) - own[..., None]
    # What ranges over more than twice that strays; of most pairs that is all there is to ask.
    columns, rows = np.nonzero((np.ptp(places, axis=0) <= 2.0 * most).all(axis=1))
    near = places[:, columns, :, rows]
    strayed = np.linalg.norm(near - np.median(near, axis=1, keepdims=True), axis=-1).max(axis=1)
    out = np.full((len(loose), len(on)), np.inf)
    out[rows, columns] = np.where(strayed <= most, strayed, np.inf)
    return out


def _distances(rest, lengths, loose, on):
    """(L, C) of the heads of loose bones from the others at rest, in a measure of what carries what.

    It is the mean of that from the bone and from its tail, for what a bone carries begins at its end more often than
    beside its head, where its twin on the other side begins. It grows beyond the bone's own length: a face hangs on the
    skull, not on the neck.
    """
    axis, heads = rest[on, :3, 1], rest[:, :3, 3]
    away = heads[loose, None] - heads[on]
    along = np.clip(np.einsum("lck,ck->lc", away, axis), 0.0, lengths[on])
    aside = np.linalg.norm(away - along[..., None] * axis, axis=-1)
    far = 0.5 * (aside + np.linalg.norm(away - lengths[on, None] * axis, axis=-1))
    return far * (1.0 + far / lengths[on])


def _arborescence(cost, loose, top, root_cost):
    """The cheapest forest over the loose bones: (L,) column that each hangs on, -1 for a root.

    cost: (L, C).  root_cost: (L,) of standing by itself.
    top: (C,) the loose bone, or parentless one, that carries each column.
    """
    count = len(loose)
    rank = {int(bone): k for k, bone in enumerate(loose)}
    node = np.array([rank.get(int(bone), count) for bone in top])
    best = np.full((count, count + 1), np.inf)  # from a loose bone to another, the last: to what stands by itself
    column = np.full((count, count + 1), -1)
    for target in np.unique(node):
        there = np.flatnonzero(node == target)
        nearest = cost[:, there].argmin(axis=1)
        best[:, target] = cost[np.arange(count), there[nearest]]
        column[:, target] = np.where(np.isfinite(best[:, target]), there[nearest], -1)
    alone = best[:, count] > root_cost
    best[alone, count], column[alone, count] = root_cost[alone], -1
    chosen = _cheapest_parents(best)
    return column[np.arange(count), chosen]


def _cheapest_parents(cost):
    """(N,) parent of each of N nodes, N being the root: Chu-Liu/Edmonds on a dense cost (N, N + 1).

    In time and memory proportional to that (Tarjan, 1977, "Finding optimum branchings"): from each node the cheapest
    edges are followed up to the root; a cycle that they close becomes one node, in the place of its first one.
    """
    count = len(cost)
    graph = _Graph(cost)
    done, on_path = np.zeros(count + 1, bool), np.zeros(count + 1, bool)
    done[count] = True
    for start in range(count):
        path, at = [], start
        while not done[at]:
            if on_path[at]:
                first = path.index(at)
                graph.contract(path[first:])
                done[path[first + 1 :]] = True
                path = path[:first]
            on_path[at] = True
            path.append(at)
            at = graph.follow(at)
        done[path] = True
    return graph.parents()


class _Graph:
    """Edges to choose from. A cycle that was made one node keeps its first node's place, and has a number of its own.

    cost: (N, N + 1).  ends: (2, N, N + 1) the original nodes of each edge.  number: (N,) what is at each place.
    within: what each number was put into, -1 for nothing.  chosen: the original nodes of each number's edge.
    """

    def __init__(self, cost):
        self.count, self.cost = len(cost), cost.copy()
        self.ends = np.indices(cost.shape, np.int32)
        self.number = np.arange(len(cost))
        self.to = np.full(len(cost), -1)
        self.within = [-1] * len(cost)
        self.chosen = [(-1, -1)] * len(cost)

    def follow(self, node: int) -> int:
        """Choose a node's cheapest edge; returns where it leads."""
        self.to[node] = to = int(self.cost[node].argmin())
        self.chosen[self.number[node]] = tuple(self.ends[:, node, to])
        return to

    def contract(self, cycle: list[int]) -> None:
        """Make a cycle one node; what enters it replaces the edge of the node where it enters."""
        first, every = cycle[0], np.arange(self.count)
        nearest = self.cost[:, cycle].argmin(axis=1)
        column = np.array(cycle)[nearest]
        self.cost[:, first], self.ends[:, :, first] = self.cost[every, column], self.ends[:, every, column]
        entering = self.cost[cycle] - self.cost[cycle, self.to[cycle]][:, None]
        entering[:, cycle] = np.inf
        at, row = np.arange(self.count + 1), np.array(cycle)[entering.argmin(axis=0)]
        self.cost[first], self.ends[:, first] = entering.min(axis=0), self.ends[:, row, at]
        self.cost[:, cycle[1:]] = np.inf
        for node in cycle:
            self.within[self.number[node]] = len(self.within)
        self.number[first] = len(self.within)
        self.within.append(-1)
        self.chosen.append((-1, -1))

    def parents(self):
        """(N,) what the nodes hang on: a cycle's edge takes the place of that of the node where it enters."""
        for cycle in reversed(range(self.count, len(self.within))):
            node = self.chosen[cycle][0]
            while self.within[node] != cycle:
                node = self.within[node]
            self.chosen[node] = self.chosen[cycle]
        return np.array([above for _, above in self.chosen[: self.count]])
