"""Objects that stand still and that constraints of a rig hold to: moved, they make another motion of the same keys."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from .interference import targets_of
from .stillness import can_move

_SAME = 1e-5  # of world matrices in single precision, beside as much relative


@dataclass(frozen=True)
class HeldTargets:
    """uids: ``session_uid`` of each, in the order of the constraints.  worlds: (n, 16) their world matrices."""

    uids: tuple[int, ...]
    worlds: np.ndarray

    @classmethod
    def of(cls, ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> HeldTargets:
        """Of an armature object and its bones; constraints that are switched off count as well."""
        constraints = [*ob.constraints, *(each for bone in ob.pose.bones for each in bone.constraints)]
        found = dict.fromkeys(target for each in constraints for target in targets_of(each) if target != ob)
        still = [target for target in found if not can_move(target)]
        worlds = [np.array(target.evaluated_get(depsgraph).matrix_world, float).ravel() for target in still]
        return cls(tuple(target.session_uid for target in still), np.array(worlds).reshape(-1, 16))

    def are_at(self, worlds) -> bool:
        """Whether they are as many and where they were."""
        worlds = np.array(worlds, float).reshape(-1, 16)
        return len(worlds) == len(self.worlds) and np.allclose(self.worlds, worlds, rtol=_SAME, atol=_SAME)
