"""Energy, gradient and Newton step of a full-body warp, exact and linear in the number of joints.

The Gauss-Newton system of a tree needs no sparse factorisation: what a subtree costs is a quadratic of its parent's
twist (linear and angular velocity), so one sweep from the leaves to the root eliminates each joint's rotation by a 3x3
inverse, and one sweep back gives the steps, in the manner of the articulated-body recursion (Featherstone 1983).
"""

from __future__ import annotations

import numpy as np

from ..core import small
from ..rotations import quaternions as quat
from ..skeleton.joint_tree import JointTree, TreePose
from .energy import ActsOn, Goals, Residuals, lever_curvature, total_weight
from .sparse_residuals import Halfspaces, LimitViolations

# Keeps the root's 6x6 block invertible where nothing holds it; relative to the smallest affinities in use (0.02).
ROOT_FLOOR = 1e-9


class TreeSystem:
    """The warp's energy linearised at a pose, for a batch of frames."""

    def __init__(self, tree: JointTree, goals: Goals, pose: TreePose, residuals: Residuals | None = None):
        """residuals: of the goals at the pose, where they are known."""
        self.tree, self.goals, self.pose = tree, goals, pose
        self.residuals = residuals or Residuals.at(goals, tree, pose, quat)
        self._frames = pose.joints.shape[-1]

    def take(self, keep: np.ndarray) -> TreeSystem:
        """The system of some of the frames, without evaluating anything again."""
        goals = self.goals.take(keep)
        residuals = self.residuals.take(keep, goals, self._frames)
        return TreeSystem(self.tree, goals, self.pose.take(keep), residuals)

    def energy(self) -> np.ndarray:
        """(F,) half the weighted sum of squares."""
        return self.residuals.energy(lambda frame, value: np.bincount(frame, value, minlength=self._frames))

    def step(
        self, damping: np.ndarray, close: np.ndarray, scale: float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """The damped Newton step.

        damping: (F,) added to every translation and, times scale^2, to every rotation.  close: (F,) bool, frames that
        take all second-order terms.  scale: metres that a radian is worth, body height / 1.8 m.
        Returns root translations (R, 3, F), metres, and world rotation vectors (B, 3, F), radians.
        """
        hinges = _Hinges(self.tree, self.goals, self.residuals, self._frames)
        blocks = self._blocks(hinges, damping * scale**2, close)
        kept = []
        tree = self.tree
        for level, groups in zip(tree.levels[:0:-1], tree.siblings[:0:-1], strict=True):
            kept.append(self._eliminate(blocks, hinges, level, groups))
        return self._descend(blocks, kept, damping, scale)

    def gradient(self) -> tuple[np.ndarray, np.ndarray]:
        """Derivative of the energy by root translations (R, 3, F) and by world rotations of each body (B, 3, F)."""
        hinges = _Hinges(self.tree, self.goals, self.residuals, self._frames)
        _, _, _, force, torque = self._blocks(hinges, np.zeros(self._frames), np.zeros(self._frames, bool))
        tree = self.tree
        for level, groups in zip(tree.levels[:0:-1], tree.siblings[:0:-1], strict=True):
            torque[level] += hinges.torque[level]
            for group in groups:
                up, arm = tree.parents[group], self.pose.arms[group]
                force[up] += force[group]
                torque[up] += small.cross(arm, force[group]) - hinges.torque[group]
        return -force[: tree.roots], -torque

    def _blocks(self, hinges, damping, close):
        """Blocks of the bodies before elimination: A (v v), B (v w), D (w w), force on v, torque on w."""
        tree, goals = self.tree, self.goals
        bodies, frames, roots = tree.bodies, self._frames, slice(0, tree.roots)
        a, b, d = (np.zeros((bodies, 3, 3, frames)) for _ in range(3))
        pull = self.residuals.force(ActsOn.JOINTS, self.pose.joints.shape)
        affinity = total_weight(goals.terms, ActsOn.JOINTS, (len(tree.parents), frames))
        held = total_weight(goals.terms, ActsOn.BODIES, (bodies, frames)) + damping
        force, torque = pull[:bodies].copy(), self.residuals.force(ActsOn.BODIES, (bodies, 3, frames))
        for k in range(3):
            a[:, k, k] = affinity[:bodies]
            d[:, k, k] = held
        if hinges.stiffness is not None:
            # A root's parent is the world.
            d[roots] += hinges.stiffness[roots]
            torque[roots] += hinges.torque[roots]
        self._add_leaves(a, b, d, force, torque, pull, affinity)
        for found in self.residuals.of(Halfspaces):
            self._add_halfspaces(a, b, d, force, torque, pull, found)
        self._add_curvature(d, pull, close)
        return a, b, d, force, torque

    def _add_leaves(self, a, b, d, force, torque, pull, affinity):
        """Leaves have no rotation of their own: their targets act on the parent's lever."""
        tree = self.tree
        for group in tree.leaf_siblings:
            up, weight, arm = tree.parents[group], affinity[group], self.pose.arms[group]
            length2 = small.dot(arm, arm)
            for k in range(3):
                a[up, k, k] += weight
                d[up, k, k] += weight * length2
            d[up] -= weight[:, None, None] * arm[:, :, None] * arm[:, None, :]
            for row, col, sign, axis in ((0, 1, 1, 2), (0, 2, -1, 1), (1, 2, 1, 0)):
                value = sign * weight * arm[:, axis]
                b[up, row, col] += value
                b[up, col, row] -= value
            force[up] += pull[group]
            torque[up] += small.cross(arm, pull[group])

    def _add_halfspaces(self, a, b, d, force, torque, pull, found):
        """Half-spaces act on the body that carries the sample."""
        c, (bodies, frames) = found, d.shape[::3]
        cell = c.body * frames + c.frame
        arm = c.fraction[:, None] * self.pose.arms[c.child, :, c.frame]
        n, m, push = c.normal.T, np.cross(arm, c.normal).T, c.force()
        torques = np.cross(arm, push)

        def summed(values):
            return np.bincount(cell, values, minlength=bodies * frames).reshape(bodies, frames)

        for k in range(3):
            force[:, k] += summed(push[:, k])
            torque[:, k] += summed(torques[:, k])
            for j in range(3):
                b[:, k, j] += summed(c.weight * n[k] * m[j])
                if j < k:
                    continue
                for block, value in ((a, summed(c.weight * n[k] * n[j])), (d, summed(c.weight * m[k] * m[j]))):
                    block[:, k, j] += value
                    if j > k:
                        block[:, j, k] += value
        np.add.at(pull, (c.carrier[:, None], np.arange(3), c.frame[:, None]), push)

    def _add_curvature(self, d, pull, close):
        """Second-order terms of the levers. pull: (J, 3, F) forces on joints, summed over subtrees on the way."""
        tree, arms = self.tree, self.pose.arms
        outwards = ((tree.leaves, tree.leaf_siblings), *zip(tree.levels[:0:-1], tree.siblings[:0:-1], strict=True))
        for level, groups in outwards:
            stiff = lever_curvature(arms[level], pull[level], close)
            for group in groups:
                d[tree.parents[group]] += stiff[group - level.start]
                pull[tree.parents[group]] += pull[group]

    def _eliminate(self, blocks, hinges, level, groups):
        """Minimise over the rotations of one level; what is left acts on the parents' twists."""
        a, b, d, force, torque = blocks
        scalar, pull = hinges.scalar[level], hinges.torque[level]
        stiffness = None if hinges.stiffness is None else hinges.whole(level)
        inverse = d[level].copy()
        if stiffness is None:
            for k in range(3):
                inverse[:, k, k] += scalar
        else:
            inverse += stiffness
        inverse = small.sym_inverse(inverse)
        gain = small.mat_mul(b[level], inverse)
        right = torque[level] + pull
        aa = a[level] - small.mat_mul_t(gain, b[level])
        vv = force[level] - small.mat_vec(gain, right)
        if stiffness is None:
            lam = scalar[:, None, None]
            bb = gain * lam
            dd = -lam * lam * inverse
            for k in range(3):
                dd[:, k, k] += scalar
            ww = scalar[:, None] * small.mat_vec(inverse, right) - pull
        else:
            bb = small.mat_mul(gain, stiffness)
            through = small.mat_mul(stiffness, inverse)
            dd = stiffness - small.mat_mul(through, stiffness)
            ww = small.mat_vec(through, right) - pull
        arm = self.pose.arms[level]
        ar = small.cross_rows(aa, arm)
        rb = -np.swapaxes(small.cross_rows(np.swapaxes(bb, 1, 2), arm), 1, 2)
        rar = -np.swapaxes(small.cross_rows(np.swapaxes(ar, 1, 2), arm), 1, 2)
        dd += rb + np.swapaxes(rb, 1, 2) - rar
        ww += small.cross(arm, vv)
        bb -= ar
        for group in groups:
            up, at = self.tree.parents[group], group - level.start
            for out, part in zip(blocks, (aa, bb, dd, vv, ww), strict=True):
                out[up] += part[at]
        return level, inverse, right, scalar if stiffness is None else stiffness

    def _descend(self, blocks, kept, damping, scale):
        tree, arms = self.tree, self.pose.arms
        velocity = np.empty((tree.bodies, 3, arms.shape[-1]))
        spin = np.empty_like(velocity)
        velocity[: tree.roots], spin[: tree.roots] = _root_step(blocks, tree.roots, damping, scale)
        for level, inverse, right, stiffness in reversed(kept):
            up = tree.parents[level]
            velocity[level] = velocity[up] + small.cross(spin[up], arms[level])
            if stiffness.ndim == 2:
                carried = stiffness[:, None] * spin[up]
            else:
                carried = small.mat_vec(stiffness, spin[up])
            pushed = small.mat_t_vec(blocks[1][level], velocity[level])
            spin[level] = small.mat_vec(inverse, right + carried - pushed)
        return velocity[: tree.roots], spin


class _Hinges:
    """What acts between bodies and their parents.

    scalar: (B, F) stiffness alike in all directions; zero for roots.  stiffness: (B, 3, 3, F) of limits that are
    violated, else None.  torque: (B, 3, F) on the bodies, the opposite on their parents.
    """

    def __init__(self, tree: JointTree, goals: Goals, residuals: Residuals, frames: int):
        inner = tree.bodies - tree.roots
        self.scalar, self.torque = np.zeros((tree.bodies, frames)), np.zeros((tree.bodies, 3, frames))
        self.scalar[tree.roots :] = total_weight(goals.terms, ActsOn.HINGES, (inner, frames))
        self.torque[tree.roots :] = residuals.force(ActsOn.HINGES, (inner, 3, frames))
        self.stiffness = None
        for found in residuals.of(LimitViolations):
            if self.stiffness is None:
                self.stiffness = np.zeros((tree.bodies, 3, 3, frames))
            self.stiffness[found.body, :, :, found.frame] += found.stiffness()
            self.torque[found.body, :, found.frame] += found.torque()

    def whole(self, level: slice) -> np.ndarray:
        """(n, 3, 3, F) stiffness of a level."""
        out = self.stiffness[level].copy()
        for k in range(3):
            out[:, k, k] += self.scalar[level]
        return out


def _root_step(blocks, count, damping, scale):
    """Solve the roots' 6x6 systems: (R, 3, F) each of translation and rotation."""
    a, b, d, force, torque = (np.moveaxis(block[:count], -1, 1) for block in blocks)
    matrix = np.concatenate(
        (np.concatenate((a, b), axis=-1), np.concatenate((np.swapaxes(b, -1, -2), d), axis=-1)), axis=-2
    )
    matrix[..., range(3), range(3)] += (ROOT_FLOOR + damping)[:, None]
    matrix[..., range(3, 6), range(3, 6)] += ROOT_FLOOR * scale**2
    right = np.concatenate((force, torque), axis=-1)
    twist = np.moveaxis(np.linalg.solve(matrix, right[..., None])[..., 0], 1, -1)
    return twist[:, :3], twist[:, 3:]
