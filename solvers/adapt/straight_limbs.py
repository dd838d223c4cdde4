"""Limbs that are straight in the source bend to their own side where they become shorter.

A straight leg whose hip sinks has two equally good poses, its knee before and behind it: solved frame by frame it pops
from one to the other. So what such a limb keeps of its source pose is not that it is straight, but the bend to the side
of the frames around by which it is as long as it is asked to be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..rotations import quaternions as quat
from ..rotations.polar import nearest_rotation
from ..skeleton.joint_tree import JointTree
from .clearance import smoothstep
from .leg_reach import Legs
from .pushes import smoothed

# Radians: a limb that is bent by less is straight, one that is bent by more than the second bends on by itself.
_STRAIGHT, _BENT = 0.1, 0.35
# Share of a limb's length by which it may become shorter before it bends.
_ROOM = 1e-4
# Seconds around a frame in which it is looked to which side a limb bends: nearby, and where it is straight for longer.
_NEARBY, _LONGER = 0.15, 1.0
# Weight of a frame's own bend against those around it.
_OWN = 3.0
# Sine of a bend below which no side is known.
_UNKNOWN = 0.02


@dataclass(frozen=True)
class StraightLimbs:
    """Of L limbs over F frames of the source, at the body's present size.

    upper, middle, lower: (L,) joints, tree order.  axis: (L, 3, F) unit, world, about which the lower bone turns
    against the upper one as the limb bends.  share: (L, F) in [0, 1] how straight it is.
    angle: (L, F) radians by which it is bent about the axis, NaN where none is known.
    bones: (L, 2, F) metres of the upper and the lower one.  length: (L, F) metres from end to end.
    """

    upper: np.ndarray
    middle: np.ndarray
    lower: np.ndarray
    axis: np.ndarray
    share: np.ndarray
    angle: np.ndarray
    bones: np.ndarray
    length: np.ndarray

    @classmethod
    def of(cls, legs: Legs, tree: JointTree, body: np.ndarray, dt: float) -> StraightLimbs:
        """body: (F, J, 3) the source pose at the body's size, track order.  dt: seconds a frame."""
        hip, knee, ankle = (body[:, joints] for joints in (legs.upper, legs.middle, legs.lower))
        above, below = _unit(knee - hip), _unit(ankle - knee)
        bend = np.moveaxis(np.cross(above, below), 0, -1)
        trunk = _trunk_turns(legs, tree, body)
        side = _OWN * bend + _around(bend, trunk, dt)
        # Only what is square to the limb bends it.
        along = np.moveaxis(_unit(above + below), 0, -1)
        side -= np.einsum("lkf,lkf->lf", side, along)[:, None] * along
        size = np.linalg.norm(side, axis=1)
        axis = side / np.maximum(size, 1e-12)[:, None]
        angle = np.arctan2(np.einsum("lkf,lkf->lf", bend, axis), np.einsum("flk,flk->lf", above, below))
        share = (size > _UNKNOWN) * smoothstep((_BENT - angle) / (_BENT - _STRAIGHT))
        angle[size <= _UNKNOWN] = np.nan
        bones = np.stack([np.linalg.norm(v, axis=-1).T for v in (knee - hip, ankle - knee)], axis=1)
        joints = (tree.rank[joints] for joints in (legs.upper, legs.middle, legs.lower))
        return cls(*joints, axis, share, angle, bones, np.linalg.norm(ankle - hip, axis=-1).T)

    def scaled(self, size: float) -> StraightLimbs:
        """Of a body that is so many times larger."""
        return replace(self, bones=self.bones * size, length=self.length * size)

    @cached_property
    def least(self) -> np.ndarray:
        """(L, F) radians by which each may turn backward from its bend in the source: to a straight limb, and not
        further than the source does."""
        return np.where(np.isnan(self.angle), -np.inf, np.minimum(-self.angle, 0.0))

    def bent(self, rows: slice, between: np.ndarray, targets: np.ndarray, roots: int) -> np.ndarray:
        """Turns from parents to bodies (B - R, 4, f) that are wanted, of ``terms.Bend``, with these limbs bent as far
        as their targets (J, 3, f) ask."""
        share, length = self.share[:, rows], self.length[:, rows]
        limb, frame = np.nonzero(share)
        wanted = np.linalg.norm(targets[self.lower[limb], :, frame] - targets[self.upper[limb], :, frame], axis=-1)
        length = length[limb, frame]
        wanted = np.minimum(wanted + _ROOM * length, length)
        chosen = np.flatnonzero(wanted < length)
        if not chosen.size:
            return between
        limb, frame, wanted, length = (part[chosen] for part in (limb, frame, wanted, length))
        bones = self.bones[:, :, rows][limb, :, frame].T
        angle = share[limb, frame] * (_bend(*bones, wanted) - _bend(*bones, length))
        turn = quat.exp(angle * self.axis[:, :, rows][limb, :, frame].T)
        out, body = between.copy(), self.middle[limb] - roots
        out[body, :, frame] = quat.mul(between[body, :, frame].T, turn).T
        return out


def _around(bend, trunk, dt):
    """Bends (L, 3, F) of the frames around each, in the trunk's frame (F, 3, 3): a body that spins keeps its sides."""
    local = np.einsum("fba,lbf->laf", trunk, bend)
    return np.einsum("fab,lbf->laf", trunk, smoothed(local, dt, _NEARBY) + smoothed(local, dt, _LONGER))


def _trunk_turns(legs, tree, body):
    """(F, 3, 3) turns of what limbs hang on from its first pose (Kabsch 1976)."""
    rigid = np.union1d(tree.order[: tree.roots], legs.upper)
    points = body[:, rigid] - body[:, rigid].mean(axis=1, keepdims=True)
    return nearest_rotation(np.einsum("fja,jb->fab", points, points[0]))


def _bend(upper, lower, length):
    """Angles (K,) between the bones of a limb that is so long."""
    cosine = (length**2 - upper**2 - lower**2) / (2 * upper * lower)
    return np.arccos(np.clip(cosine, -1.0, 1.0))


def _unit(vectors):
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
