"""The trunk of a body, from the tree of its joints."""

from __future__ import annotations

import numpy as np

# Limbs that come in pairs have as many joints and lengths that differ by less than this share.
_PAIRED = 0.2
# The trunk goes on while one child carries more than this share of what hangs below, by length.
_MOST = 0.8


def trunk_ends(parents: np.ndarray, lengths: np.ndarray) -> tuple[int, int]:
    """The joints between which the trunk lies: where the legs part, and where arms, neck or forelegs branch off.

    parents: (J,) int, parents first, -1 for roots.  lengths: (J,) from each joint's parent, metres.
    Below the first joint that branches the trunk goes on with the child that is not one of a pair and carries the
    longest bones, on to where no single child carries most of what is left. The two are one joint where there is none.
    """
    weight = np.where(parents < 0, 0.0, lengths).astype(float)
    count = np.ones(len(parents), int)
    for joint in range(len(parents))[::-1]:
        if parents[joint] >= 0:
            weight[parents[joint]] += weight[joint]
            count[parents[joint]] += count[joint]
    roots = np.flatnonzero(parents < 0)
    base = int(roots[weight[roots].argmax()])
    while len(children := np.flatnonzero(parents == base)) == 1 and (parents == children[0]).any():
        base = int(children[0])
    if not len(children):
        return base, base
    single = [child for child in children if not _has_twin(child, children, weight, count)]
    top = _heaviest(single or children, weight)
    while len(children := np.flatnonzero(parents == top)):
        heaviest = _heaviest(children, weight)
        if weight[heaviest] <= _MOST * weight[children].sum():
            break
        top = heaviest
    return base, top


def _heaviest(joints, weight):
    return int(max(joints, key=lambda joint: weight[joint]))


def _has_twin(joint, siblings, weight, count):
    return any(
        other != joint
        and count[other] == count[joint]
        and abs(weight[other] - weight[joint]) <= _PAIRED * max(weight[other], weight[joint])
        for other in siblings
    )
