"""How a body holds itself among surroundings that turn: what stays upright, what faces what, and what bends easily."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from . import clearance, left_alone
from .binding import Binding
from .left_alone import left_bodies
from .leg_pairs import LegPairs
from .leg_reach import Legs
from .options import AdaptOptions
from .standing import Standing
from .straight_limbs import StraightLimbs
from .upright import closeness

# m^2 at 1.8 m: resistance of a joint to leave its source pose, of a body to leave the turn of its surroundings, of the
# root of an upright body to leave it, and of hands, feet and head when they are close. A body that nothing turns has
# more than one rest, an arm before and behind the chest, and flips from one to the other.
POSE_STIFFNESS, FACING_STIFFNESS, UPRIGHT_STIFFNESS, END_STIFFNESS = 0.02, 0.02, 0.5, 0.05
# The root of an upright body also holds to its target by so much more, and the legs under it bend that much more
# easily: else they straighten behind it uphill, and the hips do not come along.
UPRIGHT_AFFINITY, EASED = 0.6, 0.25


class Posture:
    """Of F frames, J joints (track order) and B bodies (tree order).

    level: (F, J) in [0, 1] how far each joint keeps its tilt, None where none does.
    shares: (F, 1 + B - R, J) of the joints in the turns of all surroundings, then of each body below the roots.
    """

    def __init__(self, binding: Binding, options: AdaptOptions, heeded: list[int], weight: np.ndarray):
        """heeded: indices of the objects that count.  weight: (F, J) affinities."""
        self.binding, self.options = binding, options
        self.gravity = np.asarray(options.gravity, float)
        near = binding.joint_distance[heeded].min(axis=0, initial=np.inf)
        self._near = 1.0 / (1.0 + (np.maximum(near, 0.0) / (clearance.AFFINITY_RADIUS * binding.scale)) ** 2)
        self._close = closeness(near, binding.scale, binding.dt)
        upright = np.broadcast_to(np.asarray(options.upright, float), len(weight))[:, None]
        self.level = upright * (1.0 - self._close) if upright.any() else None
        self._groups = _groups(binding.tree)
        self.shares = _shares(weight, self._groups)

    @property
    def nearness(self) -> np.ndarray:
        """(F, J) in (0, 1] of the joints to anything."""
        return self._near

    @property
    def root_level(self) -> np.ndarray:
        """(F, R) how upright the roots are."""
        return self.level[:, self.binding.tree.order[: self.binding.tree.roots]]

    @cached_property
    def body(self) -> np.ndarray:
        """(F, J, 3) the source pose at the body's present size."""
        options = self.options
        return self.binding.track.positions * options.scale if options.resized is None else options.resized

    @cached_property
    def _legs(self) -> Legs:
        if self.options.resized is None:
            return self.binding.legs.scaled(self.options.scale)
        return Legs.of(self.binding.tree, self.body, self.binding.effectors)

    @cached_property
    def _pairs(self) -> LegPairs:
        binding = self.binding
        touched = binding.touched.any(axis=(0, 1))
        return LegPairs.of(self._legs, binding.track.skeleton.parents, self.body, touched, self.gravity)

    @property
    def is_erect(self) -> bool:
        """Whether the trunk goes down as a whole for its legs, as that of whoever walks on two."""
        return self.level is not None and len(self._pairs.legs) == 1

    @cached_property
    def straight_limbs(self) -> StraightLimbs:
        """Limbs of the source that are straight at some frames."""
        if self.options.resized is None:
            return self.binding.straight_limbs.scaled(self.options.scale)
        return StraightLimbs.of(self._legs, self.binding.tree, self.body, self.binding.dt)

    def facing_weight(self) -> np.ndarray:
        """(B, F) m^2 by which bodies face their surroundings' turns."""
        tree, orientation = self.binding.tree, self.options.orientation
        out = np.full((tree.bodies, len(self._near)), FACING_STIFFNESS)
        if self.level is not None:
            out[: tree.roots] += (UPRIGHT_STIFFNESS - FACING_STIFFNESS) * self.root_level.T
        for body, group in zip(range(tree.roots, tree.bodies), self._groups, strict=True):
            if _is_end(tree, body):
                near = self._near[:, group].max(axis=1)
                out[body] = orientation * np.maximum(END_STIFFNESS * near, FACING_STIFFNESS)
        out[self.left] = 0.0
        return out * self.binding.scale**2

    @cached_property
    def left(self) -> np.ndarray:
        """(B,) bool, bodies that are left alone."""
        return left_bodies(self.binding.tree, self.options.left)

    def unbent(self, between: np.ndarray) -> np.ndarray:
        """Turns (B - R, 4, ...) from the parent's to the body's, of which those that are left alone are none."""
        left = self.left[self.binding.tree.roots :]
        if left.any():
            between[left] = 0.0
            between[left, 0] = 1.0
        return between

    def stiffness(self) -> np.ndarray:
        """(B - R, F) m^2 by which bodies keep the angles of the source: legs that carry an upright body bend easily."""
        tree = self.binding.tree
        out = np.full((tree.bodies - tree.roots, len(self._near)), POSE_STIFFNESS * self.binding.scale**2)
        if self.level is not None:
            standing = self.level[:, self._legs.upper] * self._close[:, self._legs.lower]
            eased = self._legs.carrying(standing, self.body, self.gravity)
            out *= 1.0 - (1.0 - EASED) * tree.from_track(eased[..., None])[tree.roots : tree.bodies, 0]
        out[self.left[tree.roots :]] = left_alone.STIFFNESS * self.binding.scale**2
        return out

    def affinity(self, affinity: np.ndarray) -> np.ndarray:
        """(J, F) in tree order, of weights of targets (J, F): upright roots hold to theirs."""
        if self.level is not None:
            affinity = affinity.copy()
            affinity[: self.binding.tree.roots] += UPRIGHT_AFFINITY * self.root_level.T
        return affinity

    def lack(self, rows: slice, targets: np.ndarray, standing: Standing | None = None) -> np.ndarray:
        """(G, f) metres by which targets (J, 3, f), tree order, are too high for the legs of each of G pairs; see
        ``Legs.lack``. standing: feet on a new ground, for which the hips need not go down while they swing."""
        if self.level is None:
            return np.zeros((1, targets.shape[-1]))
        found = self.binding.tree.to_track(targets)
        source = self.binding.track.positions[rows]
        lack = self._legs.lack(source, self.body[rows], found, self._close[rows], self.gravity)
        if standing is not None:
            lack *= 1.0 - standing.swinging(rows)[:, self._legs.lower]
        return self._pairs.most(lack)

    def lowered(self, rows: slice, metres: np.ndarray) -> np.ndarray:
        """Moves (J, 3, f), tree order, of targets by metres (G, f) down, each joint with its pairs of legs, as far as
        it keeps upright."""
        if self.level is None:
            return np.zeros((len(self.binding.tree.parents), 3, metres.shape[-1]))
        down = self._pairs.lowered(metres) * self.level[rows].T
        return down[self.binding.tree.order][:, None] * self.gravity[:, None]


def _groups(tree):
    """Of each body below the roots the joints (track order) whose surroundings it faces.

    Its own, and of hands, feet and head their ends too. Those of others are bodies themselves: a foot on a slope would
    tilt its shin.
    """
    out = []
    for body in range(tree.roots, tree.bodies):
        ends = np.flatnonzero(tree.parents == body) if _is_end(tree, body) else np.zeros(0, int)
        out.append(tree.order[np.append(ends, body)])
    return out


def _is_end(tree, body):
    """Whether all children of a body are leaves, as those of hands, feet and head are."""
    return not (tree.parents[: tree.bodies] == body).any()


def _shares(weight, groups):
    """(F, 1 + len(groups), J) of weights (F, J) in their sums: over all joints, then over each group."""
    frames, joints = weight.shape
    out = np.zeros((frames, 1 + len(groups), joints))
    for number, group in enumerate((np.arange(joints), *groups)):
        total = weight[:, group].sum(axis=1, keepdims=True)
        shares = np.full((frames, len(group)), 1.0 / len(group))
        np.divide(weight[:, group], total, out=shares, where=total > 0)
        out[:, number, group] = shares
    return out
