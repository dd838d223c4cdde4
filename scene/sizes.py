"""How large objects are, in words."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

_SETTINGS = "motion_loom_"
_NAMED = 3


def sizes_text(ob: bpy.types.Object, others: Iterable[bpy.types.Object] = ()) -> str:
    """Names and sizes of an object, of others and of those that its settings name, the largest of these first."""
    found = dict.fromkeys([*others, *_named_by(ob)])
    found.pop(ob, None)
    largest = sorted(found, key=_size, reverse=True)
    text = " and ".join(filter(None, (_text(ob), ", ".join(map(_text, largest[:_NAMED])))))
    return text if len(largest) <= _NAMED else f"{text} and {len(largest) - _NAMED} more"


def _named_by(ob: bpy.types.Object) -> list[bpy.types.Object]:
    """The objects that the extension's settings of an object point to."""
    groups = [getattr(ob, prop.identifier) for prop in ob.bl_rna.properties if prop.identifier.startswith(_SETTINGS)]
    found = []
    while groups:
        group = groups.pop()
        for prop in group.bl_rna.properties:
            value = getattr(group, prop.identifier) if prop.type in {"POINTER", "COLLECTION"} else None
            if isinstance(value, bpy.types.Object):
                found.append(value)
            elif prop.type == "COLLECTION":
                groups.extend(value)
    return found


def _size(ob: bpy.types.Object) -> int:
    return len(ob.data.vertices) if ob.type == "MESH" else len(ob.data.bones) if ob.type == "ARMATURE" else 0


def _text(ob: bpy.types.Object) -> str:
    of = {"MESH": "vertices", "ARMATURE": "bones"}.get(ob.type)
    return f"'{ob.name}'" if of is None else f"'{ob.name}' ({_size(ob):,} {of})"
