"""The trunk of a body, from the tree of its joints."""

from __future__ import annotations

import numpy as np

# Limbs that come in pairs have as many joints and lengths that differ by less than this share.
PAIRED = 0.2
# The trunk goes on while one child carries more than this share of what hangs below, by length.
_MOST = 0.8
# Share of all bones, by length, that a body has among what belongs to none.
_BODY = 0.8
# Limbs that may be legs alone: where they part, head and tail may begin alike.
_ONE_PAIR = 2


def trunk_ends(parents: np.ndarray, lengths: np.ndarray, places: np.ndarray) -> tuple[int, int]:
    """The joints between which the trunk lies: where the legs part, and where arms, neck or forelegs branch off.

    parents: (J,) int, parents first, -1 for roots.  lengths: (J,) from each joint's parent, metres.  places: (J, 3) of
    the joints in one frame.
    Below the first joint that branches the trunk goes on with a child that is not one of a pair, on to where no single
    child carries most of what is left. Of several such children it is the one with the longest bones among those that
    branch: a tail is a chain that does not. Where all are chains it is the one along which the limbs lie, without the
    bone at its tip, the head. The two ends are one joint where there is no trunk.
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
    chains = {child: _chain(child, parents) for child in single}
    branching = [child for child in single if (parents == chains[child][-1]).any()]
    if single and not branching:
        limbs = [child for child in children if child not in single]
        chain = chains[_beside(limbs, chains, places) if len(limbs) > _ONE_PAIR else _heaviest(single, weight)]
        return base, int(chain[max(len(chain) - 2, 0)])
    top = _heaviest(branching or children, weight)
    while len(children := np.flatnonzero(parents == top)):
        heaviest = _heaviest(children, weight)
        if weight[heaviest] <= _MOST * weight[children].sum():
            break
        top = heaviest
    return base, top


def trunk_path(parents: np.ndarray, ends: tuple[int, int]) -> list[int]:
    """The joints from the upper end of a trunk down to the lower one. ends: see ``trunk_ends``."""
    path = [ends[1]]
    while path[-1] != ends[0]:
        path.append(int(parents[path[-1]]))
    return path


def root_and_trunk(parents: np.ndarray, lengths: np.ndarray, places: np.ndarray) -> tuple[list[int], list[int]]:
    """The root of a body, and its trunk as of ``trunk_path``; arguments of ``trunk_ends``.

    Of several trees, as two hands are, only one that is most of all by length has any, and a chain no more than its
    root: it may be a limb.
    """
    root = np.arange(len(parents))
    while (above := parents[root] >= 0).any():
        root[above] = parents[root[above]]
    each = np.bincount(root, lengths, len(parents))
    if each.max() <= _BODY * each.sum():
        return [], []
    branches = np.bincount(parents[parents >= 0], minlength=1).max() > 1
    return [int(each.argmax())], trunk_path(parents, trunk_ends(parents, lengths, places)) if branches else []


def _chain(joint, parents):
    """The joints from one on, as far as none branches."""
    out = [joint]
    while len(children := np.flatnonzero(parents == out[-1])) == 1:
        out.append(children[0])
    return out


def _beside(limbs, chains, places):
    """The first joint of the chain from which the farthest of the limbs' joints is nearest."""

    def farthest(child):
        away = places[limbs][:, None] - places[chains[child]]
        return np.linalg.norm(away, axis=2).min(axis=1).max()

    return min(chains, key=farthest)


def _heaviest(joints, weight):
    return int(max(joints, key=lambda joint: weight[joint]))


def _has_twin(joint, siblings, weight, count):
    return any(
        other != joint
        and count[other] == count[joint]
        and abs(weight[other] - weight[joint]) <= PAIRED * max(weight[other], weight[joint])
        for other in siblings
    )
