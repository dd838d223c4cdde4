"""Which bones of a rig are its body: those that carry skin, where the skin leaves no limb bare."""

from __future__ import annotations

import numpy as np

from .body_size import body_size, distances_to_segments, moving_parents, parents_first, segments, useful
from .types import JointTrack

# Shares of the body's size: a limb is longer than a hand, and controls stay beside what they control.
_LIMB, _BESIDE = 0.24, 0.1
_BONES = 2
# Frames looked at.
_LOOKED_AT = 16


def body_bones(
    track: JointTrack, bone_parents: np.ndarray, carrying: np.ndarray, deforming: np.ndarray
) -> np.ndarray:
    """(B,) bool: the bones that belong to the body; the others are controls.

    track: all bone heads, then leaf tails.  bone_parents: (B,) what each bone moves with, see ``motion_tree``.
    carrying: (B,) bool, bones that own skin or carry objects.  deforming: (B,) bool, bones that would deform a skin.
    Where nothing is carried, what deforms counts. Limbs that are left bare belong to the body as well. Where fewer
    bones carry something than are bare or lead to it, that are props or clothes, which say nothing about other bones.
    """
    if not carrying.any():
        return deforming
    parents = moving_parents(track, bone_parents)
    used = useful(parents, len(carrying), carrying)
    size = body_size(track, bone_parents, carrying | deforming)
    bare = _bare(track.positions, parents, used, deforming, size)
    leading = used[: len(carrying)] & deforming & ~carrying
    props = bare.any() and carrying.sum() < (bare | leading).sum()
    return carrying | deforming if props else carrying | bare


def _bare(positions, parents, used, deforming, size: float) -> np.ndarray:
    """(B,) bool, deforming bones of limbs that carry nothing: chains most of which goes away from what carries
    something or leads to it, ``used``."""
    bones = len(deforming)
    positions = positions[:: -(-len(positions) // _LOOKED_AT)]
    lengths, rigid = segments(positions, parents)
    free = np.append(deforming, np.zeros(len(parents) - bones, bool)) & ~used & rigid & (lengths < size)
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
    out = np.zeros(bones, bool)
    for limb in np.unique(top[free]):
        own = top == limb
        if way[own].max() > _LIMB * size and count[own].max() >= _BONES and np.median(away[own]) > _BESIDE * size:
            out |= own[:bones]
    return out
