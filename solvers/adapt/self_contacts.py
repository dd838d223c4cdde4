"""Where a hand or foot rests on another part of its own body: on a hip, a knee, the other hand.

No mesh is asked: a part is a capsule around a bone, as thick as the binding knows it. A hand that hangs beside a thigh
is near and slow too, yet it rests on nothing; what tells is that its arm hangs straight along the trunk.
All lengths are for a 1.8 m body and are multiplied by ``scale``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import binary_closing, binary_opening, binary_propagation

from ..core.types import JointTrack
from ..skeleton.hierarchy import below

# A joint of a hand or foot that comes this near to the skin of another part rests on it until it is farther than the
# second, while it goes nearer to or away from both ends of that part's bone by less than so many metres a second.
NEAR, FAR, SLOW = 0.05, 0.08, 0.15
# Metres of flesh around bones at least, as their thickness may not be known: those of limbs, and of the trunk.
LIMB, TRUNK = 0.05, 0.1
# Seconds: what rests for less only passes by, and what is away for less rests on.
LASTS, GAP = 0.2, 0.25
# Metres from something else that an end touches within which it rests on that, and by which the body must be nearer.
FREE, NEARER = 0.06, 0.03
# Metres: a shorter bone marks a place and is no part, a shorter limb is none.
MARK, SHORT = 0.02, 0.3
# The bone above an elbow or knee and the one below it are both at least this share of what the most even two of the
# limb are; limbs that come in pairs differ by less than the next share of their length.
EVEN, PAIRED = 0.6, 0.2
# A limb that is longer than this share of its reach and points along the trunk by this cosine hangs.
STRAIGHT, ALONG = 0.8, 0.85


@dataclass(frozen=True)
class LimbEnd:
    """A hand or foot, joints in the track's order.

    joint: where it begins, wrist or ankle.  held: (H,) that joint and all below it.  bent: (C,) those between it and
    the trunk, the elbow or knee last.
    """

    joint: int
    held: np.ndarray
    bent: np.ndarray

    @property
    def limb(self) -> np.ndarray:
        """All of its joints."""
        return np.concatenate((self.bent, self.held))


@dataclass(frozen=True)
class SelfContact:
    """A hand or foot at rest on another part of its body.

    end: the limb.  part: the joint that the part's bone leads to.  first, last: rows, both within.
    """

    end: LimbEnd
    part: int
    first: int
    last: int


def limb_ends(
    parents: np.ndarray, lengths: np.ndarray, effectors: np.ndarray, trunk: np.ndarray, scale: float
) -> list[LimbEnd]:
    """The hands and feet of a body; none of what is no limb of a pair, as a head or a tail.

    parents: (J,) int, parents first, -1 for roots.  lengths: (J,) from each joint's parent, metres.  effectors, trunk:
    (J,) bool.  scale: body height / 1.8 m.
    """
    bent = {}
    for effector in np.flatnonzero(effectors & ~trunk):
        chain = [int(effector)]
        while parents[chain[0]] >= 0 and not trunk[parents[chain[0]]]:
            chain.insert(0, int(parents[chain[0]]))
        if len(chain) >= 3:
            even = np.minimum(lengths[chain[1:-1]], lengths[chain[2:]])
            middle = 1 + int(np.flatnonzero(even >= EVEN * even.max())[-1])
            bent[chain[middle + 1]] = np.array(chain[: middle + 1])
    reach = {joint: lengths[above[1:]].sum() + lengths[joint] for joint, above in bent.items()}
    out = []
    for joint, above in bent.items():
        near = [k for k in bent if k != joint and abs(reach[joint] - reach[k]) <= PAIRED * reach[joint]]
        if near and reach[joint] > SHORT * scale:
            out.append(LimbEnd(joint, np.flatnonzero(below(parents)[joint]), above))
    return out


def limb_ends_of(track: JointTrack, effectors: np.ndarray, trunk: np.ndarray, scale: float) -> list[LimbEnd]:
    """See ``limb_ends``; bones are as long as usual."""
    return limb_ends(track.skeleton.parents, _lengths(track), effectors, trunk, scale)


def as_rows(contacts: Sequence[SelfContact]) -> np.ndarray:
    """(K, 4) joint, part, first and last row."""
    return np.array([(each.end.joint, each.part, each.first, each.last) for each in contacts], int).reshape(-1, 4)


def self_contacts(
    track: JointTrack, effectors: np.ndarray, radii: np.ndarray, trunk: np.ndarray, touched: np.ndarray, scale: float
) -> list[SelfContact]:
    """What rests on the body itself, by limb and then by time; of several parts the one that it rests on longest.

    effectors, trunk: (J,) bool.  radii: (J,) of the capsules around the bones, metres.  touched: (F, J)
    metres from joints to what they touch of the environment, inf where they touch nothing.  scale: body height / 1.8 m.
    """
    if len(track.positions) < 2:
        return []  # nothing tells how fast anything is
    parents, positions, lengths = track.skeleton.parents, track.positions, _lengths(track)
    above = np.maximum(parents, 0)
    flesh = np.maximum(radii, np.where(trunk | trunk[above], TRUNK, LIMB) * scale)
    ends, out = limb_ends(parents, lengths, effectors, trunk, scale), []
    hands = np.concatenate([end.held for end in ends]) if ends else []
    for end in ends:
        own = np.isin(np.arange(len(parents)), end.limb)
        parts = np.flatnonzero((parents >= 0) & ~own & ~own[above] & (lengths > MARK * scale))
        gap = gaps(positions, end.held, parts, parents) - flesh[parts]
        # A hand on a thigh is close to the seat under it as well.
        away = touched[:, end.held].min(axis=1)[:, None]
        free = (away > FREE * scale) & (away > gap + NEARER * scale)
        free &= ~(_hangs(positions, end, lengths, trunk)[:, None] & ~np.isin(parts, hands))
        resting = _resting(track, end, parts, gap, scale) & free
        out += [SelfContact(end, int(parts[k]), first, last) for k, first, last in _longest(resting)]
    return out


def _lengths(track):
    """(J,) median lengths of the bones that lead to joints, 0 of roots."""
    parents = track.skeleton.parents
    bones = track.positions - track.positions[:, np.maximum(parents, 0)]
    return np.median(np.linalg.norm(bones, axis=-1), axis=0) * (parents >= 0)


def _resting(track, end, parts, gap, scale):
    """(F, C) bool: where a limb's end rests on each part, without what is brief. gap: (F, C) metres to the skin."""
    positions, above = track.positions, track.skeleton.parents[parts]
    near = gap < FAR * scale
    slow = near & _slow(positions[:, end.joint], (positions[:, above], positions[:, parts]), track.fps, scale)
    frames = max(round(LASTS * track.fps), 1), max(round(GAP * track.fps), 1)
    lasts, between = (np.ones((count, 1), bool) for count in frames)
    slow = binary_opening(slow, lasts)
    found = binary_propagation(slow & (gap < NEAR * scale), np.ones((3, 1), bool), slow)
    return found | (binary_closing(found, between) & near)


def gaps(positions: np.ndarray, held: np.ndarray, parts: np.ndarray, parents: np.ndarray) -> np.ndarray:
    """(F, C) metres from the nearest of the joints (H,) that are held to the line of the bone to each part (C,).

    positions: (F, J, 3).  parents: (J,).
    """
    heads = positions[:, parents[parts]]
    bones = positions[:, parts] - heads
    square = np.maximum(np.einsum("fck,fck->fc", bones, bones), 1e-12)
    out = np.full(square.shape, np.inf)
    for joint in held:
        away = positions[:, joint, None] - heads
        share = np.clip(np.einsum("fck,fck->fc", away, bones) / square, 0.0, 1.0)
        np.minimum(out, np.linalg.norm(away - share[..., None] * bones, axis=2), out=out)
    return out


def nearest_part(track: JointTrack, end: LimbEnd, body: int, first: int, last: int) -> int | None:
    """Of the bones from a joint the one that a limb's end is nearest to over some rows, as the joint that it leads to;
    None for joints that carry none, and of the limb itself."""
    parents = track.skeleton.parents
    parts = np.flatnonzero(parents == body)
    parts = parts[~np.isin(parts, end.limb)]
    if not len(parts) or body in end.limb:
        return None
    near = gaps(track.positions[first : last + 1], end.held, parts, parents)
    return int(parts[near.mean(axis=0).argmin()])


def _slow(point, ends, fps, scale):
    """(F, C) bool: where a point (F, 3) keeps its distances to both ends (F, C, 3) of bones."""
    out = True
    for places in ends:
        away = np.linalg.norm(point[:, None] - places, axis=2)
        out = out & (np.abs(np.gradient(away, axis=0)) * fps < SLOW * scale)
    return out


def _hangs(positions, end, lengths, trunk):
    """(F,) bool: where a limb hangs straight along the trunk."""
    spine = np.flatnonzero(trunk)
    if len(spine) < 2:
        return np.zeros(len(positions), bool)
    limb = positions[:, end.joint] - positions[:, end.bent[-2]]
    body = positions[:, spine[0]] - positions[:, spine[-1]]
    reach = lengths[end.bent[-1]] + lengths[end.joint]
    length, height = (np.linalg.norm(vectors, axis=1) for vectors in (limb, body))
    along = np.einsum("fk,fk->f", limb, body)
    return (length > STRAIGHT * reach) & (along > ALONG * length * height)


def _longest(resting):
    """Column, first and last row of the runs in (F, C) bool of which none overlap, the longest kept, by time."""
    edge = np.diff(np.pad(resting, ((1, 1), (0, 0))).astype(np.int8), axis=0).T
    begins, ends = (np.argwhere(edge == sign) for sign in (1, -1))
    pairs = zip(begins, ends, strict=True)
    runs = sorted((first - last, column, first, last - 1) for (column, first), (_, last) in pairs)
    taken, out = np.zeros(len(resting), bool), []
    for _, column, first, last in runs:
        if not taken[first : last + 1].any():
            taken[first : last + 1] = True
            out.append((int(column), int(first), int(last)))
    return sorted(out, key=lambda run: run[1])
