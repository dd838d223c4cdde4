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
    """Bodies keep the angles of the source pose: each turns like its parent.

    weight: (B - R, F) m^2, of the squared angle between the two turns.
    """

    acts_on: ClassVar[ActsOn] = ActsOn.HINGES
    weight: np.ndarray

    def residual(self, tree, pose, quats):
        turn, roots = pose.rotations, tree.roots
        return quats.log(quats.mul_conj(turn[tree.parents[roots : tree.bodies]], turn[roots:]))


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
