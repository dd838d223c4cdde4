"""What switches how the constraints of a rig act over time: properties that drive them, and their own keys."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import bpy

from . import actions
from .bone_dependence import bone_in_path, moved_by
from .playback import value_at
from .sampling import strip_curves

_ACTING = (".influence", ".mute", ".weight", ".enabled")
_WHETHER = (".influence", ".mute", ".enabled")
WEIGHING = (".influence", ".weight")
_INHERITED = re.compile(r'bones\["((?:[^"\\]|\\.)*)"\]\.(?:use_inherit_rotation|inherit_scale)', re.DOTALL)
_CONSTRAINT = re.compile(r'\]\.constraints\["((?:[^"\\]|\\.)*)"\]', re.DOTALL)


def switching(ob: bpy.types.Object, source: tuple, kinds: tuple[str, ...] = _ACTING) -> Iterator[tuple[str, str]]:
    """Path of what switches, from the object, and a bone that a constraint moves which it acts on.

    source: action and slot that the rig moves by, None and None for NLA strips alone.  kinds: ends of data paths.
    Custom properties of the rig that drivers of constraints, or of what bones inherit, read; a property of a constraint
    itself where keys or strips animate it, and where its drivers read nothing of that kind: the armature's data, bones,
    other objects; the influence of IK that nothing switches, see `plain_chains`.
    """
    drivers = _drivers(ob)
    for path, curve in drivers.items():
        moved = _constrained(ob, path, kinds)
        if moved:
            read = _properties_read(ob, curve, drivers, {path}) or [path]
            yield from ((each, bone) for each in read for bone in moved)
    for bone, curve in _inheritance_drivers(ob) if kinds == _ACTING else ():
        yield from ((each, bone) for each in _properties_read(ob, curve, drivers, set()))
    for path, _index in animated(ob, source):
        if path not in drivers:
            yield from ((path, bone) for bone in _constrained(ob, path, kinds))
    for bone, each in plain_chains(ob, source):
        yield from ((each.path_from_id("influence"), link.name) for link in moved_by(bone, each))


def foreign_drivers(ob: bpy.types.Object) -> dict[str, bpy.types.FCurve]:
    """Drivers, by data path, of how constraints act that read nothing which a key of the rig's own sets."""
    drivers = _drivers(ob)
    acting = {path: curve for path, curve in drivers.items() if _constrained(ob, path, _ACTING)}
    return {path: curve for path, curve in acting.items() if not _properties_read(ob, curve, drivers, {path})}


def animated(ob: bpy.types.Object, source: tuple) -> list[tuple[str, int]]:
    """Data paths, and indices, that an action and slot, and NLA strips, animate."""
    curves = [*(actions.playing_curves(*source) if source[0] is not None else ()), *strip_curves(ob)]
    return list(dict.fromkeys((curve.data_path, curve.array_index) for curve in curves))


def changing_constraints(ob: bpy.types.Object, source: tuple) -> set[tuple[str, str]]:
    """Bone and constraint, by name, of those that keys, strips or drivers make act, or not, at some times."""
    paths = [*_drivers(ob), *(path for path, _index in animated(ob, source))]
    found = [constraint_of(ob, path) for path in paths if path.endswith(_WHETHER)]
    return {(bone.name, each.name) for bone, each in filter(None, found)}


def plain_chains(ob: bpy.types.Object, source: tuple) -> list[tuple[bpy.types.PoseBone, bpy.types.Constraint]]:
    """Bones and IK constraints of limbs that always act alike, since neither keys nor drivers say otherwise.

    Those where keys of the influence alone would give the limb to its own bones: they can be keyed, and nothing else
    moves them.
    """
    changing, shaped = changing_constraints(ob, source), any(bone.custom_shape for bone in ob.pose.bones)
    found = [
        (bone, each, [link.name for link in moved_by(bone, each)])
        for bone in ob.pose.bones
        for each in bone.constraints
        if each.type == "IK" and not each.mute and each.influence > 0.0
    ]
    return [
        (bone, each)
        for bone, each, chain in found
        if (bone.name, each.name) not in changing
        and is_chained(ob, chain)
        and all(_is_free(ob.pose.bones[name], each, shaped) for name in chain)
        and not any(other != each and set(chain).intersection(links) for _, other, links in found)
    ]


def is_chained(ob: bpy.types.Object, bones: Collection[str]) -> bool:
    """Whether one of some bones is another's parent, as in limbs."""
    parents = [ob.data.bones[name].parent for name in bones]
    return any(parent is not None and parent.name in bones for parent in parents)


def _is_free(bone: bpy.types.PoseBone, reach: bpy.types.Constraint, shaped: bool) -> bool:
    """Whether a bone could be keyed, and nothing but an IK constraint and limits moves it.

    shaped: whether custom shapes tell controls from the rest.
    """
    others = [each for each in bone.constraints if each != reach and not each.type.startswith("LIMIT")]
    can_be_keyed = not all(bone.lock_rotation) and (not shaped or bone.custom_shape is not None)
    return can_be_keyed and all(each.mute or each.influence == 0.0 for each in others)


def constraint_of(ob: bpy.types.Object, path: str) -> tuple[bpy.types.PoseBone, bpy.types.Constraint] | None:
    """The bone and its constraint that a data path leads into, None where it leads to none."""
    found, bone = _CONSTRAINT.search(path), bone_in_path(path)
    owner = ob.pose.bones.get(bone) if found and bone else None
    constraint = owner and owner.constraints.get(bpy.utils.unescape_identifier(found[1]))
    return (owner, constraint) if constraint else None


def _drivers(ob) -> dict[str, bpy.types.FCurve]:
    """Those that are not muted, by data path."""
    data = ob.animation_data
    return {curve.data_path: curve for curve in data.drivers if not curve.mute} if data is not None else {}


def _inheritance_drivers(ob) -> Iterator[tuple[str, bpy.types.FCurve]]:
    """Bones, by name, and drivers that say whether they turn, or are scaled, with their parents."""
    data = ob.data.animation_data
    for curve in data.drivers if data is not None else ():
        found = _INHERITED.fullmatch(curve.data_path)
        name = found and bpy.utils.unescape_identifier(found[1])
        if name and name in ob.data.bones and not curve.mute:
            yield name, curve


def _properties_read(ob, curve, drivers: dict, seen: set[str]) -> list[str]:
    """Custom properties of the rig that a driver reads, by way of others that are driven in turn."""
    found = []
    for variable in curve.driver.variables if curve is not None else ():
        for target in variable.targets:
            path = target.data_path
            if variable.type != "SINGLE_PROP" or target.id != ob or path in seen or not _is_number(ob, path):
                continue
            found += _properties_read(ob, drivers[path], drivers, {*seen, path}) if path in drivers else [path]
    return found


def _constrained(ob, path: str, kinds: tuple[str, ...]) -> list[str]:
    """The bones that the constraint moves which a data path of some kinds leads into."""
    found = constraint_of(ob, path) if path.endswith(kinds) else None
    return [each.name for each in moved_by(*found)] if found else []


def _is_number(ob, path: str) -> bool:
    """Whether a path leads to a custom property that is one number, or one of several choices."""
    if not path.endswith('"]'):
        return False
    try:
        is_one = isinstance(ob.path_resolve(path), (bool, int, float, str))
    except ValueError:
        return False
    return is_one and value_at(ob, path) is not None
