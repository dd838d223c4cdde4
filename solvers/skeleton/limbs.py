"""The limbs of a body, from the tree of its joints, and what of a motion they leave out."""

from __future__ import annotations

import numpy as np

from .body_bones import bare_limbs
from .body_size import segments

# Shares of the body's size: what moves less stands still, what strays less keeps its place, what is longer is no bone.
_MOVES, _STRAY, _LONGEST = 0.01, 0.02, 1.0 / 3.0
# What strays more goes its own way; what strays less may be a bone that gives, breath or a coat.
_APART = 0.05
# What lies nearer to a solved bone is another layer of it.
_COPY = 0.03


def limbs(parents: np.ndarray) -> np.ndarray:
    """(K,) the first joint of the limb that each joint belongs to.

    parents: (K,), parents first, -1 for roots.  A limb goes on to where the body branches.  There each branch is one of
    its own, but the largest of those that branch again, which goes on with the trunk.
    """
    count = len(parents)
    below, branches = np.ones(count, int), np.zeros(count, bool)
    children = [np.flatnonzero(parents == joint) for joint in range(count)]
    for joint in range(count)[::-1]:
        below[joint] += below[children[joint]].sum()
        branches[joint] = len(children[joint]) > 1 or branches[children[joint]].any()
    out = np.arange(count)
    for joint in range(count):
        own = children[joint]
        trunk = own if len(own) == 1 else own[branches[own]]
        if len(trunk):
            out[trunk[below[trunk].argmax()]] = out[joint]
    return out


def uncovered(
    positions: np.ndarray,
    pose: np.ndarray,
    motion_parents: np.ndarray,
    body: np.ndarray,
    solved: np.ndarray,
    carrier: np.ndarray,
    size: float,
) -> tuple[float, np.ndarray]:
    """The share of what moves that is solved or rides rigidly, by length, and the bones (B,) bool that do neither.

    positions: (F, B, 3) of heads and pose: (F, B, 4, 4), both in armature space.  motion_parents: (B,).
    body, solved: (B,) bool.  carrier: (B,) the solved bone that each rides on, -1 for none.  size: of the body.
    """
    moving = body & (np.ptp(positions, axis=0).max(axis=-1) > _MOVES * size)
    rigid = (carrier >= 0) & (_strays(positions, pose, carrier) <= _STRAY * size)
    left = moving & ~solved & ~rigid
    lengths = np.minimum(segments(positions, motion_parents)[0], _LONGEST * size)
    total = lengths[moving].sum()
    return (1.0 - float(lengths[left].sum() / total) if total > 0.0 else 1.0), left


def straying(
    positions: np.ndarray,
    pose: np.ndarray,
    motion_parents: np.ndarray,
    candidates: np.ndarray,
    solved: np.ndarray,
    carrier: np.ndarray,
    size: float,
) -> np.ndarray:
    """(B,) the first bone of its limb for each bone that rides and leaves its place by what it rides on, -1 for others.

    A limb starts where it keeps its place by what it rides on: controls do not. Small parts such as fingers and jaws,
    and what lies along a solved bone, are no limbs.
    positions: (F, B, 3) of heads and pose: (F, B, 4, 4), both in armature space.  motion_parents: (B,).
    candidates, solved: (B,) bool, bones that may be limbs and those that are solved.  carrier: (B,) the solved bone
    that each rides on, -1 for none.  size: of the body.
    """
    first = bare_limbs(positions, motion_parents, solved, candidates & (carrier >= 0), size, _COPY)
    apart = _strays(positions, pose, carrier) > _APART * size
    return np.where((first >= 0) & apart & ~apart[first], first, -1)


def _strays(positions: np.ndarray, pose: np.ndarray, carrier: np.ndarray) -> np.ndarray:
    """(B,) how far heads (F, B, 3) move in the frames of their carriers, the longest side of the box."""
    away = positions - positions[:, carrier]
    places = np.einsum("fbji,fbj->fbi", pose[:, carrier][..., :3, :3], away)
    return np.ptp(places, axis=0).max(axis=-1)
