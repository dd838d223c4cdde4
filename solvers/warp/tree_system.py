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
from .tree_goals import Goals, Halfspaces, LimitViolations

# Keeps the root's 6x6 block invertible where nothing holds it; relative to the smallest affinities in use (0.02).
ROOT_FLOOR = 1e-9


class TreeSystem:
    """The warp's energy linearised at a pose, for a batch of frames."""

    def __init__(self, tree: JointTree, goals: Goals, pose: TreePose):
        contacts = goals.obstacles(pose.joints) if goals.obstacles else None
        limits = goals.limits(pose.rotations, goals.frames) if goals.limits else None
        turn = quat.log(quat.mul(goals.facing, quat.conj(pose.rotations)))
        self._set(tree, goals, pose, goals.targets - pose.joints, _bend(tree, pose), turn, contacts, limits)

    def _set(self, tree, goals, pose, error, bend, turn, contacts, limits):
        self.tree, self.goals, self.pose = tree, goals, pose
        self._error, self._bend, self._turn = error, bend, turn
        self._contacts: Halfspaces | None = contacts
        self._limits: LimitViolations | None = limits

    def take(self, keep: np.ndarray) -> TreeSystem:
        """The system of some of the frames, without evaluating anything again."""
        out = TreeSystem.__new__(TreeSystem)
        contacts, limits = self._contacts, self._limits
        if contacts is not None:
            contacts = contacts.take(keep, self._error.shape[-1])
        if limits is not None:
            limits = limits.take(keep)
        parts = (a[..., keep] for a in (self._error, self._bend, self._turn))
        out._set(self.tree, self.goals.take(keep), self.pose.take(keep), *parts, contacts, limits)
        return out

    def energy(self) -> np.ndarray:
        """(F,) half the weighted sum of squares."""
        goals = self.goals
        total = (goals.affinity * small.dot(self._error, self._error)).sum(axis=0)
        total += (goals.stiffness * small.dot(self._bend, self._bend)).sum(axis=0)
        total += (goals.facing_weight * small.dot(self._turn, self._turn)).sum(axis=0)
        if self._contacts is not None:
            c = self._contacts
            total += np.bincount(c.frame, c.weight * c.shortfall**2, minlength=total.size)
        if self._limits is not None:
            total += self._limits.weight * small.dot(self._limits.back, self._limits.back).sum(axis=0)
        return 0.5 * total

    def step(
        self, damping: np.ndarray, close: np.ndarray, scale: float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """The damped Newton step.

        damping: (F,) added to every translation and, times scale^2, to every rotation.  close: (F,) bool, frames that
        take all second-order terms.  scale: metres that a radian is worth, body height / 1.8 m.
        Returns root translations (R, 3, F), metres, and world rotation vectors (B, 3, F), radians.
        """
        blocks = self._blocks(damping * scale**2, close)
        kept = []
        tree = self.tree
        for level, groups in zip(tree.levels[:0:-1], tree.siblings[:0:-1], strict=True):
            kept.append(self._eliminate(blocks, level, groups))
        return self._descend(blocks, kept, damping, scale)

    def gradient(self) -> tuple[np.ndarray, np.ndarray]:
        """Derivative of the energy by root translations (R, 3, F) and by world rotations of each body (B, 3, F)."""
        blocks = self._blocks(np.zeros(self._error.shape[-1]), np.zeros(self._error.shape[-1], bool))
        _, _, _, force, torque = blocks
        force, torque = force.copy(), torque.copy()
        tree = self.tree
        for level, groups in zip(tree.levels[:0:-1], tree.siblings[:0:-1], strict=True):
            rest = self._rest(level)
            torque[level] -= rest
            for group in groups:
                up, arm = tree.parents[group], self.pose.arms[group]
                force[up] += force[group]
                torque[up] += rest[group - level.start] + small.cross(arm, force[group])
        return -force[: tree.roots], -torque

    def _rest(self, level: slice) -> np.ndarray:
        """Torque (n, 3, F) of the joint springs between the bodies of a level and their parents."""
        rest = self.goals.stiffness[level][:, None] * self._bend[level]
        if self._limits is not None:
            rest -= self._limit_torque(level)
        return rest

    def _joint_stiffness(self, level: slice) -> np.ndarray | None:
        """(n, 3, 3, F) where limits make it anisotropic, else None."""
        if self._limits is None:
            return None
        out = self._limit_stiffness(level)
        for k in range(3):
            out[:, k, k] += self.goals.stiffness[level]
        return out

    def _limit_torque(self, level: slice) -> np.ndarray:
        """(n, 3, F)."""
        return self._limits.weight * small.mat_t_vec(self._limits.slope[level], self._limits.back[level])

    def _limit_stiffness(self, level: slice) -> np.ndarray:
        """(n, 3, 3, F) Gauss-Newton Hessian."""
        slope = self._limits.slope[level]
        return self._limits.weight * small.mat_mul(np.swapaxes(slope, 1, 2), slope)

    def _blocks(self, damping, close):
        """Blocks of the bodies before elimination: A (v v), B (v w), D (w w), force on v, torque on w."""
        tree, goals = self.tree, self.goals
        bodies, frames = tree.bodies, self._error.shape[-1]
        a, b, d = (np.zeros((bodies, 3, 3, frames)) for _ in range(3))
        pull = goals.affinity[:, None] * self._error
        force = pull[:bodies].copy()
        torque = goals.facing_weight[:, None] * self._turn
        for k in range(3):
            a[:, k, k] = goals.affinity[:bodies]
            d[:, k, k] = goals.facing_weight + damping
        if self._limits is not None:
            roots = slice(0, tree.roots)
            d[roots] += self._limit_stiffness(roots)
            torque[roots] += self._limit_torque(roots)
        self._add_leaves(a, b, d, force, torque, pull)
        if self._contacts is not None:
            self._add_contacts(a, b, d, force, torque, pull)
        self._add_curvature(d, pull, close)
        return a, b, d, force, torque

    def _add_leaves(self, a, b, d, force, torque, pull):
        """Leaves have no rotation of their own: their targets act on the parent's lever."""
        tree = self.tree
        for group in tree.leaf_siblings:
            up, weight, arm = tree.parents[group], self.goals.affinity[group], self.pose.arms[group]
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

    def _add_contacts(self, a, b, d, force, torque, pull):
        """Half-spaces act on the body that carries the sample."""
        c, (bodies, frames) = self._contacts, d.shape[::3]
        cell = c.body * frames + c.frame
        arm = c.fraction[:, None] * self.pose.arms[c.child, :, c.frame]
        n, m = c.normal.T, np.cross(arm, c.normal).T
        push = c.weight * c.shortfall

        def summed(values):
            return np.bincount(cell, values, minlength=bodies * frames).reshape(bodies, frames)

        for k in range(3):
            force[:, k] += summed(push * n[k])
            torque[:, k] += summed(push * m[k])
            for j in range(3):
                b[:, k, j] += summed(c.weight * n[k] * m[j])
                if j < k:
                    continue
                for block, value in ((a, summed(c.weight * n[k] * n[j])), (d, summed(c.weight * m[k] * m[j]))):
                    block[:, k, j] += value
                    if j > k:
                        block[:, j, k] += value
        carrier = np.where(c.fraction == 1.0, c.child, c.body)
        np.add.at(pull, (carrier[:, None], np.arange(3), c.frame[:, None]), push[:, None] * c.normal)

    def _add_curvature(self, d, pull, close):
        """Second-order terms of the levers.

        A force f on the end of a lever r adds (f.r) I - (f r^T + r f^T)/2 to the Hessian of the lever's rotation. Far
        from the minimum only max(f.r, 0)(I - r r^T / r^2) is safe: it makes targets out of reach converge. Frames that
        are close take the whole term and converge quadratically. pull: (J, 3, F) forces on joints, summed over subtrees
        on the way.
        """
        tree, arms = self.tree, self.pose.arms
        outwards = ((tree.leaves, tree.leaf_siblings), *zip(tree.levels[:0:-1], tree.siblings[:0:-1], strict=True))
        for level, groups in outwards:
            arm, force = arms[level], pull[level]
            tension = small.dot(arm, force)
            stretch = np.maximum(tension, 0.0) / np.maximum(small.dot(arm, arm), 1e-18)
            other = np.where(close, force, stretch[:, None] * arm)
            half = 0.5 * arm[:, :, None] * other[:, None, :]
            stiff = -(half + np.swapaxes(half, 1, 2))
            tension = np.where(close, tension, np.maximum(tension, 0.0))
            for k in range(3):
                stiff[:, k, k] += tension
            for group in groups:
                d[tree.parents[group]] += stiff[group - level.start]
                pull[tree.parents[group]] += pull[group]

    def _eliminate(self, blocks, level, groups):
        """Minimise over the rotations of one level; what is left acts on the parents' twists."""
        a, b, d, force, torque = blocks
        stiffness = self._joint_stiffness(level)
        scalar = self.goals.stiffness[level]
        rest = self._rest(level)
        inverse = d[level].copy()
        if stiffness is None:
            for k in range(3):
                inverse[:, k, k] += scalar
        else:
            inverse += stiffness
        inverse = small.sym_inverse(inverse)
        gain = small.mat_mul(b[level], inverse)
        right = torque[level] - rest
        aa = a[level] - small.mat_mul_t(gain, b[level])
        vv = force[level] - small.mat_vec(gain, right)
        if stiffness is None:
            lam = scalar[:, None, None]
            bb = gain * lam
            dd = -lam * lam * inverse
            for k in range(3):
                dd[:, k, k] += scalar
            ww = rest + scalar[:, None] * small.mat_vec(inverse, right)
        else:
            bb = small.mat_mul(gain, stiffness)
            through = small.mat_mul(stiffness, inverse)
            dd = stiffness - small.mat_mul(through, stiffness)
            ww = rest + small.mat_vec(through, right)
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


def _bend(tree: JointTree, pose: TreePose) -> np.ndarray:
    """(B, 3, F) turn of each body relative to its parent's, world rotation vectors; zero for roots."""
    count, q = tree.roots, pose.rotations
    bend = np.zeros((tree.bodies, 3, q.shape[-1]))
    bend[count:] = quat.log(quat.mul(q[count:], quat.conj(q[tree.parents[count : tree.bodies]])))
    return bend


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
