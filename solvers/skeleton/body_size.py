"""How large a body is, measured along its limbs: neither its pose, nor its rest pose, nor a root far away counts."""

from __future__ import annotations

import numpy as np

from ..core.types import JointTrack

# From fingertip to toe along the limbs; measured on captures and rigs of people, whose height is one.
_TIP_TO_TIP = 1.45
# A segment whose length changes by more than this share is a way, not a bone that gives; rounding, of the longest.
_RIGID, _ROUNDING = 0.25, 1e-5
# One segment longer than this share of all others together leads to something far off: a root, a camera, a target.
_OUTLIER, _ENOUGH = 1.0 / 3.0, 8


def body_size(track: JointTrack, bone_parents: np.ndarray, relevant: np.ndarray) -> float:
    """Height in metres of a person with limbs as long as this body's: of an animal, a size to measure by.

    track: all bone heads, then leaf tails.  bone_parents: (B,) what each bone moves with, see ``motion_tree``.
    relevant: (B,) bool, bones that belong to the body.
    The longest way from one end to another of the largest part in which segments keep their length. Tails longer than
    every bone that has a child count for nothing: importers guess them.  0 for joints in one place.
    """
    bones = len(relevant)
    positions, parents = track.positions, moving_parents(track, bone_parents)
    lengths, rigid = segments(positions, parents)
    counts = rigid & useful(parents, bones, relevant)
    controls = np.flatnonzero((parents[:bones] < 0) & ~relevant)
    counts &= ~np.isin(parents, controls)  # a root that is no part of the body leads nowhere in it
    heads = np.where(counts[:bones], lengths[:bones], 0.0)
    if heads.any():
        counts[bones:] &= lengths[bones:] <= heads.max()
    _leave_roots_aside(positions, parents, lengths, counts)
    _cut_outliers(lengths, counts)
    return _longest_way(parents, lengths, counts) / _TIP_TO_TIP


def moving_parents(track: JointTrack, bone_parents: np.ndarray) -> np.ndarray:
    """(J,) parents of all joints of a track, where those of its bones are given, (B,)."""
    return np.concatenate((bone_parents, track.skeleton.parents[len(bone_parents) :]))


def extent(positions: np.ndarray) -> float:
    """Longest side of the box of joints (F, J, 3), in the middle of the frames, but for one in twenty on each side.

    Less exact than ``body_size``, and asks for no tree.
    """
    sides = np.ptp(np.percentile(positions, (5, 95), axis=1), axis=0)
    return float(np.median(sides.max(axis=1)))


def segments(positions: np.ndarray, parents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(J,) median distance of joints (F, J, 3) from their parents, 0 for roots, and whether that hardly changes."""
    lengths, rigid = np.zeros(len(parents)), np.zeros(len(parents), bool)
    child = np.flatnonzero(parents >= 0)
    apart = np.linalg.norm(positions[:, child] - positions[:, parents[child]], axis=2)
    lengths[child] = np.median(apart, axis=0)
    rigid[child] = np.ptp(apart, axis=0) <= _RIGID * lengths[child] + _ROUNDING * lengths.max()
    return lengths, rigid


def useful(parents: np.ndarray, bones: int, relevant: np.ndarray) -> np.ndarray:
    """(J,) bool: relevant bones (B,) and what they hang on, and the tails of useful leaf bones."""
    keep = np.zeros(len(parents), bool)
    for bone in np.flatnonzero(relevant):
        while bone >= 0 and not keep[bone]:
            keep[bone] = True
            bone = parents[bone]
    keep[bones:] = keep[parents[bones:]]
    return keep


def distances_to_segments(
    positions: np.ndarray, joints: np.ndarray, ends: np.ndarray, parents: np.ndarray
) -> np.ndarray:
    """(F, n) distance of joints (n,) from the nearest of the segments that lead from their parents to ends (m,).

    positions: (F, J, 3).  parents: (J,).
    """
    starts = positions[:, None, parents[ends]]
    axis = positions[:, None, ends] - starts
    away = positions[:, joints, None] - starts
    square = np.maximum(np.einsum("fjek,fjek->fje", axis, axis), 1e-24)
    share = np.clip(np.einsum("fjek,fjek->fje", away, axis) / square, 0.0, 1.0)
    return np.linalg.norm(away - share[..., None] * axis, axis=3).min(axis=2)


def parents_first(parents: np.ndarray) -> np.ndarray:
    """(J,) joints in an order in which each follows its parent."""
    depth = np.zeros(len(parents), int)
    for joint, at in enumerate(parents):
        while at >= 0:
            depth[joint], at = depth[joint] + 1, parents[at]
    return np.argsort(depth, kind="stable")


def _leave_roots_aside(positions, parents, lengths, counts) -> None:
    """Where what hangs on a root is nearer to each other than to the root, such as one on the ground below the hips,
    the way from one to the next leads past it: changes all arrays in place."""
    for root in np.flatnonzero(~counts):
        children = np.flatnonzero(counts & (parents == root))
        if len(children) < 2:
            continue
        apart = np.median(np.linalg.norm(positions[:, children, None] - positions[:, None, children], axis=3), axis=0)
        if apart.max() < lengths[children].min():
            middle = apart.sum(axis=0).argmin()
            parents[children], lengths[children] = children[middle], apart[middle]
            parents[children[middle]], counts[children[middle]] = root, False


def _cut_outliers(lengths: np.ndarray, counts: np.ndarray) -> None:
    """Leave out of ``counts`` the segments that are far longer than a body's, the longest first."""
    total = lengths[counts].sum()
    for joint in np.argsort(np.where(counts, -lengths, 0.0), kind="stable"):
        rest = total - lengths[joint]
        if counts.sum() <= _ENOUGH or lengths[joint] <= _OUTLIER * rest:
            return
        counts[joint], total = False, rest


def _longest_way(parents, lengths, counts) -> float:
    """Along the segments that count, in the part with the most of them."""
    order = parents_first(parents)
    top = np.arange(len(parents))
    for joint in order:
        if counts[joint]:
            top[joint] = top[parents[joint]]
    down, second, size = np.zeros(len(parents)), np.zeros(len(parents)), np.bincount(top, minlength=len(parents))
    for joint in order[::-1]:
        if counts[joint]:
            at, reach = parents[joint], down[joint] + lengths[joint]
            down[at], second[at] = max(down[at], reach), max(second[at], min(down[at], reach))
    return float((down + second)[top == size.argmax()].max())
