"""The pose of one frame, written over what the animation says until the next frame."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ..solvers.kinematics import Rig
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
        Returns False where all is shown already, so that showing it again causes no evaluation.
        """
        location, rotation, scale = values
        differs = False
        evaluated = ob.evaluated_get(depsgraph)
        for channel, rows in self.rows.items():
            new = {"location": location, "scale": scale}.get(channel, rotation)
            flat = np.empty((len(ob.pose.bones), SIZES[channel]), np.float32)
            evaluated.pose.bones.foreach_get(channel, flat.reshape(-1))
            wanted = flat.copy()
            wanted[rows] = new[self.bones[channel], : SIZES[channel]]
            ob.pose.bones.foreach_get(channel, flat.reshape(-1))
            if not np.array_equal(flat, wanted) or differs:
                ob.pose.bones.foreach_set(channel, wanted.reshape(-1))
                differs = True
        if differs:
            ob.update_tag(refresh={"DATA"})
        return differs
