"""Which bones carry a body that is posed by controls.

A deforming bone of a control rig may say less than how the body is posed: segments of a limb share its twist, and
tweaks stretch them.  What carries it is a bone that lies along it at rest, that the same controls move, and on which
more of them ride.
"""

from __future__ import annotations

import numpy as np

from .carrier_tree import hung_on, sorted_tree
from .measured_poses import MeasuredPoses

_ALONG = 0.02  # how far the ends of a bone may lie beside another that covers it, as a share of that one's length


def find_carriers(poses: MeasuredPoses) -> tuple[np.ndarray, np.ndarray]:
    """(K,) bones, each after the one that it hangs on, and (K,) the index of that one among them, -1 for roots.

    Where there is a plan of the rig its bones are among them, and hang as it tells.
    """
    deform = np.flatnonzero(poses.deform)
    carried = _carrier_of_each(poses, deform)
    plan = np.full(len(poses.deform), -2) if poses.plan is None else poses.plan
    planned = plan > -2
    bones = np.union1d(carried, np.flatnonzero(planned))
    parents = hung_on(poses, bones, dict(zip(deform.tolist(), carried.tolist(), strict=True)))
    return sorted_tree(bones, np.where(planned[bones], plan[bones], parents))


def _carrier_of_each(poses: MeasuredPoses, deform: np.ndarray) -> np.ndarray:
    """(D,) the bone that carries each of the deforming bones."""
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
    broken = poses.loosened_by(first, second, axis_alone=True).any(axis=2).sum(axis=(0, 2))
    bones, where = np.unique(second, return_inverse=True)
    of, on = (
        each.ravel() for each in np.meshgrid(np.arange(len(poses.controls)), np.arange(len(bones)), indexing="ij")
    )
    near = poses.may_be_rigid(poses.controls[of], bones[on]).any(axis=0)
    of, on = of[near], on[near]
    rides = ~poses.loosened_by(poses.controls[of], bones[on]).any(axis=(2, 3)) & poses.moves[:, of, bones[on]]
    weight = (poses.moves & poses.deform).sum(axis=2)
    ridden = np.zeros(len(bones))
    np.add.at(ridden, on, (rides * weight[:, of]).sum(axis=0))
    return broken, ridden[where]


def _covered_by(poses: MeasuredPoses, deform: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (n,) of a deforming bone and another one, no control, whose segment covers it at rest, and without which it
    stands still."""
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
    first, second = deform[first], others[second]
    goes_along = ~(poses.moves[:, :, second] & ~poses.moves[:, :, first]).any(axis=(0, 1))
    return first[goes_along], second[goes_along]


def _descendants(parents: np.ndarray) -> np.ndarray:
    """(B,) how many bones hang on each, directly or not."""
    out = np.zeros(len(parents), int)
    for bone in range(len(parents) - 1, -1, -1):
        if parents[bone] >= 0:
            out[parents[bone]] += out[bone] + 1
    return out
