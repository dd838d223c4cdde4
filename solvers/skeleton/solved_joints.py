"""Which joints of a rig a full-body warp solves: from any rig to a plain skeleton of the body.

Rigs carry control bones, fingers, stubs and feet that hang on controls instead of on legs. What is left here is the
body as the eye sees it; every other bone rides on what is solved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.errors import InputError
from ..core.subsampling import strided
from ..core.types import JointTrack, Skeleton
from .body_size import distances_to_segments, parents_first, segments, useful

# Shares of the body's size.
_COINCIDENT = 0.004
_SHORT_TAIL, _LONG_TAIL = 0.03, 2.0
_FAN_REACH = 0.24
_LOOSE = 0.01
_ATTACHED, _OVERREACH, _LIMB, _FOOT = 0.06, 0.15, 0.4, 0.2
_BESIDE, _STUB = 0.06, 0.12
_FAN_BRANCHES = 2
# Frames looked at: distances between joints of a rig hardly change.
_LOOKED_AT = 64


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


def solved_joints(
    track: JointTrack,
    bones: int,
    relevant: np.ndarray,
    connected: np.ndarray,
    height: float,
    motion_parents: np.ndarray | None = None,
    solve: np.ndarray | None = None,
    ride: np.ndarray | None = None,
) -> SolvedJoints:
    """Choose the joints to solve.

    track: all bone heads (B = ``bones``), then leaf tails.  relevant: (B,) bool, bones that move the skin.
    connected: (B,) bool, bones whose head cannot leave the parent's tail.  height: metres, see ``body_size``.
    motion_parents: (B,) the bone that each bone moves with, see ``motion_tree``; by default its parent.
    solve, ride: (B,) bool, bones that are solved and bones that are not in any case.
    Raises InputError where nothing is left to solve, or a bone cannot be.
    """
    positions = strided(track.positions, _LOOKED_AT)
    parents = track.skeleton.parents.copy()
    if motion_parents is not None:
        parents[:bones] = motion_parents
    is_hung = parents[:bones] != track.skeleton.parents[:bones]
    parents = hang_feet(parents, positions, relevant, height, is_hung)
    keep = useful(parents, bones, relevant)
    keep[bones:] &= ~np.isin(parents[bones:], parents[:bones])  # what hangs on a bone tells where it ends
    lengths, _ = segments(positions, parents)
    keep &= ~((parents >= 0) & (lengths < _COINCIDENT * height) & (np.arange(len(parents)) < bones))
    keep[bones:] &= (lengths[bones:] > _SHORT_TAIL * height) & (lengths[bones:] < _LONG_TAIL * height)
    _drop_segments(positions, parents, keep, bones, height)
    _drop_fans(positions, parents, keep, lengths, height)
    _drop_stubs(positions, parents, keep, height)
    _drop_stems(parents, keep, connected)
    if solve is not None:
        keep[:bones] |= solve
        _require_apart(track.skeleton.names, parents, keep, lengths, solve, height)
    if ride is not None:
        keep[:bones] &= ~ride
        keep[bones:] &= ~ride[track.skeleton.parents[bones:]]
    joints = np.flatnonzero(keep)
    if len(joints) < 2:
        raise InputError("No bones are left to solve; the rig needs at least one bone that deforms something.")
    up = _kept_parents(parents, keep)
    order = parents_first(parents)
    order = order[keep[order]]
    rank = {int(joint): k for k, joint in enumerate(order)}
    new = np.array([rank.get(int(up[joint]), -1) for joint in order])
    rig_parents = track.skeleton.parents
    hung = np.array([joint < bones and parents[joint] != rig_parents[joint] for joint in order])
    return SolvedJoints(order, new, effectors(new), (new < 0) | hung)


def _require_apart(names, parents, keep, lengths, solve, height):
    """Raises InputError for a bone that is to be solved and has no length between it and what it hangs on."""
    way, up = _ways(parents, lengths), _kept_parents(parents, keep)
    for bone in np.flatnonzero(solve):
        if up[bone] >= 0 and way[bone] - way[up[bone]] < _COINCIDENT * height:
            raise InputError(
                f"Bone '{names[bone]}' lies where '{names[up[bone]]}' does, so that it cannot be solved; let it ride."
            )


def hang_feet(
    rig_parents: np.ndarray, positions: np.ndarray, relevant: np.ndarray, height: float, is_hung: np.ndarray
) -> np.ndarray:
    """Parents (J,), where a bone that hangs on a control but stays at the end of a limb hangs on that limb.

    rig_parents: (J,) of bones and of the tails of leaf bones.  positions: (F, J, 3).  relevant: (B,) bool.
    height: in the units of the positions.  is_hung: (B,) bool, bones of which it is known what they hang on: limbs that
    stretch slide against that.

    Exported rigs keep feet under a control while legs only point at them; what must stay together is the leg and the
    foot. Importers guess how long the last bone of a leg is, but not where it points.
    """
    parents, bones = rig_parents.copy(), len(relevant)
    tails = np.arange(bones, len(parents))
    tails = tails[relevant[parents[tails]]]
    above = _relevant_parents(parents, relevant)
    ends = np.setdiff1d(np.flatnonzero(relevant), above)
    tails = tails[np.isin(parents[tails], ends)]
    if not tails.size:
        return parents
    owners = parents[tails]
    axes = positions[:, tails] - positions[:, owners]
    axes /= np.maximum(np.linalg.norm(axes, axis=2, keepdims=True), 1e-12)
    loose = [bone for bone in _unattached(parents, positions, relevant, above, height) if not is_hung[bone]]
    for bone in loose:
        away = positions[:, bone, None] - positions[:, owners]
        along = np.einsum("ftk,ftk->ft", away, axes)
        aside = np.linalg.norm(away - along[..., None] * axes, axis=2).max(axis=0)
        slide = np.ptp(np.linalg.norm(away, axis=2), axis=0)
        fits = (aside < _ATTACHED * height) & (slide < _OVERREACH * height)
        fits &= (along.min(axis=0) > 0.0) & (along.max(axis=0) < _LIMB * height)
        fits &= [not _is_below(parents, owner, bone) for owner in owners]
        # A leg that is asked for more than it can reach still points at its foot; feet on feet only where no leg does.
        misfit = aside + _OVERREACH * slide + height * np.isin(owners, loose)
        if fits.any():
            parents[bone] = owners[np.where(fits, misfit, np.inf).argmin()]
    return parents


def _relevant_parents(parents, relevant):
    """(B,) nearest relevant bone above each bone, -1 for none."""
    is_relevant = np.concatenate((relevant, np.zeros(len(parents) - len(relevant), bool)))
    return _kept_parents(parents, is_relevant)[: len(relevant)]


def _unattached(parents, positions, relevant, above, height):
    """Small parts that slide against their parents, or start a tree of their own beside the largest: feet, not legs."""
    child = np.flatnonzero(relevant & (parents[: len(relevant)] >= 0))
    length = np.linalg.norm(positions[:, child] - positions[:, parents[child]], axis=2)
    slides = np.zeros(len(relevant), bool)
    slides[child] = np.ptp(length, axis=0) > _LOOSE * height
    below = _below(above, relevant)
    tops = np.flatnonzero(relevant & (above < 0))
    slides[tops] = True
    slides[max(tops, key=lambda top: len(below[top]))] = False
    return [b for b in np.flatnonzero(slides & relevant) if _reach(positions, b, below[b]) < _FOOT * height]


def _is_below(parents, joint, ancestor):
    while joint >= 0:
        if joint == ancestor:
            return True
        joint = parents[joint]
    return False


def _drop_segments(positions, parents, keep, bones, height):
    """Bones that end where one beside them begins are parts of the bone that carries both, and ride on it."""
    for tail in bones + np.flatnonzero(keep[bones:]):
        bone = parents[tail]
        beside = np.flatnonzero(keep & (parents == parents[bone]) & (parents >= 0))
        beside = beside[beside != bone]
        if beside.size and (parents[keep] == bone).sum() == 1:
            away = np.linalg.norm(positions[:, beside] - positions[:, [tail]], axis=2).max(axis=0)
            keep[[bone, tail]] = away.min() > _COINCIDENT * height


def _drop_fans(positions, parents, keep, lengths, height):
    """Hands, heads and paws end in one joint: fingers and features ride on them rigidly.

    Twist bones do not make a forearm a hand. How far it is to the ends is measured along the bones: arms that hang
    down keep near the chest, which is no hand for that.
    """
    way = _ways(parents, lengths)
    up = _kept_parents(parents, keep)
    below = _below(up, keep)
    stubs = _stubs(positions, up, below, height)
    order = parents_first(parents)
    for joint in order[keep[order]]:
        children = below[joint][up[below[joint]] == joint]
        if not keep[joint] or sum(int(child) not in stubs for child in children) < _FAN_BRANCHES:
            continue
        if (way[below[joint]] - way[joint]).max() > _FAN_REACH * height:
            continue
        kept = _middle_child(positions[0], joint, children, below, height)
        keep[below[joint]] = False
        keep[kept] = True


def _ways(parents, lengths):
    """(J,) length of the bones that lead from a root to each joint."""
    out = np.zeros(len(parents))
    for joint in parents_first(parents):
        if parents[joint] >= 0:
            out[joint] = out[parents[joint]] + lengths[joint]
    return out


def _middle_child(rest, joint, children, below, height):
    """The child nearest the middle of all, of equals the one with the most below it, then the farthest."""
    off = np.linalg.norm(rest[children] - rest[children].mean(axis=0), axis=1)
    far = np.linalg.norm(rest[children] - rest[joint], axis=1)
    equal = off <= off.min() + _COINCIDENT * height
    size = np.array([len(below[child]) for child in children])
    return children[np.lexsort((-far, -size, ~equal))[0]]


def _drop_stubs(positions, parents, keep, height):
    """Short branches beside a longer one, such as twist bones, ride on the body rigidly."""
    up = _kept_parents(parents, keep)
    below = _below(up, keep)
    for stub in _stubs(positions, up, below, height):
        keep[np.append(stub, below[stub])] = False


def _stubs(positions, up, below, height):
    """First joints of short branches that stay beside the longest one from the same joint, or beside its parent."""
    found = set()
    for joint in below:
        branches = [np.append(child, below[child]) for child in below[joint][up[below[joint]] == joint]]
        branches.sort(key=lambda branch: _reach(positions, joint, branch))
        for branch in branches[:-1]:
            ends = np.append(branches[-1], joint) if up[joint] >= 0 else branches[-1]
            short = _reach(positions, branch[0], branch) < _STUB * height
            if not short or len(branch) > 2:
                continue
            if distances_to_segments(positions, branch, ends, up).max() < _BESIDE * height:
                found.add(int(branch[0]))
    return found


def _reach(positions, joint, others):
    return np.linalg.norm(positions[:, others] - positions[:, [joint]], axis=2).max(initial=0.0)


def _below(up, keep):
    """Kept joints below each kept joint, arrays by joint."""
    below = {int(joint): [] for joint in np.flatnonzero(keep)}
    for joint in below:
        at = up[joint]
        while at >= 0:
            below[int(at)].append(joint)
            at = up[at]
    return {joint: np.array(found, int) for joint, found in below.items()}


def _drop_stems(parents, keep, connected):
    """A tree starts where it first branches: bones above, such as a root at the ground, stay as they are."""
    up = _kept_parents(parents, keep)
    children = {int(joint): np.flatnonzero(keep & (up == joint)) for joint in np.flatnonzero(keep)}
    for root in np.flatnonzero(keep & (up < 0)):
        stem = [int(root)]
        while len(children[stem[-1]]) == 1:
            stem.append(int(children[stem[-1]][0]))
        if not len(children[stem[-1]]):
            continue  # a chain without a branch: its first bone carries it
        while len(stem) > 1 and connected[stem[-1]]:
            stem.pop()
        keep[stem[:-1]] = False


def _kept_parents(parents, keep):
    """(J,) nearest kept joint above each, -1 for none."""
    out = np.full(len(parents), -1)
    for joint in range(len(parents)):
        at = parents[joint]
        while at >= 0 and not keep[at]:
            at = parents[at]
        out[joint] = at
    return out


def effectors(parents: np.ndarray) -> np.ndarray:
    """Ends of limbs and the joints before them (toes and ankles, knuckles and wrists), roots left out."""
    leaf = np.ones(len(parents), bool)
    leaf[parents[parents >= 0]] = False
    out = leaf.copy()
    before = parents[leaf]
    out[before[before >= 0]] = True
    return out & (parents >= 0)
