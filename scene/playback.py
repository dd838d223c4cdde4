"""Playing the source action of a rig again while a result is assigned.

A result may animate what the source does not: bones that had no keys, influences of constraints. Blender leaves such
properties where the last action put them, so their values from before are kept and put back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import bpy

from . import actions


@dataclass(frozen=True)
class Before:
    """A property that a result animates and its source does not. path, index: of its curve.  value: before."""

    path: str
    index: int
    value: float


def slot_of(action, handle: int):
    """The slot of an action by its handle, which nothing changes; None before 4.4.

    A handle of 0 was noted before there were slots: Blender puts the curves of such an action into its first one.
    """
    if not actions.HAS_SLOTS:
        return None
    if not handle:
        return next(iter(action.slots), None)
    return next((slot for slot in action.slots if slot.handle == handle), None)


def handle_of(slot) -> int:
    return slot.handle if slot is not None else 0


def values_before(ob: bpy.types.Object, result, result_slot, source, source_slot) -> list[Before]:
    """The present values of what the result alone animates; to be asked while the source still plays."""
    return values_without_curves(
        ob, [_key(curve) for curve in actions.all_curves(result, result_slot)], source, source_slot
    )


def values_without_curves(ob: bpy.types.Object, keys: Iterable[tuple[str, int]], action, slot) -> list[Before]:
    """The present values of those of some properties, by path and index, that an action, or none, does not animate."""
    values = [(key, value_at(ob, *key)) for key in keys]
    return without_curves([Before(*key, value) for key, value in values if value is not None], action, slot)


def without_curves(values: list[Before], action, slot) -> list[Before]:
    """Those of some values whose properties an action, or none, does not animate."""
    known = set() if action is None else {_key(curve) for curve in actions.all_curves(action, slot)}
    return [value for value in values if (value.path, value.index) not in known]


def play(ob: bpy.types.Object, action, slot, values: list[Before] = ()) -> None:
    """Assign an action, or none, and put properties back that it does not animate."""
    data = ob.animation_data or ob.animation_data_create()
    data.action = action
    if slot is not None:
        data.action_slot = slot
    put_back(ob, values)
    ob.update_tag(refresh={"OBJECT", "DATA", "TIME"})


def evaluate_again(ob: bpy.types.Object) -> None:
    """Have Blender evaluate what an object plays, though it does not know that the keys are others."""
    data = ob.animation_data
    if data is not None and data.action is not None:
        data.action.update_tag()
    ob.update_tag(refresh={"OBJECT", "DATA", "TIME"})


def put_back(ob: bpy.types.Object, values: Iterable[Before]) -> None:
    """Give properties the values from before; those that have them are left alone."""
    for before in values:
        if value_at(ob, before.path, before.index) in (None, before.value):
            continue  # None: the bone or the constraint is gone, and so is what had to be put back
        put_value(ob, before.path, before.value, before.index)


def put_value(ob: bpy.types.Object, path: str, value: float, index: int = 0) -> None:
    """Give a property, by its path from the object, a value as a curve has it: see `value_at`."""
    if path.endswith('"]'):
        _put_own(ob, path, value, index)
        return
    holder, name = _holder(ob, path)
    present = getattr(holder, name)
    if isinstance(present, (bool, int, float)):
        setattr(holder, name, type(present)(value if isinstance(present, float) else round(value)))
    elif isinstance(present, str):
        choices = holder.bl_rna.properties[name].enum_items
        setattr(holder, name, next(each.identifier for each in choices if each.value == int(value)))
    else:
        present[index] = value


def _holder(ob: bpy.types.Object, path: str) -> tuple[bpy.types.bpy_struct, str]:
    """What has the property that a data path ends with, and the property's name."""
    owner, _, name = path.rpartition(".")
    return (ob.path_resolve(owner) if owner else ob), name


@contextmanager
def played(ob: bpy.types.Object, action, slot, values: list[Before]) -> Iterator[None]:
    """The object plays an action, or its NLA strips alone for None, until the block ends."""
    data = ob.animation_data or ob.animation_data_create()
    now, now_slot = data.action, data.action_slot if actions.HAS_SLOTS else None
    try:
        play(ob, action, slot, values)
        yield
    finally:
        play(ob, now, now_slot)


@contextmanager
def held(ob: bpy.types.Object, values: list[Before]) -> Iterator[None]:
    """Properties have other values until the block ends."""
    now = [Before(each.path, each.index, value_at(ob, each.path, each.index)) for each in values]
    put_back(ob, values)
    try:
        yield
    finally:
        put_back(ob, now)


def _key(curve) -> tuple[str, int]:
    return curve.data_path, curve.array_index


def value_at(ob, path: str, index: int = 0) -> float | None:
    """What a property, by its path from the object, has as a curve would: a number for a choice among several, too.

    None where there is no such property, or it is none that a curve could have.
    """
    try:
        value = ob.path_resolve(path)
    except ValueError:
        return None
    if isinstance(value, str):
        return _number_of_choice(ob, path, value)
    if isinstance(value, (bool, int, float)):
        return float(value)
    try:
        return float(value[index])
    except (TypeError, IndexError, KeyError):
        return None


def _number_of_choice(ob, path: str, value: str) -> float | None:
    """The number that a curve has for a choice among several, of which paths give the name; None for a plain text."""
    if path.endswith('"]'):
        holder, key = own_property(ob, path)
        return None if isinstance(holder[key], str) else float(holder[key])
    holder, name = _holder(ob, path)
    return float(holder.bl_rna.properties[name].enum_items[value].value)


def _put_own(ob: bpy.types.Object, path: str, value: float, index: int) -> None:
    """Of a custom property, which may be whole numbers, or several."""
    holder, key = own_property(ob, path)
    present = holder[key]
    if isinstance(present, (bool, int, float)):
        holder[key] = type(present)(round(value) if isinstance(present, int) else value)
    else:
        present[index] = value


def own_property(ob: bpy.types.Object, path: str) -> tuple[bpy.types.bpy_struct, str]:
    """What has the custom property that a data path ends with, and the property's name."""
    owner, _, name = path.rpartition('["')
    return (ob.path_resolve(owner) if owner else ob), bpy.utils.unescape_identifier(name[:-2])
