"""Hands and feet that rest on their own body go with what they rest on, after all else of the pose is known.

How a hand lies on a hip is known as its place in the frame of the hip's bone at each frame of the source. Each round
asks the hand for that place on the hip as it is now, and lets its elbow go where it must; the rest of the body stays.
What touches surroundings or is pinned stays there, and where a hand would jump it is not moved.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from ..rotations import quaternions as quat
from ..skeleton.joint_tree import TreePose
from ..warp.levenberg import MAX_ITERATIONS
from .clearance import smoothstep
from .left_alone import carried
from .no_jumps import kept_share
from .options import ATTACH, influences
from .pushes import smoothed
from .self_contacts import SelfContact

# Metres per metre of distance, squared: how a limb's end holds to its place, over its joints; and how much of what an
# elbow or knee holds to is left to it.
HOLD, LEFT = 40.0, 0.05
# Rounds, until all are within so many metres at 1.8 m.
ROUNDS, NEARLY = 3, 0.001
# Seconds over which a hold begins and ends at least, and metres a second at 1.8 m by which it moves at most meanwhile.
RAMP, SPEED = 0.25, 0.45


@dataclass(frozen=True)
class _Hold:
    """One contact, joints in tree order. joints: (H,) that are held.  bent: the elbow.  body: that carries the part.
    offsets: (H, 3, F) from the body's joint, in the source.  share: of what is missing that this one makes up for.
    free: (F,) in [0, 1] how far nothing else holds the joints.  rows: bool (F,), of the contact.
    """

    joints: np.ndarray
    bent: int
    body: int
    offsets: np.ndarray
    share: float
    free: np.ndarray
    rows: np.ndarray

    def wanted(self, pose: TreePose) -> np.ndarray:
        """(H, 3, F) where the joints are to be."""
        place = pose.joints[self.body] + quat.rotate(pose.rotations[None, self.body], self.offsets)
        now = pose.joints[self.joints]
        return now + self.share * (place - now)


class HeldTogether:
    """Rounds that bring a pose's limbs back to the body; ``steps`` takes them.

    result: the pose.  used: (F,) iterations.  unsettled: (F,) bool, too many in the last round that a frame was in.
    refused: (F,) bool, frames in which a contact is let go, as the body would jump.
    """

    def __init__(self, problem, pose: TreePose, asked: tuple[np.ndarray, np.ndarray]):
        """problem: of ``solve``.  asked: targets and affinity that the pose has followed."""
        self.problem, self.result, self._asked = problem, pose, asked
        terms = problem.terms
        self._dt, self._scale = terms.binding.dt, terms.binding.scale
        frames = pose.joints.shape[-1]
        self.used, self.unsettled, self.refused = np.zeros(frames, int), *np.zeros((2, frames), bool)
        self._holds = _holds(terms)

    def steps(self) -> Generator[float, None, None]:
        """All of it, yielding progress."""
        if not self._holds:
            return
        before = self.result
        windows = [_window(hold, before, self._dt, self._scale) for hold in self._holds]
        yield from self._rounds(windows)
        broken = self.problem.no_jumps.broken(before, self.result)
        if broken.any():
            yield from self._taken_back(before, windows, broken)

    def _taken_back(self, before, windows, broken):
        """Again without those frames; what jumps even so is left as it was."""
        share = kept_share(broken, self._dt)
        self.result, self.refused = before, broken & (np.max(windows, axis=0) > 0)
        yield from self._rounds([window * share for window in windows])
        broken = self.problem.no_jumps.broken(before, self.result)
        if broken.any():
            self.result, self.refused = before, self.refused | (np.max(windows, axis=0) > 0)

    def _rounds(self, windows):
        chosen = np.max(windows, axis=0) > 0
        batches = self.problem.batches(chosen)
        for _ in range(ROUNDS):
            wanted = [hold.wanted(self.result) for hold in self._holds]
            missing = [
                np.linalg.norm(place[0] - self.result.joints[hold.joints[0]], axis=0) * window
                for hold, place, window in zip(self._holds, wanted, windows, strict=True)
            ]
            if np.max(missing) <= NEARLY * self._scale:
                return
            asked = self._asking(wanted, windows)
            self.result, used = yield from self.problem.run(batches, self.result, None, (1.0, 1.0), asked)
            self.used = self.used + used
            self.unsettled = np.where(used > 0, used >= MAX_ITERATIONS, self.unsettled)

    def _asking(self, wanted, windows):
        """Targets and affinity with the places (H, 3, F) that are wanted of each contact."""
        targets, affinity = (values.copy() for values in self._asked)
        for hold, places, window in zip(self._holds, wanted, windows, strict=True):
            weight = np.full(len(hold.joints), HOLD / len(hold.joints))
            weight[0] += HOLD
            targets[hold.joints] += window * (places - targets[hold.joints])
            affinity[hold.joints] += weight[:, None] * window
            affinity[hold.bent] *= 1.0 - (1.0 - LEFT) * window
        return targets, affinity


def _holds(terms) -> list[_Hold]:
    """What can be held, of the contacts of a binding."""
    binding, tree, options = terms.binding, terms.binding.tree, terms.options
    contacts, left = binding.own_contacts, carried(tree, options.left)
    if not contacts:
        return []
    source = tree.from_track(binding.track.positions)
    bound, now = (np.linalg.norm(each, axis=1) for each in (tree.offsets(source), terms.offsets))
    around = (terms.contact * influences(terms.uses, ATTACH)[..., None]).max(axis=0, initial=0.0)
    out = []
    for contact in contacts:
        if left[contact.end.joint]:
            continue
        joints = tree.rank[contact.end.held]
        part = tree.rank[contact.part]
        body = tree.parents[part]
        size = now[part] / np.maximum(bound[part], 1e-9)
        free = 1.0 - around[:, contact.end.held].max(axis=1)
        rows = np.zeros(len(free), bool)
        rows[contact.first : contact.last + 1] = True
        # Bind has found that the body is nearer there than anything else that is touched.
        free = np.where(rows, 1.0, free)
        for pin in options.pins:
            if pin.joint in contact.end.held:
                free = free * (1.0 - pin.weight)
        offsets = size * (source[joints] - source[body])
        share = 0.5 if _is_mutual(contact, contacts) else 1.0
        middle = int(tree.rank[contact.end.bent[-1]])
        out.append(_Hold(joints, middle, int(body), offsets, share, smoothed(free, binding.dt), rows))
    return out


def _is_mutual(contact: SelfContact, others: Sequence[SelfContact]) -> bool:
    """Whether what a limb rests on is a limb that rests on the first meanwhile."""
    return any(
        other.part in contact.end.limb
        and contact.part in other.end.limb
        and other.first <= contact.last
        and contact.first <= other.last
        for other in others
    )


def _window(hold: _Hold, pose: TreePose, dt: float, scale: float) -> np.ndarray:
    """(F,) in [0, 1] how much a contact is held: whole within its rows, and the more slowly begun and ended the farther
    its limb is off."""
    off = np.linalg.norm(hold.wanted(pose)[0] - pose.joints[hold.joints[0]], axis=0)
    # A smoothstep is one and a half times as steep in its middle as it is on average.
    ramp = max(RAMP, 1.5 * float(off[hold.rows].max()) / (SPEED * scale))
    inside = np.flatnonzero(hold.rows)
    row = np.arange(len(hold.rows))
    outside = np.maximum(np.maximum(inside[0] - row, row - inside[-1]), 0) * dt
    return smoothstep(1.0 - outside / ramp) * hold.free
