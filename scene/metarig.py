"""The plan that a rig was generated from, where the file still has it."""

from __future__ import annotations

import bpy
import numpy as np

_PREFIX = "ORG-"  # of the bones that a Rigify rig keeps for those of its plan


def metarig_parents(ob: bpy.types.Object) -> np.ndarray | None:
    """(B,) the bone that each hangs on by the plan, -1 for a root of it, -2 for bones not in it; None without it."""
    index = {bone.name: number for number, bone in enumerate(ob.data.bones)}
    plan = next((each for each in bpy.data.armatures if getattr(each, "rigify_target_rig", None) == ob), None)
    if plan is None:
        return None
    out = np.full(len(index), -2)
    for bone in plan.bones:
        own = index.get(_PREFIX + bone.name)
        if own is not None:
            above = next((p for p in bone.parent_recursive if _PREFIX + p.name in index), None)
            out[own] = -1 if above is None else index[_PREFIX + above.name]
    return out if (out > -2).any() else None
