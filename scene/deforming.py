"""Which bones of a rig of controls deform meshes, where the rig itself says so of its controls as well."""

from __future__ import annotations

import bpy
import numpy as np

from .radii import carrying_bones
from .rigs import deform_bones


def deforming_bones(context: bpy.types.Context, ob: bpy.types.Object) -> np.ndarray:
    """(B,) bool: the bones that deform meshes.

    Importers mark every bone so: where what IK reaches for and its poles are among them, only those that skin or a mesh
    hangs on count, and where nothing hangs on the rig all others.
    """
    deform = deform_bones(ob)
    reached = np.isin([bone.name for bone in ob.data.bones], list(_goals(ob)))
    if not (deform & reached).any():
        return deform
    carrying = carrying_bones(context, ob)
    return deform & carrying if carrying.any() else deform & ~reached


def _goals(ob: bpy.types.Object) -> set[str]:
    """Names of bones that IK reaches for, or that are its poles."""
    found = set()
    for bone in ob.pose.bones:
        for each in bone.constraints:
            if each.type == "IK":
                found |= {each.subtarget} if each.target == ob else set()
                found |= {each.pole_subtarget} if each.pole_target == ob else set()
    return found
