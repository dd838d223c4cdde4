"""The plan that a rig was generated from, where the file still has it."""

from __future__ import annotations

import bpy
import numpy as np

_RIG = "rigify_target_rig"
_PREFIX = "ORG-"  # of the bones that a Rigify rig keeps for those of its plan


def metarig_parents(ob: bpy.types.Object) -> np.ndarray | None:
    """(B,) the bone that each hangs on by the plan, -1 for a root of it, -2 for bones not in it; None without it."""
    index = {bone.name: number for number, bone in enumerate(ob.data.bones)}
    plan = next((each for each in bpy.data.armatures if _rig_of(each) == ob), None)
    if plan is None:
        return None
    out = np.full(len(index), -2)
    for bone in plan.bones:
        own = index.get(_PREFIX + bone.name)
        if own is not None:
            above = next((p for p in bone.parent_recursive if _PREFIX + p.name in index), None)
            out[own] = -1 if above is None else index[_PREFIX + above.name]
    return out if (out > -2).any() else None


def _rig_of(armature: bpy.types.Armature) -> bpy.types.Object | None:
    """The rig that was generated from an armature.  Where the add-on is off its property is only found as it is kept:
    among custom properties, since 5.0 apart from them."""
    found = getattr(armature, _RIG, None) or armature.get(_RIG)
    if found is None and hasattr(armature, "bl_system_properties_get"):
        kept = armature.bl_system_properties_get()
        found = kept.get(_RIG) if kept is not None else None
    return found
