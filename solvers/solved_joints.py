"""Which joints of a rig a full-body warp solves: from any rig to a plain skeleton of the body.

Rigs carry control bones, fingers, stubs and feet that hang on controls instead of on legs. What is left here is the
body as the eye sees it; every other bone rides on what is solved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .errors import InputError
from .types import JointTrack, Skeleton

# Shares of the body's height.
_COINCIDENT = 0.004
_SHORT_TAIL = 0.03
_FAN_REACH = 0.16
_LOOSE = 0.01
_ATTACHED = 0.025
_FAN_LEAVES = 3


@dataclass(frozen=True)
class SolvedJoints:
    """The choice: indices refer to the joints of a whole track (B bone heads, then tails of leaf bones).

    joints: (K,) solved joints, parents first.  parents: (K,) into joints, -1 for roots.  effectors: (K,) bool.
    placed: (K,) bool, bones whose head must be written as a location: roots, and bones that hang on another bone than
    their parent.
    """

    joints: np.ndarray
    parents: np.ndarray
    effectors: np.ndarray
    placed: np.ndarray

    def track(self, whole: JointTrack) -> JointTrack:
        """The solved joints of a track of all joints."""
        skeleton = Skeleton(tuple(whole.skeleton.names[j] for j in self.joints), self.parents)
        return JointTrack(skeleton, whole.positions[:, self.joints], whole.fps, whole.frames)


def body_height(joints: np.ndarray) -> float:
    """Size of a body from its joints at rest (J, 3), metres: the longest side of their box.

    A T-pose spans as much as it is high.
    """
    return float(np.ptp(joints, axis=0).max())


def solved_joints(
    track: JointTrack, bones: int, relevant: np.ndarray, connected: np.ndarray, height: float
) -> SolvedJoints:
    """Choose the joints to solve.

    track: all bone heads (B = ``bones``), then leaf tails.  relevant: (B,) bool, bones that move the skin.
    connected: (B,) bool, bones whose head cannot leave the parent's tail.  height: metres.
    Raises InputError where nothing is left to solve.
    """
    parents = _hang(track, bones, relevant, height)
    keep = _useful(parents, bones, relevant)
    lengths = _lengths(track.positions, parents)
    keep &= ~((parents >= 0) & (lengths < _COINCIDENT * height) & (np.arange(len(parents)) < bones))
    keep[bones:] &= lengths[bones:] > _SHORT_TAIL * height
    _drop_fans(track.positions, parents, keep, height)
    _drop_stems(parents, keep, connected)
    joints = np.flatnonzero(keep)
    if len(joints) < 2:
        raise InputError("No bones are left to solve; the rig needs at least one bone that deforms something.")
    up = _kept_parents(parents, keep)
    order = _parents_first(joints, up)
    rank = {int(joint): k for k, joint in enumerate(order)}
    new = np.array([rank.get(int(up[joint]), -1) for joint in order])
    rig_parents = track.skeleton.parents
    hung = np.array([joint < bones and parents[joint] != rig_parents[joint] for joint in order])
    return SolvedJoints(order, new, _effectors(new), (new < 0) | hung)


def _lengths(positions, parents):
    """(J,) median distance to the parent, 0 for roots."""
    out = np.zeros(len(parents))
    child = np.flatnonzero(parents >= 0)
    out[child] = np.median(np.linalg.norm(positions[:, child] - positions[:, parents[child]], axis=2), axis=0)
    return out


def _hang(track, bones, relevant, height):
    """Parents (J,), where a bone that slides against its parent but stays at another bone's end hangs on that one.

    Exported rigs keep feet under a control while legs only point at them; what must stay together is the leg and the
    foot.
    """
    parents = track.skeleton.parents.copy()
    positions = track.positions
    child = np.flatnonzero(parents[:bones] >= 0)
    length = np.linalg.norm(positions[:, child] - positions[:, parents[child]], axis=2)
    loose = child[np.ptp(length, axis=0) > _LOOSE * height]
    tails = np.arange(bones, len(parents))
    for bone in loose:
        if not relevant[bone] or not tails.size:
            continue
        gap = np.linalg.norm(positions[:, tails] - positions[:, bone, None], axis=2).max(axis=0)
        nearest = int(gap.argmin())
        owner = parents[tails[nearest]]
        if gap[nearest] < _ATTACHED * height and not _is_below(parents, owner, bone):
            parents[bone] = owner
    return parents


def _is_below(parents, joint, ancestor):
    while joint >= 0:
        if joint == ancestor:
            return True
        joint = parents[joint]
    return False


def _useful(parents, bones, relevant):
    """(J,) bool: relevant bones and what they hang on, and the tails of useful leaf bones."""
    keep = np.zeros(len(parents), bool)
    for bone in np.flatnonzero(relevant):
        while bone >= 0 and not keep[bone]:
            keep[bone] = True
            bone = parents[bone]
    keep[bones:] = keep[parents[bones:]]
    return keep


def _drop_fans(positions, parents, keep, height):
    """Hands, heads and paws end in one joint: fingers and features ride on them rigidly."""
    rest = positions[0]
    for joint in _parents_first(np.flatnonzero(keep), parents):
        if not keep[joint]:
            continue
        below = [j for j in np.flatnonzero(keep) if j != joint and _is_below(parents, j, joint)]
        inner = {int(parents[j]) for j in below}
        leaves = [j for j in below if j not in inner]
        if len(leaves) < _FAN_LEAVES:
            continue
        if np.linalg.norm(positions[:, below] - positions[:, [joint]], axis=2).max() > _FAN_REACH * height:
            continue
        children = [j for j in below if parents[j] == joint]
        middle = np.mean([rest[j] for j in children], axis=0)
        kept = min(children, key=lambda j: np.linalg.norm(rest[j] - middle))
        keep[below] = False
        keep[kept] = True


def _drop_stems(parents, keep, connected):
    """A tree starts where it first branches: bones above, such as a root at the ground, stay as they are."""
    for root in np.flatnonzero(keep):
        if _kept_parent(parents, keep, root) >= 0:
            continue
        stem = [root]
        while True:
            children = [j for j in np.flatnonzero(keep) if _kept_parent(parents, keep, j) == stem[-1]]
            if len(children) != 1:
                break
            stem.append(children[0])
        if not children:
            continue  # a chain without a branch: its first bone carries it
        while len(stem) > 1 and stem[-1] < len(connected) and connected[stem[-1]]:
            stem.pop()
        keep[stem[:-1]] = False


def _kept_parent(parents, keep, joint):
    joint = parents[joint]
    while joint >= 0 and not keep[joint]:
        joint = parents[joint]
    return joint


def _kept_parents(parents, keep):
    return np.array([_kept_parent(parents, keep, j) for j in range(len(parents))])


def _parents_first(joints, parents):
    depth = []
    for joint in joints:
        count, at = 0, parents[joint]
        while at >= 0:
            count, at = count + 1, parents[at]
        depth.append(count)
    return np.asarray(joints)[np.argsort(depth, kind="stable")]


def _effectors(parents):
    """Ends of limbs and the joints before them (toes and ankles, knuckles and wrists), roots left out."""
    leaf = np.ones(len(parents), bool)
    leaf[parents[parents >= 0]] = False
    out = leaf.copy()
    before = parents[leaf]
    out[before[before >= 0]] = True
    return out & (parents >= 0)
