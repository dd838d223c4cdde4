"""Limbs whose constraints neither a property of the rig nor a key can switch, so that a result cannot do it either."""

from __future__ import annotations

from collections.abc import Collection

import bpy

from .bone_dependence import moved_by
from .switching import changing_constraints, constraint_of, foreign_drivers, is_chained, plain_chains


def unswitchable(ob: bpy.types.Object, source: tuple, known: Collection[str]) -> list[tuple[tuple[str, ...], str]]:
    """Names of the bones of each such limb, and why it is none that can be switched, a clause.

    source: action and slot that the rig moves by.  known: data paths of switches that were measured.
    """
    by_others: dict[str, list[str]] = {}
    for path, curve in foreign_drivers(ob).items():
        found = constraint_of(ob, path)
        for what in _read(curve) if found else ():
            by_others.setdefault(what, []).extend(link.name for link in moved_by(*found))
    chained = {what: tuple(dict.fromkeys(bones)) for what, bones in by_others.items() if is_chained(ob, bones)}
    out = [(bones, f"{what} switches them, which no key of the rig sets") for what, bones in chained.items()]
    changing = changing_constraints(ob, source)
    plain = {(bone.name, each.name) for bone, each in plain_chains(ob, source)}
    for bone in ob.pose.bones:
        for each in bone.constraints:
            chain = [link.name for link in moved_by(bone, each)] if each.type == "IK" else []
            acts = not each.mute and each.influence > 0.0 and (bone.name, each.name) not in changing
            if not acts or not is_chained(ob, chain):
                continue
            named = f"'{each.name}' on '{bone.name}'"
            if (bone.name, each.name) not in plain:
                why = f"neither a property nor a key switches {named}, and no key of its influence alone would do"
                out.append((tuple(chain), why))
            elif each.path_from_id("influence") not in known:
                out.append((tuple(chain), f"the influence of {named} did not count when the rig was bound; bind again"))
    return out


def _read(curve) -> list[str]:
    """What a driver reads, in words."""
    targets = [target for variable in curve.driver.variables for target in variable.targets if target.id is not None]
    return [f"'{target.bone_target or target.data_path}' of '{target.id.name}'" for target in targets]
