"""The pose of one frame, written over what the animation says until the next frame.

Measured on 4.2, 4.5, 5.0 and 5.3: what a handler of frame_change_post or depsgraph_update_post writes and tags is
evaluated before the frame change or the update returns, and that evaluation calls no handler.  A tagged pose is copied
from the original object as a whole, and is not animated again until time or a curve changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ..solvers.skeleton.rig import Rig
from .channels import SIZES, rotation_channel


@dataclass(frozen=True)
class PoseWriter:
    """Where the channels of some bones lie in the pose.

    rows: channel -> (n,) positions in the pose.  bones: channel -> (n,) bones of the rig.
    """

    rows: dict[str, np.ndarray]
    bones: dict[str, np.ndarray]

    @classmethod
    def of(cls, ob: bpy.types.Object, rig: Rig, keyed: np.ndarray) -> PoseWriter:
        """keyed: (B, 3) bool, which of location, rotation and scale of each bone are written."""
        places = {bone.name: row for row, bone in enumerate(ob.pose.bones)}
        row = np.array([places[name] for name in rig.names])
        spun = np.array([rotation_channel(mode) for mode in rig.rotation_modes])
        rows, bones = {}, {}
        for channel in SIZES:
            moved = keyed[:, 0] if channel == "location" else keyed[:, 2] if channel == "scale" else keyed[:, 1]
            chosen = np.flatnonzero(moved & ((spun == channel) | (channel in ("location", "scale"))))
            if chosen.size:
                rows[channel], bones[channel] = row[chosen], chosen
        return cls(rows, bones)

    def write(self, ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph, values: tuple[np.ndarray, ...]) -> bool:
        """Show channels on an object, inside a handler: location (B, 3), rotation (B, 4) in each mode, scale (B, 3).

        Bones that are not written keep what the depsgraph has evaluated for them: tagging copies the whole pose.
        Returns False where all is shown already, bit by bit, so that showing it again causes no evaluation; that takes
        a look at both: another view layer may have evaluated its own copy from the curves since the original was set.
        """
        location, rotation, scale = values
        original, evaluated = ob.pose.bones, ob.evaluated_get(depsgraph).pose.bones
        found = {channel: (_read(original, channel), _read(evaluated, channel)) for channel in SIZES}
        differs = False
        for channel, rows in self.rows.items():
            new = {"location": location, "scale": scale}.get(channel, rotation)
            wanted = np.asarray(new[self.bones[channel], : SIZES[channel]], np.float32)
            held, shown = found[channel]
            differs = differs or not (_same(held[rows], wanted) and _same(shown[rows], wanted))
            shown[rows] = wanted
        if differs:
            for channel, (held, wanted) in found.items():
                if not _same(held, wanted):
                    _set(ob, channel, held, wanted)
            ob.update_tag(refresh={"DATA"})
        return differs


def _read(bones, channel: str) -> np.ndarray:
    """(B, size) in the pose's own order."""
    out = np.empty((len(bones), SIZES[channel]), np.float32)
    bones.foreach_get(channel, out.reshape(-1))
    return out


def _set(ob: bpy.types.Object, channel: str, held: np.ndarray, wanted: np.ndarray) -> None:
    """Write a channel (B, size) of all bones that held other values."""
    if ob.override_library is not None and ob.override_library.is_system_override:
        # Of overrides that Blender made for what a user overrides only single values can be written.
        for row in np.flatnonzero((held != wanted).any(axis=1)):
            setattr(ob.pose.bones[row], channel, wanted[row])
    else:
        ob.pose.bones.foreach_set(channel, wanted.reshape(-1))


def _same(values: np.ndarray, others: np.ndarray) -> bool:
    """Whether two single precision arrays of one shape hold the same bits, also of what is not a number."""
    return values.tobytes() == others.tobytes()
