"""Goals of IK that are no bones of the rig: a result is not written to them, so that what they pull stays."""

from __future__ import annotations

from collections.abc import Iterator

import bpy

from .bone_dependence import moved_by
from .movers import owners_of
from .switching import changing_constraints


def outside_goals(ob: bpy.types.Object, source: tuple) -> dict[str, str]:
    """Of bones that IK pulls, and of their children, the object outside of the rig that they are pulled to, by name.

    An object that the rig carries, by whatever means, goes where bones take it and is left out, as are poles.
    source: action and slot, None and None for strips.
    """
    found: dict[str, str] = {}
    for bone, constraint in _pulling(ob, source):
        for link in moved_by(bone, constraint):
            for moved in (link, *link.children_recursive):
                found.setdefault(moved.name, constraint.target.name)
    return found


def pulled_ends(ob: bpy.types.Object, source: tuple) -> dict[str, str]:
    """As `outside_goals`, of the bones alone that have the constraints."""
    return {bone.name: constraint.target.name for bone, constraint in _pulling(ob, source)}


def _pulling(ob: bpy.types.Object, source: tuple) -> Iterator[tuple[bpy.types.PoseBone, bpy.types.Constraint]]:
    changing = changing_constraints(ob, source)
    for bone in ob.pose.bones:
        for each in bone.constraints:
            if each.type != "IK" or each.mute or each.target in (None, ob):
                continue
            acts = each.influence > 0.0 or (bone.name, each.name) in changing
            if acts and ob not in owners_of([each.target]):
                yield bone, each
