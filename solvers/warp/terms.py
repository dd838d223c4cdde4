"""The dense terms of the warp: joints to their targets, bodies in their source pose and turned like what they face."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .energy import ActsOn, DenseTerm


@dataclass(frozen=True)
class Targets(DenseTerm):
    """Joints go to places (Al-Ashqar, Komura and Choi 2013, section 7.1).

    places: (J, 3, F) world, metres.  weight: (J, F) affinities.
    """

    acts_on: ClassVar[ActsOn] = ActsOn.JOINTS
    places: np.ndarray
    weight: np.ndarray

    def residual(self, tree, pose, quats):
        return self.places - pose.joints


@dataclass(frozen=True)
class Bend(DenseTerm):
    """Bodies keep the angles of the source pose, as far as their surroundings turn alike: each turns like its parent
    and, from there, as what it faces has turned against what the parent faces.

    between: (B - R, 4, F) quaternions from the parent's turn to the body's, in the source pose.
    weight: (B - R, F) m^2, of the squared angle between the turns wanted and found.
    """

    acts_on: ClassVar[ActsOn] = ActsOn.HINGES
    between: np.ndarray
    weight: np.ndarray

    def residual(self, tree, pose, quats):
        turn, roots = pose.rotations, tree.roots
        wanted = quats.mul(turn[tree.parents[roots : tree.bodies]], self.between)
        return quats.log(quats.mul_conj(wanted, turn[roots:]))


@dataclass(frozen=True)
class Facing(DenseTerm):
    """Bodies turn as their surroundings do.

    turns: (B, 4, F) quaternions, wanted turns from the source orientation.  weight: (B, F) m^2, of the squared angle.
    """

    acts_on: ClassVar[ActsOn] = ActsOn.BODIES
    turns: np.ndarray
    weight: np.ndarray

    def residual(self, tree, pose, quats):
        return quats.log(quats.mul_conj(self.turns, pose.rotations))
