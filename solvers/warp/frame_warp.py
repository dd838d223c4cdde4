"""The full-body warp of ``tree_warp`` for a single frame, where the number of NumPy calls is what costs.

The same energy and the same steps, but with dense matrices: forward kinematics is a product with the matrix of paths, a
joint's derivatives are read off from its levers, and the Newton system, 84 unknowns for a body of 27 rotations, goes to
Cholesky as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from ..rotations import row_quaternions as quat
from ..skeleton.joint_tree import JointTree
from .tree_goals import BodyViolations, Goals, Halfspaces
from .tree_system import ROOT_FLOOR
from .tree_warp import CLOSE, FIRST_DAMPING, LEAST_DAMPING, MAX_ITERATIONS, STUCK, TOLERANCE


@dataclass(frozen=True)
class FrameGoals:
    """``tree_goals.Goals`` of one frame: the same arrays without their last axis, quaternions (B, 4).

    obstacles: None or half-spaces of the joints (J, 3), their ``frame`` unused.  limits: None or violations of the
    rotations (B, 4), None where there are none.
    """

    offsets: np.ndarray
    targets: np.ndarray
    affinity: np.ndarray
    stiffness: np.ndarray
    facing: np.ndarray
    facing_weight: np.ndarray
    obstacles: Callable[[np.ndarray], Halfspaces] | None = None
    limits: Callable[[np.ndarray], BodyViolations | None] | None = None

    @classmethod
    def of(cls, goals: Goals, frame: int) -> FrameGoals:
        """One frame of a batch, without its obstacles and limits."""
        names = ("offsets", "targets", "affinity", "stiffness", "facing", "facing_weight")
        return cls(*(np.ascontiguousarray(getattr(goals, name)[..., frame]) for name in names))


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
        # Springs: bodies against their parents, then bodies against what they face.
        inner = bodies - roots
        self.above = tree.parents[roots:bodies]
        self.springs = np.zeros((inner + bodies, bodies))
        self.springs[np.arange(inner), np.arange(roots, bodies)] = 1.0
        self.springs[np.arange(inner), self.above] = -1.0
        self.springs[inner:] = np.eye(bodies)
        # A bend pulls its body back, what is faced pulls it there.
        self.pulls = self.springs.T.copy()
        self.pulls[:, :inner] *= -1.0
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
    goals: FrameGoals,
    rotations: np.ndarray,
    roots: np.ndarray,
    scale: float = 1.0,
    most: int = MAX_ITERATIONS,
) -> tuple[FramePose, int]:
    """Minimise the energy of one frame from a start, as ``tree_warp.warp`` does.

    rotations: (B, 4) and roots: (R, 3), the start.  scale: body height / 1.8 m.
    Returns the pose and the iterations used, ``most`` where it did not converge.
    """
    system = _FrameSystem(frame, goals, scale)
    now = system.at(frame.forward(goals.offsets, rotations, roots))
    damping, close = 0.0, False
    for iteration in range(1, most + 1):
        pose = system.advanced(now, damping, close)
        if pose is None:
            damping, close = max(10 * damping, FIRST_DAMPING), False
            continue
        trial = system.at(pose)
        # Rounding of the sum must not reject the last, tiny step.
        better = trial.energy <= now.energy * (1 + 1e-12) + 1e-18 * scale**2
        way = trial.pose.joints - now.pose.joints
        moved = float(np.einsum("jk,jk->j", way, way).max()) ** 0.5
        if better:
            now = trial
        # A step that was taken back tells nothing, unless damping has left nothing of it.
        if moved < (TOLERANCE if better else STUCK) * scale:
            return now.pose, iteration
        damping = 0.1 * damping if better else max(10 * damping, FIRST_DAMPING)
        if damping < LEAST_DAMPING:
            damping = 0.0
        close = better and (close or moved < CLOSE * scale)
    return now.pose, most


@dataclass(frozen=True)
class _Place:
    """The energy and its parts at a pose. error: (J, 3).  bend: (S, 3) turns of bodies against their parents, then
    against what bodies face."""

    pose: FramePose
    error: np.ndarray
    bend: np.ndarray
    contacts: Halfspaces | None
    violations: BodyViolations | None
    energy: float


class _FrameSystem:
    """The Newton system of one frame's goals."""

    def __init__(self, frame: FrameTree, goals: FrameGoals, scale: float):
        self._frame, self._goals, self._scale = frame, goals, scale
        tree = frame.tree
        count, bodies, roots = len(tree.parents), tree.bodies, tree.roots
        self._root = np.sqrt(goals.affinity)
        self._spring = np.concatenate((goals.stiffness[roots:], goals.facing_weight))
        self._torque = frame.pulls * self._spring
        self._constant = self._springs()
        # Rows of the joints' derivatives, weighted; what the roots' translations do to them stays.
        self._rows = np.zeros((3 * count, frame.unknowns))
        moves = self._rows.reshape(count, 3, -1)
        for k in range(3):
            moves[:, k, k * roots : (k + 1) * roots] = self._root[:, None] * frame.root_of
        self._turns = self._rows.reshape(count, 3, -1)[:, :, 3 * roots :].reshape(count, 3, 3, bodies)

    def _springs(self):
        """The springs' part of the system, which no pose changes."""
        frame, tree = self._frame, self._frame.tree
        block = (frame.springs.T * self._spring) @ frame.springs
        block.flat[: tree.roots * (tree.bodies + 1) : tree.bodies + 1] += ROOT_FLOOR * self._scale**2
        out = np.zeros((frame.unknowns, frame.unknowns))
        edge = 3 * tree.roots
        out.reshape(-1)[frame.diagonal[:edge]] = ROOT_FLOOR
        for k in range(3):
            part = slice(edge + k * tree.bodies, edge + (k + 1) * tree.bodies)
            out[part, part] = block
        return out

    def at(self, pose: FramePose) -> _Place:
        """The energy at a pose."""
        goals, q = self._goals, pose.rotations
        error = goals.targets - pose.joints
        frame = self._frame
        first = np.concatenate((q[frame.tree.roots :], goals.facing))
        bend = quat.log(quat.mul_conj(first, np.concatenate((q[frame.above], q))))
        total = goals.affinity @ np.einsum("jk,jk->j", error, error) + self._spring @ np.einsum("sk,sk->s", bend, bend)
        contacts = violations = None
        if goals.obstacles is not None:
            contacts = goals.obstacles(pose.joints)
            total += contacts.weight @ contacts.shortfall**2
        if goals.limits is not None:
            violations = goals.limits(q)
            if violations is not None:
                total += violations.weight * np.einsum("vk,vk->", violations.back, violations.back)
        return _Place(pose, error, bend, contacts, violations, 0.5 * float(total))

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
        error = self._root[:, None] * now.error
        lever = self._lever(now.pose.arms)
        self._fill_turns(lever)
        system = self._rows.T @ self._rows
        system += self._constant
        right = self._rows.T @ error.ravel()
        right[edge:] += (self._torque @ now.bend).T.ravel()
        pull = self._root[:, None] * error
        if now.contacts is not None and now.contacts.shortfall.size:
            self._add_contacts(system, right, pull, lever, now.contacts)
        if now.violations is not None:
            self._add_limits(system, right, now.violations)
        flat = system.reshape(-1)
        flat[frame.diagonal[:edge]] += damping
        flat[frame.diagonal[edge:]] += damping * self._scale**2
        force = (frame.paths.T @ pull)[frame.tree.roots :]
        for whole in (True, False) if close else (False,):
            bent = system.copy() if whole else system
            bent.reshape(-1)[frame.own] += self._curvature(now.pose.arms[frame.tree.roots :], force, whole)
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

    def _add_contacts(self, system, right, pull, lever, contacts):
        """Half-spaces: one row of derivatives each."""
        c, frame = contacts, self._frame
        root = np.sqrt(c.weight)
        normal = (root[:, None] * c.normal).T
        start = lever[:, c.body]
        lever = start + c.fraction[:, None] * (lever[:, c.child] - start)
        x, y, z = normal[:, :, None]
        turns = (lever[1] * z - lever[2] * y, lever[2] * x - lever[0] * z, lever[0] * y - lever[1] * x)
        own = frame.root_of[c.body]
        rows = np.concatenate((own * x, own * y, own * z, *turns), axis=1)
        system += rows.T @ rows
        right += rows.T @ (root * c.shortfall)
        carrier = np.where(c.fraction == 1.0, c.child, c.body)
        np.add.at(pull, carrier, (c.weight * c.shortfall)[:, None] * c.normal)

    def _add_limits(self, system, right, violations):
        """Springs between bodies and their parents, stiff along some axes only."""
        v, frame = violations, self._frame
        stiff = v.weight * np.einsum("vka,vkb->vab", v.slope, v.slope)
        torque = v.weight * np.einsum("vka,vk->va", v.slope, v.back)
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

    def _curvature(self, arms, force, whole):
        """Second-order terms of the levers (9 B,), body by body; see ``TreeSystem``. force: (J - R, 3) of subtrees."""
        tension = np.einsum("jk,jk->j", arms, force)
        if not whole:
            tension = np.maximum(tension, 0.0)
            stretch = tension / np.maximum(np.einsum("jk,jk->j", arms, arms), 1e-18)
            force = stretch[:, None] * arms
        half = arms[:, :, None] * (-0.5 * force)[:, None, :]
        stiff = half + half.transpose(0, 2, 1)
        stiff = stiff.reshape(-1, 9)
        stiff[:, ::4] += tension[:, None]
        return (self._frame.carried @ stiff).ravel()
