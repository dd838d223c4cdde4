"""Which bones of a rig are its body: those that carry skin, where the skin leaves no limb bare.

What marks bones as the body, a skin or the flag that they deform one, may be as partial as a single glove.
"""

from __future__ import annotations

import numpy as np

from ..core.subsampling import strided
from ..core.types import JointTrack
from .body_size import body_size, distances_to_segments, moving_parents, parents_first, segments, useful

# Shares of the body's size: a limb is longer than a hand, and controls stay beside what they control.
_LIMB, _BESIDE = 0.24, 0.1
# What moves less than this share stands still.
_MOVES = 0.01
_BONES = 2
# Frames looked at.
_LOOKED_AT = 16


def body_bones(track: JointTrack, bone_parents: np.ndarray, carrying: np.ndarray, deforming: np.ndarray) -> np.ndarray:
    """(B,) bool: the bones that belong to the body; the others are controls.

    track: all bone heads, then leaf tails.  bone_parents: (B,) what each bone moves with, see ``motion_tree``.
    carrying: (B,) bool, bones that own skin or carry objects.  deforming: (B,) bool, bones that would deform a skin.
    Where nothing is carried, what deforms counts. Limbs that are left bare belong to the body as well. Where fewer
    bones carry something than are bare or lead to it, that are props or clothes, which say nothing about other bones.
    Where more moves away from those bones than they are long, their marks say nothing either: the body is what moves
    and keeps its length.
    """
    parents = moving_parents(track, bone_parents)
    marked = _marked(track, parents, bone_parents, carrying, deforming) if carrying.any() else deforming
    return marked | _unmarked(track, parents, bone_parents, marked)


def _marked(track: JointTrack, parents, bone_parents, carrying, deforming) -> np.ndarray:
    """(B,) bool: the bones of the body as skins, objects and the flags of bones have it."""
    used = useful(parents, len(carrying), carrying)
    size = body_size(track, bone_parents, carrying | deforming)
    bare = bare_limbs(track.positions, parents, used, deforming, size) >= 0
    leading = used[: len(carrying)] & deforming & ~carrying
    props = bare.any() and carrying.sum() < (bare | leading).sum()
    return carrying | deforming if props else carrying | bare


def _unmarked(track: JointTrack, parents, bone_parents, marked) -> np.ndarray:
    """(B,) bool: the bones that move and keep their length, where more of that is away from the marked ones than
    those are long."""
    bones = len(marked)
    size = body_size(track, bone_parents, np.ones(bones, bool))
    positions = some_frames(track.positions)
    lengths, rigid = segments(positions, parents)
    keeps = (rigid & (lengths < size))[:bones]
    free = keeps & (np.ptp(positions[:, :bones], axis=0).max(axis=-1) > _MOVES * size)
    others, ends = np.flatnonzero(free & ~marked), np.flatnonzero(marked & (parents[:bones] >= 0))
    if ends.size:
        near = distances_to_segments(positions, others, ends, parents)
        others = others[np.median(near, axis=0) > _BESIDE * size]
    if lengths[others].sum() <= lengths[:bones][keeps & marked].sum():
        return np.zeros(bones, bool)
    return free | useful(parents, bones, free)[:bones]


def some_frames(values: np.ndarray) -> np.ndarray:
    """Of values (F, ...), some of the frames, evenly spaced."""
    return strided(values, _LOOKED_AT)


def bare_limbs(
    positions: np.ndarray,
    parents: np.ndarray,
    used: np.ndarray,
    bones_looked_at: np.ndarray,
    size: float,
    beside: float = _BESIDE,
) -> np.ndarray:
    """(B,) the first bone of the limb, in which nothing is used, that each bone belongs to, -1 for none: of chains most
    of which goes away from what is used.

    positions: (F, J, 3).  parents: (J,).  used: (J,) bool.  bones_looked_at: (B,) bool.  size: of the body.
    beside: a share of the size, what is nearer than that to what is used goes along with it.
    """
    bones = len(bones_looked_at)
    positions = some_frames(positions)
    lengths, rigid = segments(positions, parents)
    free = np.append(bones_looked_at, np.zeros(len(parents) - bones, bool)) & ~used & rigid & (lengths < size)
    top, way, count = np.full(len(parents), -1), np.zeros(len(parents)), np.zeros(len(parents), int)
    order = parents_first(parents)
    for joint in order[free[order]]:
        at = parents[joint]
        top[joint] = top[at] if free[at] else joint
        way[joint], count[joint] = way[at] + lengths[joint], count[at] + 1
    away, ends = np.full(len(parents), np.inf), np.flatnonzero(used & (parents >= 0))
    if ends.size:
        near = distances_to_segments(positions, np.flatnonzero(free), ends, parents)
        away[free] = near.max(axis=0)
    out = np.full(bones, -1)
    for limb in np.unique(top[free]):
        own = top == limb
        if way[own].max() > _LIMB * size and count[own].max() >= _BONES and np.median(away[own]) > beside * size:
            out[own[:bones]] = limb
    return out
