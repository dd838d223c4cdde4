"""How the bones that carry a body hang on one another, where no plan of the rig tells.

Their parents do not: mechanisms stand between them.  Bones of a chain meet, head on tail, though a generated chain may
run the other way; so what meets is linked, and hangs on what lies nearer to the bone that they begin with.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .measured_poses import MeasuredPoses

_MET = 1e-3  # head on tail, as a share of the rig's size
# How far linked bones are from each other: by a bone and its parent, head on tail, and with mechanisms between them.
_PARENT, _MEETS, _ABOVE = 1.0, 1.01, 5.0


def hung_on(poses: MeasuredPoses, bones: np.ndarray, carried: Mapping[int, int]) -> np.ndarray:
    """(K,) the bone of those on which each hangs, -1 for roots: the one that the most may hang on, and what is linked
    to nothing and moves with nothing else.

    carried: the carrier of each deforming bone, which counts in its place.
    """
    links = _links(poses, bones, carried)
    apart = np.minimum(links, links.T)
    may_hang, moved = np.isfinite(links), poses.moves[:, :, bones].sum(axis=(0, 1))
    placed = np.zeros(len(bones), bool)
    out = np.full(len(bones), -1)
    while not placed.all():
        start = _start(may_hang, moved, ~placed)
        part = _spread(apart, start, out)
        if placed.any():
            out[start] = _goes_with(poses, bones, start, np.flatnonzero(placed))
        placed |= part
    return np.where(out >= 0, bones[out], -1)


def sorted_tree(bones: np.ndarray, parents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(K,) bones, parents first, and (K,) the index of each one's parent among them; parents (K,) are bones or -1."""
    above = dict(zip(bones.tolist(), parents.tolist(), strict=True))
    placed: dict[int, int] = {}
    for bone in above:
        chain = []
        while bone in above and bone not in placed:
            chain.append(bone)
            bone = above[bone]
        for each in reversed(chain):
            placed[each] = len(placed)
    order = list(placed)
    return np.array(order), np.array([placed.get(above[bone], -1) for bone in order])


def _links(poses: MeasuredPoses, bones: np.ndarray, carried: Mapping[int, int]) -> np.ndarray:
    """(K, K) how far a bone is from one that it may hang on, infinite where it may not."""
    heads = poses.rig.rest[bones, :3, 3]
    tails = heads + poses.rig.rest[bones, :3, 1] * poses.rig.lengths[bones, None]
    on_tail = np.linalg.norm(heads[:, None] - tails, axis=-1) < _MET * poses.size
    out = np.where(on_tail, _MEETS, np.inf)
    index = {bone: number for number, bone in enumerate(bones.tolist())}
    for number, bone in enumerate(bones.tolist()):
        above, far = int(poses.rig.parents[bone]), _PARENT
        while above >= 0 and index.get(carried.get(above, above), number) == number:
            above, far = int(poses.rig.parents[above]), _ABOVE
        if above >= 0:
            other = index[carried.get(above, above)]
            out[number, other] = min(out[number, other], far)
    np.fill_diagonal(out, np.inf)
    return out


def _start(may_hang: np.ndarray, moved: np.ndarray, among: np.ndarray) -> int:
    """The bone that those among (K,) begin with: that hangs on the fewest of them, and that the most hang on.

    may_hang: (K, K).  moved: (K,) how many controls move each.  A chain that was turned round begins with its tip, and
    ever fewer controls move what follows: then it is where they are fewest.
    """
    reached = may_hang.copy()
    for _ in range(int(np.log2(len(reached))) + 1):
        reached |= reached @ reached
    np.fill_diagonal(reached, False)
    ahead, behind = reached.sum(axis=0), (reached & among).sum(axis=1)
    bones = np.flatnonzero(among)
    start = int(bones[np.lexsort((-ahead[bones], behind[bones]))[0]])
    found, waiting = {start}, [start]
    while waiting:
        here = waiting.pop()
        after = np.flatnonzero(may_hang[:, here] & among & (moved <= moved[here]))
        waiting += [each for each in after.tolist() if each not in found]
        found.update(after.tolist())
    return min(found, key=lambda each: (moved[each], behind[each], each))


def _spread(apart: np.ndarray, start: int, parents: np.ndarray) -> np.ndarray:
    """(K,) bool, the bones that links lead to from one; each gets its parent on the shortest way (Dijkstra 1959)."""
    distance = np.full(len(apart), np.inf)
    distance[start] = 0.0
    done = np.zeros(len(apart), bool)
    while np.isfinite(np.where(done, np.inf, distance)).any():
        here = int(np.argmin(np.where(done, np.inf, distance)))
        done[here] = True
        nearer = ~done & (distance[here] + apart[here] < distance)
        distance[nearer], parents[nearer] = distance[here] + apart[here, nearer], here
    return done


def _goes_with(poses: MeasuredPoses, bones: np.ndarray, number: int, others: np.ndarray) -> int:
    """Of the others the bone that the fewest controls part one from, the nearest of several; -1 where no control moves
    it with any."""
    parted = poses.loosened_by(np.full(len(others), bones[number]), bones[others]).any(axis=2).sum(axis=(0, 2))
    together = (poses.moves[:, :, bones[number]][..., None] & poses.moves[:, :, bones[others]]).any(axis=(0, 1))
    heads = poses.rig.rest[bones, :3, 3]
    apart = np.linalg.norm(heads[others] - heads[number], axis=1)
    return next((int(others[each]) for each in np.lexsort((apart, parted)) if together[each]), -1)
