"""What the chains of a rig reach for by IK, and how far they are stretched."""

from __future__ import annotations

import bpy
import numpy as np

from ..solvers.skeleton.rig import Rig
from .bone_dependence import moved_by

BENT = 0.94  # of a chain's length, up to which it is surely bent


class Reaches:
    """goals: (n,) for each chain the control that poses the fewest bones beside what it reaches for."""

    def __init__(self, ob: bpy.types.Object, rig: Rig, found, reached: np.ndarray):
        """found: the candidates of controls, C.  reached: (C, B) bool, the bones that each may move."""
        index = {name: number for number, name in enumerate(rig.names)}
        usable = found.free[:, :3].any(axis=1)
        self._starts, self._targets, self._lengths, goals = [], [], [], []
        for bone in ob.pose.bones:
            for each in bone.constraints:
                if each.type != "IK" or each.target != ob or each.subtarget not in index:
                    continue
                chain = [index[link.name] for link in moved_by(bone, each)]
                target = index[each.subtarget]
                controls = np.flatnonzero(reached[:, target] & usable)
                if controls.size:
                    goals.append(controls[np.argmin(reached[controls].sum(axis=1))])
                    self._starts.append(chain[-1])
                    self._targets.append(target)
                    self._lengths.append(rig.lengths[chain].sum())
        self.goals = np.array(goals, int)

    def extension(self, pose: np.ndarray) -> np.ndarray:
        """(n,) how far the chains must reach in a pose (B, 4, 4), as a share of their lengths."""
        way = pose[self._targets, :3, 3] - pose[self._starts, :3, 3]
        return np.linalg.norm(way, axis=-1) / np.maximum(self._lengths, 1e-9)
