"""The full-body warp of ``tree_warp`` for a single frame, where the number of NumPy calls is what costs.

The same energy (``energy``) and the same steps, but with dense matrices: forward kinematics is a product with the
matrix of paths, a joint's derivatives are read off from its levers, and the Newton system, 84 unknowns for a body of 27
rotations, goes to Cholesky as it is. The sweep of ``tree_system`` gives the same step; for a frame alone, a body of 38
joints on contacts, it takes 2.2 ms where this takes 0.3 ms, and 0.06 ms a frame in a batch of 500.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from ..rotations import frame_quaternions as quat
from ..skeleton.joint_tree import JointTree
from .energy import ActsOn, Goals, Residuals, lever_curvature, total_weight
from .levenberg import MAX_ITERATIONS, is_close, is_done, is_lower, next_damping
from .sparse_residuals import Halfspaces, LimitViolations
from .tree_system import ROOT_FLOOR


@dataclass(frozen=True)
class FramePose:
    """``joint_tree.TreePose`` of one frame: rotations (B, 4), roots (R, 3), joints (J, 3), arms (J, 3)."""

    rotations: np.ndarray
    roots: np.ndarray
    joints: np.ndarray
    arms: np.ndarray


class FrameTree:
    """What the structure of a tree says about one frame's linear algebra.

    Unknowns: x of all roots' translations, their y, z; then x of all bodies' world rotation vectors, y, z.
    """

    def __init__(self, tree: JointTree):
        self.tree = tree
        count, bodies, roots = len(tree.parents), tree.bodies, tree.roots
        self.unknowns = 3 * (roots + bodies)
        # paths[j, k]: the bone to k lies on the way to j.  levers[j, b]: that bone of body b, the last place for none.
        self.paths = np.zeros((count, count))
        self.levers = np.full((count, bodies), count)
        self.root_of = np.zeros((count, roots))
        for joint, parent in enumerate(tree.parents):
            if parent < 0:
                self.root_of[joint, joint] = 1.0
                continue
            self.paths[joint], self.levers[joint] = self.paths[parent], self.levers[parent]
            self.root_of[joint] = self.root_of[parent]
            self.paths[joint, joint], self.levers[joint, parent] = 1.0, joint
        self.carriers = tree.parents[roots:]
        self.carried = np.zeros((bodies, count - roots))
        self.carried[self.carriers, np.arange(count - roots)] = 1.0
        # hinged[b, h]: a torque in the hinge of body R + h turns that body forth and its parent back.
        inner = np.arange(bodies - roots)
        self.hinged = np.zeros((bodies, bodies - roots))
        self.hinged[roots + inner, inner] = 1.0
        self.hinged[tree.parents[roots:bodies], inner] = -1.0
        # Of the bodies' own 3x3 blocks in the system, flat.
        place = 3 * roots + np.arange(3)[:, None] * bodies + np.arange(bodies)
        self.own = (place.T[:, :, None] * self.unknowns + place.T[:, None, :]).reshape(-1)
        self.place = place
        self.diagonal = np.arange(self.unknowns) * (self.unknowns + 1)

    def forward(self, offsets: np.ndarray, rotations: np.ndarray, roots: np.ndarray) -> FramePose:
        """Forward kinematics; see ``TreePose.forward``."""
        count = self.tree.roots
        arms = np.zeros(offsets.shape)
        turn = quat.matrices(rotations)[self.carriers]
        np.einsum("jab,jb->ja", turn, offsets[count:], out=arms[count:])
        return FramePose(rotations, roots, self.paths @ arms + self.root_of @ roots, arms)


def warp_frame(
    frame: FrameTree,
    goals: Goals,
    rotations: np.ndarray,
    roots: np.ndarray,
    scale: float = 1.0,
    most: int = MAX_ITERATIONS,
) -> tuple[FramePose, int]:
    """Minimise the energy of one frame from a start, as ``tree_warp.warp`` does.

    goals: of a frame alone (``Goals.take``).  rotations: (B, 4) and roots: (R, 3), the start.  scale: body height /
    1.8 m.  most: iterations.
    Returns the pose and the iterations used, ``most`` where it did not converge.
    """
    system = _FrameSystem(frame, goals, scale)
    now = system.at(frame.forward(goals.offsets, rotations, roots))
    damping, close = 0.0, False
    for iteration in range(1, most + 1):
        pose = system.advanced(now, damping, close)
        if pose is None:
            damping, close = next_damping(damping, False), False
            continue
        trial = system.at(pose)
        better = is_lower(trial.energy, now.energy, scale)
        way = trial.pose.joints - now.pose.joints
        moved = float(np.einsum("jk,jk->j", way, way).max()) ** 0.5
        if better:
            now = trial
        if is_done(moved, better, scale):
            return now.pose, iteration
        damping, close = next_damping(damping, better), is_close(close, moved, better, scale)
    return now.pose, most


@dataclass(frozen=True)
class _Place:
    """The energy and its residuals at a pose."""

    pose: FramePose
    residuals: Residuals
    energy: float


class _FrameSystem:
    """The Newton system of one frame's goals."""

    def __init__(self, frame: FrameTree, goals: Goals, scale: float):
        self._frame, self._goals, self._scale = frame, goals, scale
        tree = frame.tree
        count, bodies, roots = len(tree.parents), tree.bodies, tree.roots
        self._root = np.sqrt(total_weight(goals.terms, ActsOn.JOINTS, (count,)))
        self._inverse_root = np.divide(1.0, self._root, out=np.zeros(count), where=self._root > 0)
        self._constant = self._springs()
        # Rows of the joints' derivatives, weighted; what the roots' translations do to them stays.
        self._rows = np.zeros((3 * count, frame.unknowns))
        moves = self._rows.reshape(count, 3, -1)
        for k in range(3):
            moves[:, k, k * roots : (k + 1) * roots] = self._root[:, None] * frame.root_of
        self._turns = self._rows.reshape(count, 3, -1)[:, :, 3 * roots :].reshape(count, 3, 3, bodies)

    def _springs(self):
        """The turns' part of the system, which no pose changes."""
        frame, tree = self._frame, self._frame.tree
        terms, bodies, roots = self._goals.terms, tree.bodies, tree.roots
        block = (frame.hinged * total_weight(terms, ActsOn.HINGES, (bodies - roots,))) @ frame.hinged.T
        block.flat[:: bodies + 1] += total_weight(terms, ActsOn.BODIES, (bodies,))
        block.flat[: roots * (bodies + 1) : bodies + 1] += ROOT_FLOOR * self._scale**2
        out = np.zeros((frame.unknowns, frame.unknowns))
        edge = 3 * roots
        out.reshape(-1)[frame.diagonal[:edge]] = ROOT_FLOOR
        for k in range(3):
            part = slice(edge + k * bodies, edge + (k + 1) * bodies)
            out[part, part] = block
        return out

    def at(self, pose: FramePose) -> _Place:
        """The energy at a pose."""
        residuals = Residuals.at(self._goals, self._frame.tree, pose, quat)
        return _Place(pose, residuals, float(residuals.energy(lambda frame, value: value.sum())))

    def advanced(self, now: _Place, damping: float, close: bool) -> FramePose | None:
        """The pose after a damped Newton step, None where that needs more damping."""
        frame = self._frame
        tree = frame.tree
        step = self._step(now, damping, close)
        if step is None:
            return None
        edge = 3 * tree.roots
        spin = step[edge:].reshape(3, -1).T
        rotations = quat.normalised(quat.mul(quat.exp(spin), now.pose.rotations))
        return frame.forward(self._goals.offsets, rotations, now.pose.roots + step[:edge].reshape(3, -1).T)

    def _step(self, now, damping, close):
        """All unknowns' change, or None. close: take every second-order term, where that is positive definite."""
        frame = self._frame
        edge = 3 * frame.tree.roots
        tree, residuals = frame.tree, now.residuals
        pull = residuals.force(ActsOn.JOINTS, now.pose.joints.shape)
        lever = self._lever(now.pose.arms)
        self._fill_turns(lever)
        system = self._rows.T @ self._rows
        system += self._constant
        right = self._rows.T @ (self._inverse_root[:, None] * pull).ravel()
        torque = frame.hinged @ residuals.force(ActsOn.HINGES, (tree.bodies - tree.roots, 3))
        torque += residuals.force(ActsOn.BODIES, (tree.bodies, 3))
        right[edge:] += torque.T.ravel()
        for found in residuals.of(Halfspaces):
            self._add_halfspaces(system, right, pull, lever, found)
        for found in residuals.of(LimitViolations):
            self._add_violations(system, right, found)
        flat = system.reshape(-1)
        flat[frame.diagonal[:edge]] += damping
        flat[frame.diagonal[edge:]] += damping * self._scale**2
        force = (frame.paths.T @ pull)[frame.tree.roots :]
        for whole in (True, False) if close else (False,):
            bent = system.copy() if whole else system
            stiff = lever_curvature(now.pose.arms[frame.tree.roots :], force, whole).reshape(-1, 9)
            bent.reshape(-1)[frame.own] += (frame.carried @ stiff).ravel()
            # Fortran's order of a symmetric matrix is its own: nothing is copied.
            _, step, failed = lapack.dposv(bent.T, right, overwrite_a=True)
            if not failed:
                return step
        return None

    def _lever(self, arms):
        """(3, J, B): the bone of each body that lies on the way to each joint, zero where none does."""
        count = len(arms)
        padded = np.zeros((3, count + 1))
        padded[:, :count] = arms.T
        return padded.take(self._frame.levers, axis=1)

    def _fill_turns(self, lever):
        """Derivatives of the joints by the turns of the bodies, spin x lever, weighted."""
        x, y, z = lever * self._root[:, None]
        turns = self._turns
        turns[:, 0, 1], turns[:, 1, 2], turns[:, 2, 0] = z, x, y
        for row, column, part in ((0, 2, y), (1, 0, z), (2, 1, x)):
            np.negative(part, out=turns[:, row, column])

    def _add_halfspaces(self, system, right, pull, lever, found):
        """Half-spaces: one row of derivatives each."""
        c, frame = found, self._frame
        root = np.sqrt(c.weight)
        normal = (root[:, None] * c.normal).T
        start = lever.take(c.body, axis=1)
        lever = start + c.fraction[:, None] * (lever.take(c.child, axis=1) - start)
        x, y, z = normal[:, :, None]
        turns = (lever[1] * z - lever[2] * y, lever[2] * x - lever[0] * z, lever[0] * y - lever[1] * x)
        own = frame.root_of[c.body]
        rows = np.concatenate((own * x, own * y, own * z, *turns), axis=1)
        system += rows.T @ rows
        right += rows.T @ (root * c.shortfall)
        np.add.at(pull, c.carrier, c.force())

    def _add_violations(self, system, right, found):
        """Springs between bodies and their parents, stiff along some axes only."""
        v, frame, stiff, torque = found, self._frame, found.stiffness(), found.torque()
        parent = frame.tree.parents[v.body]
        place, inner = frame.place, np.flatnonzero(parent >= 0)
        own, up = place[:, v.body].T, place[:, parent[inner]].T
        np.add.at(system, (own[:, :, None], own[:, None, :]), stiff)
        np.add.at(right, own, torque)
        np.add.at(system, (up[:, :, None], up[:, None, :]), stiff[inner])
        np.add.at(right, up, -torque[inner])
        own = own[inner]
        np.add.at(system, (own[:, :, None], up[:, None, :]), -stiff[inner])
        np.add.at(system, (up[:, :, None], own[:, None, :]), -stiff[inner])
