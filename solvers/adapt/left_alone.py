"""Bones that are left alone: they keep their source angles against their parents while the rest is solved."""

from __future__ import annotations

import numpy as np

from ..skeleton.joint_tree import JointTree

# m^2 at 1.8 m: so stiff that the rest of the body is solved with such a bone as it is; what is missing is added after.
STIFFNESS = 200.0


def left_bodies(tree: JointTree, left: np.ndarray | None) -> np.ndarray:
    """(B,) bool bodies in tree order of joints (J,) bool in track order, None for none; roots have no parent."""
    if left is None:
        return np.zeros(tree.bodies, bool)
    out = np.asarray(left, bool)[tree.order[: tree.bodies]]
    out[: tree.roots] = False
    return out


def carried(tree: JointTree, left: np.ndarray | None) -> np.ndarray:
    """(J,) bool in track order: joints that go with a bone which is left alone, so that nothing else holds them."""
    bodies, out = left_bodies(tree, left), np.zeros(len(tree.parents), bool)
    out[tree.roots :] = bodies[tree.parents[tree.roots :]]
    return out[tree.rank]


def kept(tree: JointTree, rotations: np.ndarray, bodies: np.ndarray) -> np.ndarray:
    """Turns (B, 4, ...) of which bodies (B,) bool turn as their parents do."""
    if not bodies.any():
        return rotations
    rotations = rotations.copy()
    for level in tree.levels[1:]:
        chosen = np.flatnonzero(bodies[level]) + level.start
        rotations[chosen] = rotations[tree.parents[chosen]]
    return rotations
