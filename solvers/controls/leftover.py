"""What is done where not all carriers can be reached: places come before turns, and those of hands and feet first."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d

from ..rotations import rotation_vectors as rotvec
from ..skeleton.hierarchy import below
from .blocks import Block, Blocks
from .channels import put, taken
from .clip import Clip
from .closed_form import arrivals, carried_channels
from .control_rig import NO_TRUNK
from .damped import UNSEEN
from .descent import Descent, Steps, nearest_better
from .limb_ends import limb_ends
from .misfit import References
from .structure import Structure, finer_controls, strays
from .trial import Trial

# Hands and feet count so much more as long as they are about as near as this, in parts of the body's size.
_PLACED, _NEAR = 10.0, 0.01
# Turns of hands and feet count so much at least: most turn by themselves, and no place is given up for it.
_ALONE = 0.1
# What is further off than this counts less and less, and nothing is dragged to it.  Not so much less that a frame could
# come to rest in one of two ways.
_ODD = 0.05
# A frame with so many times the errors of frames on both sides stands in another valley.
_TIMES = 2.0
# A round is of use to a frame where it takes away this share of what is left, and so much of the body's size.  A frame
# is not at rest where the last round still took away more than can be seen.
_SHARE, _OF_USE, _GAINED = 1e-3, 1e-6, 5e-5
_PASSES = 2
# How strongly controls are drawn to what they are at frames nearby, one round after the other, and how many frames
# those are, as the deviation of a normal curve.
_EVENED, _NEARBY = (1e-2, 3e-3), 2.0


@dataclass(frozen=True)
class Weighing:
    """turned: what turns count against places, bent: the same of what IK bends, joints: what places of that count.
    home: how strongly variables are drawn to where they began."""

    turned: float
    bent: float
    joints: float
    home: float


# So little that no place is given up for a turn: IK bends a limb in one plane, and a limb that is also twisted has its
# joints in place nevertheless.  Where IK stretches a limb its knee is off whatever the trunk does, which hardly moves
# for it.  Drawn so much that several ways of missing as little are one.
PLACES = Weighing(0.03, 3e-3, 0.3, 1e-3)
# Where controls are many enough to bring most places about, which turns then only hold up.
FINER = Weighing(0.01, 1e-3, 0.3, 1e-3)
# Where next to nothing is left.
ALIKE = Weighing(1.0, 1.0, 1.0, 1e-4)


def shared_out(
    clip: Clip,
    frames: np.ndarray,
    state: int,
    structure: Structure,
    way: Weighing,
    rounds: tuple[tuple[int, int], ...],
) -> Generator[Trial, np.ndarray, np.ndarray]:
    """Least squares of the places of all joints; then what hangs on the ends of limbs is put right for itself.

    frames: (n,) at which errors are left.  rounds: see `Descent.run`.  Returns the frames that are not at rest.
    """
    controls = clip.controls
    under = below(controls.carrier_parents)
    ends = limb_ends_of(clip, state, structure, under)
    beyond = under[ends].any(axis=0) & ~ends
    bent = bent_by_ik(clip, state, structure, under)
    used = ~structure.goals & controls.moves[state][:, ~beyond].any(axis=1)
    blocks = _of_joints(structure.whole_blocks(used), beyond)
    if not blocks.blocks:
        return frames[:0]
    yield from clip.refresh(frames)
    going, gained = np.ones(len(frames), bool), np.full(len(frames), np.inf)
    for number, round_ in enumerate(rounds):
        # What was far off may be near by now, and counts again.
        weights = _weights(clip, frames, ends, bent, way)
        descent = Descent(clip, frames, blocks, weights, patience=1e-3, home=way.home)
        descent.rest(~going)
        before = descent.cost()
        yield from descent.run((round_,))
        if number < len(rounds) - 1:
            yield from descent.follow_neighbours()
        yield from clip.refresh(frames)
        gained = before - descent.cost()
        going = gained > np.maximum(_SHARE * descent.cost(), _OF_USE)
        # Jacobians from nearer by may show what those from afar did not.
        going |= number + 1 < len(rounds) and rounds[number + 1][0] < round_[0]
        if not going.any():
            break
    yield from _begun_between(clip, frames, blocks, weights, way.home, rounds[-1], descent.left())
    if finer_controls(clip).any():
        weights = _weights(clip, frames, ends, bent, PLACES)
        yield from _evened_out(clip, frames, blocks, weights, rounds[-1])
    yield from _put_right(clip, frames, state, beyond | ends, bent, weights)
    details, _ = structure.blocks(~structure.goals & ~used)
    if details.blocks:
        yield from Descent(clip, frames, details).run(rounds[-1:])
        yield from clip.refresh(frames)
    return frames[going & (gained > _GAINED)]


def _begun_between(clip, frames, blocks, weights, home, round_, left) -> Steps:
    """Where much more is left, (n,), than at frames nearby: once more from between what was found there.

    The first and the last frame begin from the one side that they have.
    """
    before, after = (nearest_better(left, side, _TIMES) for side in (-1, 1))
    before[0], after[-1] = after[0], before[-1]
    odd = np.flatnonzero((before >= 0) & (after >= 0))
    if not len(odd):
        return
    some, before, after = frames[odd], before[odd], after[odd]
    share = ((odd - before) / np.where(after > before, after - before, 1))[:, None]
    away, kept = clip.away(frames), taken(clip.channels, some)
    # Goals of limbs stay, which say where the ends of limbs are at their own frames.
    own, between = np.unique(np.concatenate([block.columns for block in blocks.blocks])), away[odd]
    between[:, own] = (away[before] + share * (away[after] - away[before]))[:, own]
    put(clip.channels, some, clip.stepped(taken(clip.problem.source, some), between))
    yield from clip.refresh(some)
    descent = Descent(clip, some, blocks, weights[odd], patience=1e-3, home=home)
    yield from descent.run((round_,))
    worse = descent.left() > left[odd]
    put(clip.channels, some[worse], taken(kept, worse))
    yield from clip.refresh(some)


def _evened_out(clip: Clip, frames: np.ndarray, blocks: Blocks, weights: np.ndarray, round_: tuple[int, int]) -> Steps:
    """Controls that do again what others do share it as at the frames nearby.

    Frames at which more is missed for it stay as they are.
    """
    whole = References.to_armature(len(clip.controls.carriers))
    kept, pose = taken(clip.channels, frames), clip.pose[frames]
    before = np.linalg.norm(weights * clip.errors(frames, whole), axis=1)
    for home in _EVENED:
        towards = gaussian_filter1d(clip.away(frames), _NEARBY, axis=0, mode="nearest")
        descent = Descent(clip, frames, blocks, weights, patience=1e-3, home=home, towards=towards)
        yield from descent.run((round_,))
        yield from clip.refresh(frames)
    worse = np.linalg.norm(weights * clip.errors(frames, whole), axis=1) > 1.2 * before + UNSEEN
    put(clip.channels, frames[worse], taken(kept, worse))
    clip.pose[frames[worse]] = pose[worse]


def limb_ends_of(clip: Clip, state: int, structure: Structure, under: np.ndarray) -> np.ndarray:
    """(K,) bool, hands and feet: what goals carry or pull in this state, and the ends of limbs that could have one."""
    out = limb_ends(clip.controls, under)
    out[clip.controls.riders[state][structure.goals]] = True
    out[structure.ends[structure.ends >= 0]] = True
    return out


def bent_by_ik(clip: Clip, state: int, structure: Structure, under: np.ndarray) -> np.ndarray:
    """(K,) bool, carriers that goals of limbs pull and do not carry: IK turns them."""
    moves, riders = clip.controls.moves[state], clip.controls.riders[state]
    carried = np.where(structure.goals, riders, structure.ends)
    pulling = carried >= 0
    return (moves[pulling] & ~under[carried[pulling]]).any(axis=0)


def _of_joints(blocks: Blocks, beyond: np.ndarray) -> Blocks:
    """Blocks whose errors are those of joints alone."""
    kept = []
    for block in blocks.blocks:
        rows = ~beyond[block.rows // 6]
        kept.append(Block(block.columns, block.rows[rows], block.touches[rows], block.groups))
    return Blocks(tuple(kept), blocks.references)


def _weights(clip: Clip, frames: np.ndarray, ends: np.ndarray, bent: np.ndarray, way: Weighing) -> np.ndarray:
    """(n, 6 K) more for ends (K,) of limbs, less the further something is out of reach, or is bent, (K,), by IK.

    The former are those of Cauchy's M-estimator in iteratively reweighted least squares (Holland & Welsch 1977).
    """
    away = _away(clip, frames)
    turned = np.where(bent, way.bent, np.where(ends, max(way.turned, _ALONE), way.turned))
    out = np.tile(turned[:, None], (len(away), 1, 6))
    placed = 1.0 + np.where(ends, _PLACED - 1.0, 0.0) / (1.0 + (away / _NEAR) ** 2)
    out[..., :3] = (np.where(bent, way.joints, 1.0) * placed / np.hypot(1.0, away / _ODD))[..., None]
    return out.reshape(len(frames), -1)


def _away(clip: Clip, frames: np.ndarray) -> np.ndarray:
    """(n, K) distances of carriers from their targets, in parts of the body's size."""
    error = clip.errors(frames, References.to_armature(len(clip.controls.carriers)))
    return np.linalg.norm(error.reshape(len(frames), -1, 6)[..., :3], axis=-1)


def _put_right(
    clip: Clip, frames: np.ndarray, state: int, last: np.ndarray, bent: np.ndarray, weights: np.ndarray
) -> Steps:
    """Limbs and what hangs last (K,) bool: controls that move nothing but what hangs on their carrier turn it right.

    That counted little against places, which stay.  bent: (K,) bool, left as IK has them.  weights: (n, 6 K) by which
    it is judged.
    """
    controls, parents, riders = clip.controls, clip.controls.carrier_parents, clip.controls.riders[state]
    free = clip.stepper.variables
    alone = last | (np.bincount(parents[parents >= 0], minlength=len(parents)) <= 1)
    own = free.any(axis=1) & (riders >= 0) & (alone & ~bent)[riders] & ~strays(clip, state)
    if finer_controls(clip).any():
        own &= controls.trunk == NO_TRUNK  # several of the trunk turn the same
    riders = np.where(own, riders, -1)
    turned, placed = np.zeros((2, len(parents)), bool)
    turned[riders[own & free[:, 3:].any(axis=1)]] = True
    placed[riders[own & last[riders] & free[:, :3].all(axis=1)]] = True
    pose, channels = clip.pose[frames], taken(clip.channels, frames)
    aimed = _aimed(clip.carried(pose), clip.targets[frames], parents, last)
    for _ in range(_PASSES):
        arrive = arrivals(clip.carried(pose), aimed, parents, turned, placed)
        channels = carried_channels(controls, clip.stepper, channels, pose, arrive, riders, np.zeros_like(own))
        pose = yield from clip.evaluate(frames, channels)
    whole = References.to_armature(len(parents))
    before, now = (
        weights * each for each in (clip.errors(frames, whole), clip.errors_of(clip.carried(pose), frames, whole))
    )
    # All frames or none, so that the motion stays smooth.
    if np.sum(now**2) < np.sum(before**2):
        put(clip.channels, frames, channels)
        clip.pose[frames] = pose


def _aimed(carried: np.ndarray, targets: np.ndarray, parents: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Targets (n, K, 4, 4) that are turned, by the least turn, to where the one that hangs on them was found.

    carried: (n, K, 4, 4) what was found.  last: (K,) bool, those that are not turned.
    """
    out = targets.copy()
    for k, parent in enumerate(parents):
        if parent >= 0 and not last[parent]:
            found = carried[:, k, :3, 3] - carried[:, parent, :3, 3]
            asked = targets[:, k, :3, 3] - targets[:, parent, :3, 3]
            out[:, parent, :3, :3] = least_turns(asked, found) @ targets[:, parent, :3, :3]
    return out


def least_turns(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """(n, 3, 3) the least turns that bring directions start (n, 3) to end (n, 3), of any length."""
    across = np.cross(start, end)
    sine, cosine = np.linalg.norm(across, axis=-1, keepdims=True), (start * end).sum(axis=-1, keepdims=True)
    return rotvec.exp(across / np.maximum(sine, 1e-30) * np.arctan2(sine, cosine))
