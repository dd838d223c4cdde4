"""Full-body warp towards joint targets: every frame solved on its own to convergence, batched over frames.

Unknowns of a frame are its roots' translations and one rotation a body, so bone lengths are exact. This replaces the
stepping of Al-Ashqar, Komura and Choi 2013 (section 7.2; ``paper_warp``), which lags behind its targets.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from ..core.steps import result_of
from ..rotations import quaternions as quat
from ..skeleton.joint_tree import JointTree, TreePose
from .energy import Goals
from .levenberg import MAX_ITERATIONS, is_close, is_done, is_lower, next_damping
from .tree_system import TreeSystem


def warp(
    tree: JointTree, goals: Goals, rotations: np.ndarray, roots: np.ndarray, scale: float = 1.0
) -> tuple[TreePose, np.ndarray]:
    """Minimise the goals' energy from a start, frame by frame (Levenberg-Marquardt).

    rotations: (B, 4, F) and roots: (R, 3, F), the start.  scale: body height / 1.8 m.
    A step that does not lower a frame's energy is taken back and damped; a frame whose largest joint step falls under
    0.1 mm (x scale) is frozen, so its result does not depend on the other frames of the batch.
    Returns the pose, and the iterations used (F,) int, MAX_ITERATIONS where a frame did not converge.
    """
    return result_of(warp_steps(tree, goals, rotations, roots, scale))


def warp_steps(
    tree: JointTree, goals: Goals, rotations: np.ndarray, roots: np.ndarray, scale: float = 1.0
) -> Generator[float, None, tuple[TreePose, np.ndarray]]:
    """``warp``, yielding after every iteration the share of the frames that are done."""
    result = TreePose.forward(tree, goals.offsets, rotations, roots).copy()
    system = TreeSystem(tree, goals, result)
    frames = goals.frames
    live = np.arange(frames)
    used = np.full(frames, MAX_ITERATIONS)
    energy, damping, close = system.energy(), np.zeros(frames), np.zeros(frames, bool)
    for iteration in range(1, MAX_ITERATIONS + 1):
        trial = _advance(system, damping, close, scale)
        trial_energy = trial.energy()
        better = is_lower(trial_energy, energy, scale)
        moved = np.linalg.norm(trial.pose.joints - system.pose.joints, axis=1).max(axis=0)
        done = is_done(moved, better, scale)
        used[live[done]] = iteration
        lower = np.flatnonzero(better)
        result.put(live[lower], trial.pose.take(lower))
        keep = np.flatnonzero(~done)
        if not keep.size:
            break
        yield 1.0 - keep.size / frames
        damping, close = next_damping(damping, better), is_close(close, moved, better, scale)
        energy = np.where(better, trial_energy, energy)
        system = _next(trial, system, better, keep)
        live, energy, damping, close = live[keep], energy[keep], damping[keep], close[keep]
    return result, used


def _advance(system: TreeSystem, damping: np.ndarray, close: np.ndarray, scale: float) -> TreeSystem:
    velocity, spin = system.step(damping, close, scale)
    rotations = quat.normalised(quat.mul(quat.exp(spin), system.pose.rotations))
    goals = system.goals
    pose = TreePose.forward(system.tree, goals.offsets, rotations, system.pose.roots + velocity)
    return TreeSystem(system.tree, goals, pose)


def _next(trial: TreeSystem, system: TreeSystem, better: np.ndarray, keep: np.ndarray) -> TreeSystem:
    """The system of the frames still at work: the trial where it was better, the old pose elsewhere."""
    if better[keep].all():
        return trial if keep.size == better.size else trial.take(keep)
    pose = system.pose.copy()
    lower = np.flatnonzero(better)
    pose.put(lower, trial.pose.take(lower))
    return TreeSystem(system.tree, trial.goals.take(keep), pose.take(keep))
