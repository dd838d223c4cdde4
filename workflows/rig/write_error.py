"""How far a rig that shows a result is from the joints that were solved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...solvers.core.errors import OutputError
from .source import Source

# The rig must reproduce the solved joints; metres at a 1.8 m body. What misses by less is worth a note from the second
# length on.
_TOLERANCE, _NOTED = 0.05, 0.005
# Relative difference of a bone's axis scales that shears what it carries.
_UNEVEN = 1e-3


@dataclass(frozen=True)
class WriteError:
    """metres: largest distance of a joint of the rig from the solved one.  note: of it, for the user, or None."""

    metres: float
    note: str | None


def write_error(motion, source: Source, positions: np.ndarray, scale: float) -> WriteError:
    """Compare the joints of the rig's motion with the solved ones (F, K, 3).

    scale: size of the body over 1.8 m.
    Raises OutputError where the rig cannot show the result, as where bones that are scaled unevenly shear others.
    """
    joints = motion.joints().positions[:, source.solved.joints]
    gap = np.linalg.norm(joints - positions, axis=-1)
    frame, joint = np.unravel_index(gap.argmax(), gap.shape)
    worst = float(gap[frame, joint])
    if worst <= _NOTED * scale:
        return WriteError(worst, None)
    name, cause = source.track.skeleton.names[joint].removesuffix("/tail"), _cause(source, joint, frame)
    missed = f"{100 * worst:.1f} cm at frame {source.track.frames[frame]:g}: {cause}"
    if worst > _TOLERANCE * scale:
        raise OutputError(f"Bone '{name}' would miss its place by {missed} and bind again.")
    return WriteError(worst, f"Bone '{name}' misses its place by {missed} to be exact")


def _cause(source: Source, joint: int, frame: int) -> str:
    """What keeps a solved joint from its place, and what to do about it."""
    rig, bone = source.motion.rig, int(source.bones[joint])
    at = rig.parents[bone] if bone >= 0 else source.bones[source.solved.parents[joint]]
    while at >= 0:
        size = np.linalg.norm(source.motion.basis[frame, at, :3, :3], axis=0)
        if np.ptp(size) > _UNEVEN * size.max():
            return f"bone '{rig.names[at]}', which carries it, is scaled unevenly; remove that scale"
        at = rig.parents[at]
    return "the bones that carry it do not go with the body; use Copy Deform Bones"
