"""Which bones carry a body that is posed by controls, and how they hang on one another.

A deforming bone of a control rig may say less than how the body is posed: segments of a limb share its twist, and
tweaks stretch them.  What carries it is a bone that lies along it at rest, that the same controls move, and on which
more of them ride.
"""

from __future__ import annotations

import numpy as np

from .measured_poses import MeasuredPoses

_ALONG = 0.02  # how far the ends of a bone may lie beside another that covers it, as a share of that one's length
_MET = 1e-3  # head on tail, as a share of the rig's size


def find_carriers(poses: MeasuredPoses) -> tuple[np.ndarray, np.ndarray]:
    """(K,) bones, each after the one that it hangs on, and (K,) the index of that one among them, -1 for roots."""
    if poses.plan is not None:
        bones = np.flatnonzero(poses.plan > -2)
        parents = poses.plan[bones]
    else:
        bones = np.unique(_carrier_of_each(poses))
        parents = _hung_on(poses, bones)
    return _sorted(bones, parents)


def _carrier_of_each(poses: MeasuredPoses) -> np.ndarray:
    """The bone that carries each deforming bone, (D,)."""
    deform = np.flatnonzero(poses.deform)
    first, second = _covered_by(poses, deform)
    rank = _rank(poses, first, second)
    own = _rank(poses, deform, deform)
    below = _descendants(poses.rig.parents)
    out = deform.copy()
    for number, bone in enumerate(deform):
        mine = np.flatnonzero(first == bone)
        if not mine.size:
            continue
        best = mine[np.lexsort((-below[second[mine]], rank[0][mine]))[0]]
        if rank[1][best] >= own[1][number] and (rank[1][best] > 0 or rank[0][best] == 0):
            out[number] = second[best]
    return out


def _rank(poses: MeasuredPoses, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of pairs (n,) of a deforming bone and one along it: in how many cases a control moves the former otherwise, and
    what rides on the latter, each control counting as much as it moves of what deforms."""
    broken = poses.loosened_by(first, second, axis_alone=True).sum(axis=(0, 2))
    bones, where = np.unique(second, return_inverse=True)
    controls = poses.controls
    pairs = np.array([(c, b) for b in bones for c in controls], int).reshape(-1, 2)
    rides = ~poses.loosened_by(pairs[:, 0], pairs[:, 1]).any(axis=2)
    index = np.searchsorted(controls, pairs[:, 0])
    rides &= poses.moves[:, index, pairs[:, 1]]
    weight = (poses.moves & poses.deform).sum(axis=2)[:, index]
    ridden = np.zeros(len(bones))
    np.add.at(ridden, np.searchsorted(bones, pairs[:, 1]), (rides * weight).sum(axis=0))
    return broken, ridden[where]


def _covered_by(poses: MeasuredPoses, deform: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (n,) of a deforming bone and another one, no control, whose segment covers it at rest."""
    rig = poses.rig
    heads = rig.rest[:, :3, 3]
    along = rig.rest[:, :3, 1]
    tails = heads + along * rig.lengths[:, None]
    others = np.setdiff1d(np.flatnonzero(~poses.deform), poses.controls)
    slack = _ALONG * rig.lengths[others] + 1e-5 * poses.size
    covered = np.ones((len(deform), len(others)), bool)
    for ends in (heads, tails):
        offset = ends[deform][:, None] - heads[others]
        way = (offset * along[others]).sum(axis=-1)
        beside = np.linalg.norm(offset - way[..., None] * along[others], axis=-1)
        covered &= (beside <= slack) & (way >= -slack) & (way <= rig.lengths[others] + slack)
    covered &= (along[deform] @ along[others].T) > 0.0
    first, second = np.nonzero(covered)
    return deform[first], others[second]


def _hung_on(poses: MeasuredPoses, bones: np.ndarray) -> np.ndarray:
    """(K,) the bone of those on which each hangs, -1 for roots: its parent, else the one on whose tail its head lies,
    else the nearest above it, else the one from which the fewest controls part it."""
    rig = poses.rig
    heads = rig.rest[bones, :3, 3]
    tails = heads + rig.rest[bones, :3, 1] * rig.lengths[bones, None]
    apart = np.linalg.norm(heads[:, None] - tails, axis=-1)
    np.fill_diagonal(apart, np.inf)
    out = np.full(len(bones), -1)
    chosen = set(bones.tolist())
    for number, bone in enumerate(bones):
        above = rig.parents[bone]
        while above >= 0 and above not in chosen:
            above = rig.parents[above]
        on_tail = np.flatnonzero(apart[number] < _MET * poses.size)
        if above >= 0 and (above == rig.parents[bone] or above in bones[on_tail]):
            out[number] = above
        elif on_tail.size:
            out[number] = bones[on_tail[0]]
        else:
            out[number] = above
    _join_roots(poses, bones, out)
    return out


def _join_roots(poses: MeasuredPoses, bones: np.ndarray, parents: np.ndarray) -> None:
    """Hang what has come out as a root on the carrier that it goes with most, but for the one most bones hang on."""
    roots = np.flatnonzero(parents < 0)
    if len(roots) < 2:
        return
    below = {root: _below(bones, parents, root) for root in roots}
    trunk = max(roots, key=lambda root: len(below[root]))
    for root in roots:
        if root == trunk:
            continue
        others = np.setdiff1d(np.arange(len(bones)), list(below[root]))
        first = np.full(len(others), bones[root])
        parted = poses.loosened_by(first, bones[others]).sum(axis=(0, 2))
        together = (poses.moves[:, :, bones[root]][..., None] & poses.moves[:, :, bones[others]]).sum(axis=(0, 1))
        apart = np.linalg.norm(poses.rig.rest[bones[others], :3, 3] - poses.rig.rest[bones[root], :3, 3], axis=1)
        best = np.lexsort((apart, parted))
        best = best[together[best] > 0]
        if best.size:
            parents[root] = bones[others[best[0]]]
            for other in roots:
                below[other] = _below(bones, parents, other)


def _descendants(parents: np.ndarray) -> np.ndarray:
    """(B,) how many bones hang on each, directly or not."""
    out = np.zeros(len(parents), int)
    for bone in range(len(parents) - 1, -1, -1):
        if parents[bone] >= 0:
            out[parents[bone]] += out[bone] + 1
    return out


def _below(bones: np.ndarray, parents: np.ndarray, root: int) -> set[int]:
    index = {bone: number for number, bone in enumerate(bones.tolist())}
    found, grown = {root}, True
    while grown:
        more = {n for n in range(len(bones)) if n not in found and index.get(int(parents[n]), -1) in found}
        grown = bool(more)
        found |= more
    return found


def _sorted(bones: np.ndarray, parents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Parents first; what would hang on itself in a circle becomes a root."""
    order: list[int] = []
    above = dict(zip(bones.tolist(), parents.tolist(), strict=True))
    for bone in bones.tolist():
        chain = []
        while bone >= 0 and bone in above and bone not in order and bone not in chain:
            chain.append(bone)
            bone = above[bone]
        if bone in chain:
            above[chain[-1]] = -1
        order += reversed(chain)
    place = {bone: number for number, bone in enumerate(order)}
    return np.array(order), np.array([place.get(above[bone], -1) for bone in order])
