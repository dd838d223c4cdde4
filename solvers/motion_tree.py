"""The tree of what moves together, for bones that a rig does not hang on each other: flat exports and baked copies."""

from __future__ import annotations

import numpy as np

# Shares of the body's height. A bone that strays farther from its place in every other bone's frame stands by itself.
_STRAY = 0.02
# Straying costs more than distance: it tells apart what only lies close from what goes along.
_DISTANCE_COST = 0.002
# A bone that is known to follow another one counts as nearer than one that it touches.
_KNOWN = 0.01
# Shorter bones that move less against what they hang on are details of it.
_DETAIL, _STILL = 0.03, 1e-3
# Frames looked at, and pairs of them at once.
_LOOKED_AT = 32


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
    leaves, the one with the least cost is taken (Chu and Liu 1965, Edmonds 1967).

    parents: (B,) of the rig, -1 for none.  pose: (F, B, 4, 4).  rest: (B, 4, 4).  lengths: (B,).  chosen: (B,) bool.
    height: of the body, in the rig's units as all of these.  known: (B,) the bone that each is known to follow, -1 for
    none: it counts as the nearest.
    """
    out = parents.copy()
    loose = np.flatnonzero(chosen & (parents < 0))
    if len(loose) < 2:
        return out
    on = np.flatnonzero(chosen)
    cost = _strayed(pose[:: -(-len(pose) // _LOOKED_AT)], loose, on)
    apart = _distances(rest, lengths, loose, on)
    if known is not None:
        apart[on == known[loose][:, None]] = -_KNOWN * height
    # Of bones that start in one place the longer one carries.
    longer = 1e-2 * lengths[loose][:, None] / (lengths[loose][:, None] + lengths[on])
    top = _top_of(parents)
    allowed = (cost <= _STRAY * height) & (top[on] != loose[:, None])
    cost = np.where(allowed, cost + _DISTANCE_COST * (apart + longer * height), np.inf)
    # Of bones that could be the root the one that carries most is.
    nearest = np.bincount(cost.argmin(axis=1), minlength=len(on))[np.searchsorted(on, loose)]
    root_cost = height * (10.0 - 0.01 * _DISTANCE_COST * nearest)
    # Bones with a parent hang together already: a loose bone hangs on a whole part of the rig.
    for part, row in zip(loose, _arborescence(cost, loose, top[on], root_cost), strict=True):
        if row >= 0:
            out[part] = on[row]
    return out if known is not None else _past_details(out, loose, pose, lengths, height)


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


def _top_of(parents):
    """(B,) the parentless bone above each, itself included."""
    at = np.arange(len(parents))
    while (parents[at] >= 0).any():
        at = np.where(parents[at] >= 0, parents[at], at)
    return at


def _strayed(pose, loose, on):
    """(L, C) how far the heads of loose bones stray from their middle place in the frames of others."""
    frames = np.linalg.pinv(pose[:, on, :3, :3])
    heads = pose[..., :3, 3]
    away = heads[:, loose, None] - heads[:, None, on]
    places = np.einsum("fcab,flcb->flca", frames, away)
    return np.linalg.norm(places - np.median(places, axis=0), axis=-1).max(axis=0)


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
    """(N,) parent of each of N nodes, N being the root: Chu-Liu/Edmonds on a dense cost (N, N + 1)."""
    count = len(cost)
    parent = cost.argmin(axis=1)
    cycle = _cycle(parent)
    if not len(cycle):
        return parent
    # The cycle becomes one node; what enters it replaces the edge of the node where it enters.
    rest = np.setdiff1d(np.arange(count), cycle)
    outside = np.append(rest, count)
    inner = cost[cycle, parent[cycle]]
    entering = cost[np.ix_(cycle, outside)] - inner[:, None]
    leaving = cost[np.ix_(rest, cycle)]
    small = np.full((len(rest) + 1, len(rest) + 2), np.inf)
    merged = len(rest)
    small[:merged, :merged], small[:merged, -1] = cost[np.ix_(rest, rest)], cost[rest, count]
    small[:merged, merged] = leaving.min(axis=1) if len(rest) else small[:merged, merged]
    small[merged, :merged], small[merged, -1] = entering[:, :-1].min(axis=0), entering[:, -1].min()
    found = _cheapest_parents(small)
    out = parent.copy()
    for k, node in enumerate(rest):
        to = found[k]
        out[node] = cycle[leaving[k].argmin()] if to == merged else count if to > merged else rest[to]
    to = found[merged]
    entry = len(rest) if to > merged else to
    opened = entering[:, entry].argmin()
    out[cycle[opened]] = outside[entry]
    return out


def _cycle(parent):
    """Nodes of a cycle among parents (N,), N being the root; empty where there is none."""
    state = np.zeros(len(parent) + 1, int)
    for start in range(len(parent)):
        path, at = [], start
        while at < len(parent) and not state[at]:
            state[at] = 1
            path.append(at)
            at = parent[at]
        if at < len(parent) and state[at] == 1:
            return np.array(path[path.index(at) :])
        state[path] = 2
    return np.empty(0, int)
