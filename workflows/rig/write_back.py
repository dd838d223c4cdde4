"""Solved joints go back to the rig: as the motion of all its bones, within the limits of its joints."""

from __future__ import annotations

import numpy as np

from ...scene.motion import BoneMotion, turn_motion
from ...scene.rigs import joint_limits
from ...solvers.rotations.channels import matrix_to_quaternion, quaternion_to_matrix
from ...solvers.rotations.polar import polar
from ...solvers.skeleton.hierarchy import carry_increments
from ...solvers.warp.joint_limits import JointLimits
from .source import Source, rotation_of


def solved_limits(ob, source: Source, turns: np.ndarray) -> JointLimits | None:
    """The rig's joint limits for the solved joints, or None where it has none. turns: see ``object_turns``."""
    found = joint_limits(ob)
    bones = source.bones
    hung = np.array([b >= 0 and source.solved.placed[k] and source.solved.parents[k] >= 0 for k, b in enumerate(bones)])
    chosen = np.flatnonzero((bones >= 0) & ~hung & found.limited[bones].any(axis=1))
    if not chosen.size:
        return None
    bone = bones[chosen]
    local = rotation_of(source.motion.basis[:, bone])
    world = rotation_of(source.motion.object_world)[:, None] @ rotation_of(source.motion.pose[:, bone])
    frame = np.swapaxes(turns, -1, -2)[:, None] @ world @ np.swapaxes(local, -1, -2)
    free = ~found.limited[bone]
    return JointLimits(
        chosen,
        np.where(free, -np.inf, found.lower[bone]),
        np.where(free, np.inf, found.upper[bone]),
        tuple(found.orders[b] for b in bone),
        matrix_to_quaternion(frame),
        matrix_to_quaternion(local),
    )


def adapted_motion(source: Source, positions: np.ndarray, turns: np.ndarray, object_turns: np.ndarray) -> BoneMotion:
    """The rig's motion with the solved joints at positions (F, K, 3), turned by quaternions (F, K, 4) since bind."""
    bones = source.bones
    heads = np.flatnonzero(bones >= 0)
    matrices = quaternion_to_matrix(turns[:, heads]) @ np.swapaxes(object_turns, -1, -2)[:, None]
    spread = carry_increments(source.motion_parents, bones[heads], matrices)
    placed = {int(bones[k]): positions[:, k] for k in heads if source.solved.placed[k]}
    riders, owners = source.riders
    away = source.whole.positions[:, riders] - source.track.positions[:, owners]
    carried = positions[:, owners] + np.einsum("frab,frb->fra", spread[:, riders], away)
    placed |= {int(bone): carried[:, k] for k, bone in enumerate(riders)}
    return turn_motion(source.motion, spread, placed)


def added_turns(source: Source, motion: BoneMotion, object_turns: np.ndarray) -> np.ndarray:
    """Quaternions (F, K, 4), world, by which a motion of the rig turns the solved joints since bind.

    What ``adapted_motion`` was given, of a motion that may have been thinned out since. A tail turns with its bone.
    """
    bones = source.bones
    carrier = bones[np.where(bones >= 0, np.arange(len(bones)), source.solved.parents)]
    after, before = (
        (played.object_world[:, None] @ played.pose[:, carrier])[..., :3, :3] for played in (motion, source.motion)
    )
    turns, _ = polar((after @ np.linalg.inv(before)).reshape(-1, 3, 3))
    return matrix_to_quaternion(turns.reshape(after.shape) @ object_turns[:, None])
