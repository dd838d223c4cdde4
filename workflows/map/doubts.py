"""What is doubtful in the motion of a source or a target that was read: which way is up, what is level, its heading."""

from __future__ import annotations

import numpy as np

from ...scene import binding_store
from ...solvers.mapping.global_motion import ALL, NONE
from ...solvers.mapping.heading import heading_jumps, heading_told
from ...solvers.mapping.up_axis import up_axis_doubt
from ...solvers.mapping.world_tilt import world_level
from ...solvers.rotations.channels import matrix_to_euler
from ...solvers.transfer.level import tilt_of
from ..core.kept import kept
from .model import clip_of, source_track_of, target_of
from .parts import unseen_bones

_SHOWN = 4  # frames or poses of jumps
_UPRIGHT = {"X": "-90 degrees about Y", "Y": "90 degrees about X"}


def doubts_of(name: str, setting: str, remove: str, points: np.ndarray, yaw: np.ndarray, at: tuple) -> tuple[str, ...]:
    """Sentences on the motion of what has a name, each with the way out; none where nothing is doubtful.

    setting: what chooses how much of its movement is no pose.  remove: that, see ``global_motion``.  points (F, N, 3)
    world, metres, as they move.  yaw: (F,) of its ground motion.  at: scene frames (F,) and frames a second.
    """
    frames, fps = at
    found = []
    doubt = up_axis_doubt(points) if remove != NONE else None
    if doubt:
        found.append(
            f"'{name}' {doubt.text}; if so, turn it upright (by {_UPRIGHT[doubt.axis]}; empties by a parent) and press "
            "Learn Again."
        )
    level = np.eye(3) if doubt or remove == NONE else world_level(points)
    if tilt := tilt_of(level):
        angles = np.degrees(matrix_to_euler(level))
        turn = ", ".join(f"{axis} {angle:.0f}" for axis, angle in zip("XYZ", angles, strict=True))
        found.append(
            f"The world of '{name}' seems tilted by {np.degrees(tilt):.0f} degrees: whichever way it faces it leans to "
            f"the same side of the world. If so, parent it to an empty turned by {turn} degrees, which levels it, and "
            "press Learn Again."
        )
    jumps, size = (), 0.0
    if remove == ALL:
        jumps, size = heading_jumps(yaw, (frames - frames[0]) / fps, heading_told(points))
    if len(jumps):
        shown = _some([f"{frames[row]:g}" for row in jumps])
        found.append(
            f"The heading of '{name}' jumps by up to {np.degrees(size):.0f} degrees at frame{'s' * (len(jumps) > 1)} "
            f"{shown}, and what follows it turns there: it has no steady heading. Set {setting} to Place and press "
            "Learn Again."
        )
    return tuple(found)


def pose_doubts(name: str, yaw: np.ndarray, poses: tuple[str, ...]) -> tuple[str, ...]:
    """The same of poses in no order. yaw: (F,) by which each is turned to lie on the first.  poses: F names."""
    turned = np.abs(np.angle(np.exp(1j * (yaw - yaw[0]))))
    far = [f"'{pose}'" for pose, turn in zip(poses, turned, strict=True) if turn > 0.5 * np.pi]
    if not far:
        return ()
    return (
        f"The heading of '{name}' is up to {np.degrees(turned.max()):.0f} degrees from that of its first pose in "
        f"{_some(far)}, by which those are turned before they are learnt. Where they are meant to face that way, or "
        "have no steady heading, set Target Without to Place and press Learn Again.",
    )


def _some(texts: list[str]) -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more


def source_doubts(ob) -> tuple[str, ...]:
    """Of what was read of a target's source, as it is kept."""
    settings, clip = ob.motion_loom_map, clip_of(ob)
    owner = settings.source or settings.source_collection
    name = owner.name if owner is not None else clip.record["owners"][0]

    def make() -> tuple[str, ...]:
        yaw, remove = source_track_of(ob).yaw, clip.model.ground.remove
        return doubts_of(name, "Source Without", remove, clip.positions, yaw, (clip.frames, clip.fps))

    doubts = kept(ob, "map doubts", (*binding_store.mark(settings.clip), settings.smoothing, name), make)
    unseen = unseen_bones(settings)
    return doubts if unseen is None else (*doubts, f"{unseen}.")


def all_doubts(ob) -> tuple[str, ...]:
    """Of source and target."""
    return source_doubts(ob) + target_of(ob).doubts
