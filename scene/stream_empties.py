"""Streamed joints as empties: where they are now, and recordings as actions.

The empties and their collection are known by a custom property, never by name: an object of the user's that happens to
have a joint's name is left alone. Nothing is remembered between calls, so undo may take any of it away.

An action and a stream would both move an empty, whichever came last. So what an empty plays is set aside when a stream
places it, kept by a custom property, until `play_takes`.
"""

from __future__ import annotations

import bpy
import numpy as np

from ..solvers.core.errors import InputError
from . import actions
from .channels import action_times
from .reached import collections_of
from .restored import restored_after_error

COLLECTION = "Motion Loom stream"
_JOINT, _STREAM = "motion_loom_joint", "motion_loom_stream"
_TAKE, _SLOT = "motion_loom_take", "motion_loom_take_slot"


def place_empties(scene: bpy.types.Scene, names: tuple[str, ...], positions: np.ndarray) -> list[bpy.types.Object]:
    """Put one empty a joint at world positions (J, 3), metres, making those that are missing; in the order of names.

    A joint without a position (NaN) stays where it is. Actions that the empties play are set aside.
    Raises InputError where shapes do not agree.
    """
    positions = _checked(names, positions, 2)
    empties = _empties(scene, names)
    known = np.isfinite(positions).all(axis=1)
    for ob, place, is_known in zip(empties, positions.tolist(), known.tolist(), strict=True):
        if is_known:
            _set_aside(ob)
            ob.location = place
    return empties


def play_takes() -> None:
    """Let all empties of streams play again what was set aside; one that plays something else by now goes on so."""
    for collection in bpy.data.collections:
        if _is_stream(collection):
            for ob in collection.objects:
                _play_take(ob)


def _set_aside(ob: bpy.types.Object) -> None:
    data = ob.animation_data
    if data is None or data.action is None or data.use_tweak_mode:
        return
    _keep(ob.get(_TAKE))
    ob[_TAKE] = data.action
    if actions.HAS_SLOTS:
        ob[_SLOT] = data.action_slot_handle
    data.action = None


def _play_take(ob: bpy.types.Object) -> None:
    if _TAKE not in ob:
        return
    take, handle = ob[_TAKE], ob.get(_SLOT, 0)
    if take is not None and (ob.animation_data is None or ob.animation_data.action is None):
        slots = take.slots if actions.HAS_SLOTS else ()
        actions.assign(ob, take, next((slot for slot in slots if slot.handle == handle), None))
    else:
        _keep(take)
    del ob[_TAKE]
    if _SLOT in ob:
        del ob[_SLOT]


def _keep(action: bpy.types.Action | None) -> None:
    """See that an action is saved though nothing plays it."""
    if action is not None and action.library is None:
        action.use_fake_user = True


def write_recording(
    scene: bpy.types.Scene, names: tuple[str, ...], positions: np.ndarray, start: int, name: str
) -> list[bpy.types.Action]:
    """Key a recording on the empties, made where they are missing, and return the new actions.

    positions: (F, J, 3) world, metres, at the scene frames from start on, one after the other; a joint gets no keys
    where it has no position (NaN).  name: of the action; one for all empties, a slot each, since 4.4; before that one
    an empty, named after it as well. The actions they played until now, or that were set aside, are kept.
    Raises InputError where shapes do not agree. Where it ends before all is keyed, no action is left.
    """
    positions = _checked(names, positions, 3)
    times = action_times(scene, np.arange(start, start + len(positions)))
    made, keyed = [], []
    with restored_after_error(*_all_empties()):
        empties = _empties(scene, names)
        shared = bpy.data.actions.new(name) if actions.HAS_SLOTS else None
        made += [] if shared is None else [shared]
        for joint, (ob, track) in enumerate(zip(empties, positions.transpose(1, 0, 2), strict=True)):
            if shared is None:
                action, slot = actions.create(ob, f"{name} {names[joint]}")
                made.append(action)
            else:
                action, slot = shared, shared.slots.new(id_type=ob.id_type, name=ob.name)
            _key(action, slot, times, track)
            keyed.append((ob, action, slot))
        for ob, action, slot in keyed:
            _play_take(ob)
            actions.assign(ob, action, slot)
    return made


def _all_empties() -> list[bpy.types.Object]:
    return [ob for collection in bpy.data.collections if _is_stream(collection) for ob in collection.objects]


def _key(action, slot, times: np.ndarray, track: np.ndarray) -> None:
    """Key the places (F, 3) that are known at action times (F,)."""
    known = np.isfinite(track).all(axis=1)
    if known.any():
        holder = actions.curve_list(action, slot, create=True)
        group = actions.group_named(holder, "Object Transforms")
        for axis in range(3):
            actions.write_curve(holder, "location", axis, group, times[known], track[known, axis])


def _checked(names: tuple[str, ...], positions: np.ndarray, dimensions: int) -> np.ndarray:
    positions = np.asarray(positions, float)
    if positions.ndim != dimensions or positions.shape[-2:] != (len(names), 3) or not positions.size:
        raise InputError(f"A stream of {len(names)} joints cannot be placed by positions of shape {positions.shape}.")
    if len(set(names)) < len(names):
        raise InputError("A stream names a joint twice; give each joint a name of its own in the sender.")
    return positions


def _empties(scene: bpy.types.Scene, names: tuple[str, ...]) -> list[bpy.types.Object]:
    """One empty a joint, in the order of names."""
    collection = _collection(scene)
    found = {ob.get(_JOINT): ob for ob in reversed(list(collection.objects))}  # of copies the first one, by its name
    return [found.get(name) or _new_empty(collection, name) for name in names]


def _new_empty(collection: bpy.types.Collection, name: str) -> bpy.types.Object:
    ob = bpy.data.objects.new(name, None)
    ob[_JOINT] = name
    ob.empty_display_type, ob.empty_display_size = "SPHERE", 0.03
    collection.objects.link(ob)
    return ob


def _collection(scene: bpy.types.Scene) -> bpy.types.Collection:
    """The collection of the stream in a scene, made if there is none."""
    for collection in collections_of(scene)[1:]:
        if _is_stream(collection):
            return collection
    collection = bpy.data.collections.new(COLLECTION)
    collection[_STREAM] = True
    scene.collection.children.link(collection)
    return collection


def _is_stream(collection: bpy.types.Collection) -> bool:
    return bool(collection.get(_STREAM)) and collection.library is None
