"""Chains of bones that point at what carries them, such as a tail whose first bone is its tip.

The head of such a bone swings about its tail, and that keeps its place in the frame of what carries it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .hierarchy import tops
from .rig import Rig

# Share of the body's height: what strays farther from its place in a bone's frame does not hang on that bone.
STRAY = 0.02
# A bone points at another where its tail is nearer than its head by more than the first share of its length, and not
# farther than the second.
_NEARER, _NEAR = 0.5, 1.0
# Share of the body's height: a head that strays no more does not swing.
_STILL = 1e-3


def reversed_bones(rig: Rig, motion_parents: np.ndarray, pose: np.ndarray, size: float) -> np.ndarray:
    """(B,) bool: bones that move with one that they point at, and on which they hang by their tails.

    motion_parents: (B,), see ``hung_bones``.  pose: (F, B, 4, 4) in armature space.  size: of the body, in the rig's
    units.  Where the head of one bone swings, those that the chain goes on with count as well.
    """
    hanging = _ByTail(pose, rig.rest, rig.lengths, STRAY * size)
    hung = np.flatnonzero((motion_parents >= 0) & (motion_parents != rig.parents) & ~rig.use_connect)
    hung = np.array([bone for bone in hung if hanging.of([bone], motion_parents[[bone]]).any()], int)
    out = np.zeros(len(motion_parents), bool)
    on = motion_parents[hung]
    swings = _strayed(pose[:, hung][..., :3, 3], pose[:, on]) > 2.0 * hanging.strays(hung, on) + _STILL * size
    more = hung[swings]
    while more.size:
        out[more] = True
        more = hung[~out[hung] & out[motion_parents[hung]]]
    return out


def turned_round(
    tree: np.ndarray,
    parents: np.ndarray,
    pose: np.ndarray,
    rest: np.ndarray,
    lengths: np.ndarray,
    chosen: np.ndarray,
    height: float,
) -> np.ndarray:
    """A tree (B,) of what moves with what, in which chains that lead from their tip to what carries them hang on that.

    A part that stands by itself hangs on a larger one by the tail of one of its bones, as a whole where the rig has it
    begin at the tip. Where the chain leads to the bone that the rest branches from, that bone becomes the root.

    tree: (B,) by heads alone.  parents: (B,) of the rig, which stay.  The others: see ``motion_tree.motion_parents``.
    """
    out, loose, hanging = tree.copy(), chosen & (parents < 0), _ByTail(pose, rest, lengths, STRAY * height)
    roots = np.flatnonzero(loose & (out < 0))
    size = np.bincount(tops(out), np.where(chosen, lengths, 0.0), len(out))
    roots = roots[np.argsort(size[roots], kind="stable")]
    for number, root in enumerate(roots[:-1]):
        larger = np.flatnonzero(chosen & np.isin(tops(out), roots[number + 1 :]))
        ways = _ways_back(out, root, chosen, hanging)
        ends = np.array(list(ways))
        apart = np.where(hanging.of(ends, larger), hanging.distances(ends, larger), np.inf)
        if np.isfinite(apart).any():
            end, other = np.unravel_index(apart.argmin(), apart.shape)
            way = ways[ends[end]]
            if loose[way].all():
                _reverse(out, way)
                root = way[-1]
            out[root] = larger[other]
    if roots.size:
        _reverse(out, _stem(out, roots[-1], loose, hanging))
    return out


@dataclass(frozen=True)
class _ByTail:
    """Which bones hang on which by their tails. pose: (F, B, 4, 4).  rest: (B, 4, 4).  lengths: (B,).
    most: how far a tail may stray from its place."""

    pose: np.ndarray
    rest: np.ndarray
    lengths: np.ndarray
    most: float

    def of(self, bones, on) -> np.ndarray:
        """(n, m) bool: bones (n,) point at others (m,) at rest, and their tails keep their places in those frames."""
        bones, size = np.asarray(bones), self.lengths[bones][:, None]
        tail, head = self.distances(bones, on), _to_segments(self.rest[bones, :3, 3], self.rest[on], self.lengths[on])
        out = (head - tail > _NEARER * size) & (tail < _NEAR * size)
        row, column = np.nonzero(out)
        if row.size:
            bone, other = bones[row], on[column]
            out[row, column] = self.strays(bone, other) <= self.most
        return out

    def strays(self, bones, on) -> np.ndarray:
        """(n,) how far the tails of bones (n,) stray in the frames of others (n,)."""
        pose = self.pose[:, bones]
        tails = pose[..., :3, 3] + pose[..., :3, 1] * self.lengths[bones, None]
        return _strayed(tails, self.pose[:, on])

    def distances(self, bones, on) -> np.ndarray:
        """(n, m) of the tails of bones (n,) from others (m,) at rest."""
        tails = self.rest[bones, :3, 3] + self.rest[bones, :3, 1] * self.lengths[bones, None]
        return _to_segments(tails, self.rest[on], self.lengths[on])


def _reverse(tree, way) -> None:
    """Let each bone of a way (n,) down a tree hang on the next; the last one becomes a root."""
    tree[way[:-1]] = way[1:]
    tree[way[-1]] = -1


def _ways_back(tree, root, chosen, hanging: _ByTail) -> dict[int, list[int]]:
    """The bones that a root leads to through bones that hang on the next by their tails, and the ways there."""
    ways, ahead = {int(root): [int(root)]}, [int(root)]
    while ahead:
        bone = ahead.pop()
        children = np.flatnonzero((tree == bone) & chosen)
        for child in children[hanging.of([bone], children)[0]]:
            ways[int(child)] = [*ways[bone], int(child)]
            ahead.append(int(child))
    return ways


def _stem(tree, root, loose, hanging: _ByTail) -> list[int]:
    """The way from a root to where its tree first branches, the root alone where a bone on it does not hang there."""
    stem, children = [int(root)], np.flatnonzero(tree == root)
    while len(children) == 1:
        if not (loose[children[0]] and hanging.of(stem[-1:], children).all()):
            return stem[:1]
        stem.append(int(children[0]))
        children = np.flatnonzero(tree == stem[-1])
    return stem if len(children) else stem[:1]


def _strayed(points, pose):
    """(n,) how far points (F, n, 3) stray from their middle place in the frames of bones (F, n, 4, 4)."""
    away = points - pose[..., :3, 3]
    places = (np.linalg.pinv(pose[..., :3, :3]) @ away[..., None])[..., 0]
    return np.linalg.norm(places - np.median(places, axis=0), axis=-1).max(axis=0)


def _to_segments(points, rest, lengths):
    """(n, m) distances of points (n, 3) from bones (m, 4, 4) at rest."""
    away = points[:, None] - rest[:, :3, 3]
    along = np.clip(np.einsum("nmk,mk->nm", away, rest[:, :3, 1]), 0.0, lengths)
    return np.linalg.norm(away - along[..., None] * rest[:, :3, 1], axis=-1)
