"""Which bones of a rig may move when another is posed, as its parents, constraints and drivers tell.

Nothing is evaluated: a bone that is named here may still stand where it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import bpy
import numpy as np

_BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]', re.DOTALL)


def bones_reached(ob: bpy.types.Object) -> np.ndarray:
    """(B, B) bool, in the order of the armature's bones: whether posing the first may move the second, itself included.

    Where the rig looks at objects that it moves in turn, every bone may move every other.
    """
    index = {bone.name: number for number, bone in enumerate(ob.data.bones)}
    count = len(index)
    edges = set(_parents(ob, index))
    for kind in (_constraints, _drivers):
        for edge in kind(ob, index):
            if edge is None:
                return np.ones((count, count), bool)
            edges.add(edge)
    above: list[list[int]] = [[] for _ in range(count)]
    for mover, moved in edges:
        above[moved].append(mover)
    movers = [1 << bone for bone in range(count)]  # of each bone, those that may move it, as bits
    changed = True
    while changed:
        changed = False
        for bone in range(count):
            union = movers[bone]
            for mover in above[bone]:
                union |= movers[mover]
            if union != movers[bone]:
                movers[bone], changed = union, True
    size = (count + 7) // 8
    rows = np.frombuffer(b"".join(bits.to_bytes(size, "little") for bits in movers), np.uint8).reshape(count, size)
    return np.unpackbits(rows, axis=1, bitorder="little")[:, :count].astype(bool).T


def bone_in_path(path: str) -> str | None:
    """The bone that a data path leads to or into."""
    match = _BONE.search(path)
    return bpy.utils.unescape_identifier(match[1]) if match else None


def _parents(ob, index) -> Iterator[tuple[int, int]]:
    for bone in ob.data.bones:
        if bone.parent is not None:
            yield index[bone.parent.name], index[bone.name]


def _constraints(ob, index) -> Iterator[tuple[int, int] | None]:
    """Edges from the bones that constraints look at; None where one looks at an object that hangs on the rig."""
    for bone in ob.pose.bones:
        for constraint in bone.constraints:
            moved = moved_by(bone, constraint)
            for target, name in _looked_at(constraint):
                if target is ob and name in index:
                    yield from ((index[name], index[each.name]) for each in moved)
                elif target is ob or hangs_on(target, ob):
                    yield None
            # Whatever poses one bone of a chain that is solved together may move them all.
            yield from ((index[one.name], index[other.name]) for one in moved for other in moved if one != other)


def _looked_at(constraint) -> Iterator[tuple[bpy.types.Object, str]]:
    for part in (constraint, *getattr(constraint, "targets", ())):
        if getattr(part, "target", None) is not None:
            yield part.target, getattr(part, "subtarget", "")
    if getattr(constraint, "pole_target", None) is not None:
        yield constraint.pole_target, constraint.pole_subtarget
    if getattr(constraint, "space_object", None) is not None:
        yield constraint.space_object, constraint.space_subtarget


def hangs_on(ob, rig, seen=frozenset()) -> bool:
    """Whether an object goes with the rig by parents, constraints or modifiers, as far as such are told."""
    if ob is None or ob in seen:
        return False
    if ob == rig:
        return True
    links = [ob.parent, *(target for each in ob.constraints for target, _ in _looked_at(each))]
    links += [getattr(modifier, "object", None) for modifier in ob.modifiers]
    return any(hangs_on(each, rig, seen | {ob}) for each in links)


def moved_by(bone: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> list[bpy.types.PoseBone]:
    """The bones that a constraint moves: its own, for chains those above too."""
    if constraint.type not in {"IK", "SPLINE_IK"}:
        return [bone]
    above = bone.parent_recursive
    count = constraint.chain_count or len(above) + 1
    tip = [bone] if constraint.type == "SPLINE_IK" or constraint.use_tail else []
    return (tip + above)[:count] or [bone]


def _drivers(ob, index) -> Iterator[tuple[int, int] | None]:
    """Edges from the bones that drivers look at to those that they move; None where they move what is not known."""
    for owner in (ob, ob.data):
        for curve in owner.animation_data.drivers if owner.animation_data is not None else ():
            moved = re.search(r'bones\["((?:[^"\\]|\\.)*)"\]', curve.data_path)
            name = bpy.utils.unescape_identifier(moved[1]) if moved else None
            for variable in curve.driver.variables:
                for target in variable.targets:
                    mover = target.bone_target if variable.type != "SINGLE_PROP" else bone_in_path(target.data_path)
                    if target.id == ob and mover in index and name in index:
                        yield index[mover], index[name]
                    elif target.id == ob and mover in index:
                        yield None
