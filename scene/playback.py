"""Playing the source action of a rig again while a result is assigned.

A result may animate what the source does not: bones that had no keys, influences of constraints. Blender leaves such
properties where the last action put them, so their values from before are kept and put back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import bpy

from ..solvers.errors import MotionLoomError
from . import actions


@dataclass(frozen=True)
class Before:
    """A property that a result animates and its source does not. path, index: of its curve.  value: before."""

    path: str
    index: int
    value: float


def slot_of(action, handle: int):
    """The slot of an action by its handle, which nothing changes; None before 4.4."""
    if not actions.HAS_SLOTS:
        return None
    return next((slot for slot in action.slots if slot.handle == handle), None)


def handle_of(slot) -> int:
    return slot.handle if slot is not None else 0


def values_before(ob: bpy.types.Object, result, result_slot, source, source_slot) -> list[Before]:
    """The present values of what the result alone animates; to be asked while the source still plays."""
    known = set() if source is None else {_key(curve) for curve in actions.all_curves(source, source_slot)}
    out = []
    for key in [_key(curve) for curve in actions.all_curves(result, result_slot)]:
        if key not in known:
            value = _value(ob, *key)
            if value is not None:
                out.append(Before(*key, value))
    return out


def play(ob: bpy.types.Object, action, slot, values: list[Before] = ()) -> None:
    """Assign an action, or none, and put properties back that it does not animate."""
    data = ob.animation_data
    data.action = action
    if slot is not None:
        data.action_slot = slot
    for before in values:
        owner, _, name = before.path.rpartition(".")
        try:
            holder = ob.path_resolve(owner)
            present = getattr(holder, name)
        except (ValueError, AttributeError):
            continue  # the bone or the constraint is gone, and so is what had to be put back
        if isinstance(present, float):
            setattr(holder, name, before.value)
        else:
            present[before.index] = before.value
    ob.update_tag(refresh={"OBJECT", "DATA", "TIME"})


@contextmanager
def played(ob: bpy.types.Object, action, slot, values: list[Before]) -> Iterator[None]:
    """The object plays an action, or its NLA strips alone for None, until the block ends."""
    data = ob.animation_data
    now, now_slot = data.action, data.action_slot if actions.HAS_SLOTS else None
    play(ob, action, slot, values)
    try:
        yield
    finally:
        play(ob, now, now_slot)


@contextmanager
def removed_after_error(action: bpy.types.Action) -> Iterator[None]:
    """A new action, until all that belongs to it is done."""
    try:
        yield
    except (MotionLoomError, RuntimeError):
        bpy.data.actions.remove(action)
        raise


def _key(curve) -> tuple[str, int]:
    return curve.data_path, curve.array_index


def _value(ob, path: str, index: int) -> float | None:
    try:
        value = ob.path_resolve(path)
    except ValueError:
        return None
    return float(value) if isinstance(value, float) else float(value[index])
