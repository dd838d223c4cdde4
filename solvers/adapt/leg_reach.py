"""Hips sink where the legs under them would have to stretch more than they do in the source.

On a slope the rear foot lies lower under an upright body than it did on the flat, so that its knee would go straight.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..skeleton.joint_tree import JointTree
from ..skeleton.trunk import PAIRED, root_and_trunk
from .pushes import lasting, smoothed

# A leg may be as long as it is in all but so many percent of the source's frames.
_LONGEST = 98.0
# Seconds: hips are down so long before and after a leg needs it, and come there so smoothly.
_HOLD, _SMOOTHING = 0.15, 0.1
# The same where only legs that stand count, on a new ground: what swings there goes from stance to stance anyhow.
_STOOD_HOLD, _STOOD_SMOOTHING = 0.05, 0.15


@dataclass(frozen=True)
class Legs:
    """The L legs of a skeleton, joints in the track's order.

    upper, middle, lower: (L,) joints of its two longest bones: hip, knee, ankle.  joints: (L, J) bool, all three.
    longest: (L,) metres from end to end that each may reach.
    """

    upper: np.ndarray
    middle: np.ndarray
    lower: np.ndarray
    joints: np.ndarray
    longest: np.ndarray

    @classmethod
    def of(cls, tree: JointTree, positions: np.ndarray, effectors: np.ndarray) -> Legs:
        """Of the limbs that end in effectors. positions: (F, J, 3).  effectors: (J,) bool.

        Spine, neck and tail are none: they bend to all sides, and held to one as a knee is a spine that is pressed
        together buckles.
        """
        parents = np.full(len(tree.parents), -1)
        parents[tree.order[tree.roots :]] = tree.order[tree.parents[tree.roots :]]
        length = np.median(np.linalg.norm(positions - positions[:, parents], axis=-1), axis=0)
        legs = _limbs(parents, length, root_and_trunk(parents, length, positions[0])[1], effectors)
        joints = np.zeros((len(legs), len(parents)), bool)
        np.put_along_axis(joints, legs, True, axis=1)
        reach = np.linalg.norm(positions[:, legs[:, 0]] - positions[:, legs[:, 2]], axis=-1)
        longest = np.percentile(reach, _LONGEST, axis=0) if len(legs) else np.zeros(0)
        return cls(legs[:, 2], legs[:, 1], legs[:, 0], joints, longest)

    def scaled(self, size: float) -> Legs:
        """Of a body that is so many times larger."""
        return replace(self, longest=self.longest * size)

    def carrying(self, share: np.ndarray, body: np.ndarray, gravity: np.ndarray) -> np.ndarray:
        """(F, J) in [0, 1] how much each joint belongs to a leg that carries the body.

        share: (F, L) of each leg that stands.  body: (F, J, 3).  gravity: (3,).
        """
        leg = body[:, self.lower] - body[:, self.upper]
        length = np.linalg.norm(leg, axis=-1)
        down = np.clip(np.divide(leg @ gravity, length, out=np.zeros_like(length), where=length > 0), 0.0, 1.0)
        return np.max((share * down)[..., None] * self.joints, axis=1, initial=0.0)

    def lack(
        self, source: np.ndarray, body: np.ndarray, targets: np.ndarray, near: np.ndarray, gravity: np.ndarray
    ) -> np.ndarray:
        """(F, L) metres by which what is away from surfaces is too high for each of the legs, frame by frame.

        source, body, targets: (F, J, 3), the bound pose, that at the body's present size, and what is asked.
        near: (F, J) of ``upright.closeness``.  gravity: (3,).
        """
        # Horizontally against the bound strides: one that is too long for a smaller body is not shortened by a crouch.
        before = self._down(body, gravity) - self._fits(source, gravity)
        more = np.maximum(self._down(targets, gravity) - self._fits(targets, gravity) - before, 0.0)
        return more * np.maximum(near[:, self.lower] - near[:, self.upper], 0.0)

    def _down(self, joints, gravity):
        """(F, L) metres from the upper end of each leg down to its lower one."""
        return (joints[:, self.lower] - joints[:, self.upper]) @ gravity

    def _fits(self, joints, gravity):
        """(F, L) metres that each leg reaches down beside its way across."""
        leg = joints[:, self.lower] - joints[:, self.upper]
        across = np.einsum("flk,flk->fl", leg, leg) - (leg @ gravity) ** 2
        return np.sqrt(np.maximum(self.longest**2 - across, 0.0))


def _limbs(parents, length, trunk, effectors):
    """(L, 3) joints of ``Legs``, from the lower one up, of limbs that come in pairs; of all where none does."""
    found = {}
    for effector in np.flatnonzero(effectors):
        chain = [effector]
        while parents[chain[-1]] >= 0:
            chain.append(parents[chain[-1]])
        # The root carries the limb and is no part of it.
        bones = [
            (length[low] + length[middle], low, middle, top)
            for low, middle, top in zip(chain, chain[1:], chain[2:], strict=False)
            if parents[top] >= 0 and not {low, middle} & set(trunk)
        ]
        if bones:
            _, *leg = max(bones)
            found[leg[0]] = leg
    limbs = np.array(list(found.values()), int).reshape(-1, 3)
    bones = length[limbs[:, :2]]
    most = np.maximum(bones[:, None], bones)
    alike = (np.abs(bones[:, None] - bones) <= PAIRED * most).all(axis=-1)
    # Of one chain, as a neck with a face on it, two are no pair.
    apart = ~(limbs[:, None, :2, None] == limbs[None, :, None, :]).any(axis=(2, 3))
    paired = (alike & apart & apart.T).any(axis=1)
    return limbs[paired] if paired.any() else limbs


def sinking(lack: np.ndarray, dt: float, stood: bool = False) -> np.ndarray:
    """(..., F) metres by which hips go down, smoothly and in time, for a lack (..., F).

    dt: seconds a frame.  stood: whether it is that of standing legs alone.
    """
    hold, smoothing = (_STOOD_HOLD, _STOOD_SMOOTHING) if stood else (_HOLD, _SMOOTHING)
    return smoothed(lasting(lack, hold, dt), dt, smoothing)
