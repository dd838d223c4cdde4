"""What is doubtful in the motion of a source or a target that was read: which way is up, and where it faces."""

from __future__ import annotations

import numpy as np

from ...scene import binding_store
from ...solvers.mapping.global_motion import ALL, NONE
from ...solvers.mapping.heading import heading_jumps
from ...solvers.mapping.up_axis import up_axis_doubt
from ..core.kept import kept
from .model import clip_of, source_track_of, target_of

_SHOWN = 4  # frames of jumps
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
    jumps, size = heading_jumps(yaw, (frames - frames[0]) / fps) if remove == ALL else ((), 0.0)
    if len(jumps):
        shown = ", ".join(f"{frames[row]:g}" for row in jumps[:_SHOWN])
        more = f" and {len(jumps) - _SHOWN} more" if len(jumps) > _SHOWN else ""
        found.append(
            f"The heading of '{name}' jumps by up to {np.degrees(size):.0f} degrees at frame{'s' * (len(jumps) > 1)} "
            f"{shown}{more}, and what follows it turns there: it has no steady heading. Set {setting} to Place and "
            "press Learn Again."
        )
    return tuple(found)


def source_doubts(ob) -> tuple[str, ...]:
    """Of what was read of a target's source, as it is kept."""
    settings, clip = ob.motion_loom_map, clip_of(ob)
    owner = settings.source or settings.source_collection
    name = owner.name if owner is not None else clip.record["owners"][0]

    def make() -> tuple[str, ...]:
        yaw, remove = source_track_of(ob).yaw, clip.model.ground.remove
        return doubts_of(name, "Source Without", remove, clip.positions, yaw, (clip.frames, clip.fps))

    return kept(ob, "map doubts", (*binding_store.mark(settings.clip), settings.smoothing, name), make)


def all_doubts(ob) -> tuple[str, ...]:
    """Of source and target."""
    return source_doubts(ob) + target_of(ob).doubts
