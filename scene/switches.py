"""Properties of a rig that drive what its constraints do: FK or IK, parents, following."""

from __future__ import annotations

import re
from collections.abc import Iterator

import bpy
import numpy as np

from . import actions
from .bone_dependence import bone_in_path, moved_by
from .channels import action_times
from .curve_splice import splice
from .playback import own_property, value_at
from .sampling import strip_curves

_INFLUENCES = (".influence", ".mute", ".weight", ".enabled")


def find_switches(ob: bpy.types.Object) -> tuple[str, ...]:
    """Data paths, from the object, of properties that drive whether and how much its constraints act."""
    found: dict[str, None] = {}
    for path, _bones in switching(ob):
        found[path] = None
    return tuple(found)


def switched_bones(ob: bpy.types.Object, switches: tuple[str, ...]) -> np.ndarray:
    """(P, B) bool: the bones whose constraints each switch acts on."""
    index = {bone.name: number for number, bone in enumerate(ob.data.bones)}
    out = np.zeros((len(switches), len(index)), bool)
    for path, bone in switching(ob):
        if path in switches and bone in index:
            out[switches.index(path), index[bone]] = True
    return out


def weighing_switches(ob: bpy.types.Object, switches: tuple[str, ...]) -> np.ndarray:
    """(P,) bool: the switches that set how much constraints act, beside whether they do."""
    found = {path for path, _bone in switching(ob, (".influence", ".weight"))}
    return np.array([path in found for path in switches], bool)


def switch_ends(ob: bpy.types.Object, switches: tuple[str, ...]) -> np.ndarray:
    """(P, 2) least and greatest value of each switch, as its slider goes; 0 and 1 where it has no bounds."""
    return np.array([_ends(ob, path) for path in switches], float).reshape(-1, 2)


def values_of_switches(
    scene: bpy.types.Scene, switches: tuple[str, ...], now: np.ndarray, frames: np.ndarray, source: tuple
) -> np.ndarray:
    """(F, P) values of switches at scene frames (F,), as the curves of an action and slot tell; now: (P,) of others."""
    out = np.repeat(now[None], len(frames), axis=0)
    for curve in actions.playing_curves(*source) if source[0] is not None else ():
        if curve.data_path in switches:
            out[:, switches.index(curve.data_path)] = actions.sample(curve, action_times(scene, frames))
    return out


def are_in_strips(ob: bpy.types.Object, switches: tuple[str, ...]) -> bool:
    """Whether NLA strips animate any of the switches: only stepping through the frames tells their values."""
    return any(curve.data_path in switches for curve in strip_curves(ob))


def hold_switches(
    action,
    slot,
    values: dict[str, float],
    times: np.ndarray,
    sides: tuple[bool, bool] = (False, False),
    source: tuple = (None, None),
    present: dict[str, float] | None = None,
    frame: float = 1.0,
) -> None:
    """Key properties, by path, to values over action times (2,), in place of what an action says of them.

    sides: whether they are as the source, action and slot, has them before and after; present: those that it does not
    key.  frame: how long one takes.
    """
    holder = actions.curve_list(action, slot, create=True)
    for path, value in values.items():
        for curve in [curve for curve in holder.fcurves if curve.data_path == path]:
            holder.fcurves.remove(curve)
        bone = bone_in_path(path)
        group = actions.group_named(holder, bone) if bone else None
        own = None if source[0] is None else actions.find_curve(*source, path)
        keys = {time: value for time in times.tolist()}
        # The step to the next frame is where the property changes.
        for time, is_open in zip((times[0] - frame, times[1] + frame), sides, strict=True):
            if is_open:
                keys[float(time)] = present[path] if own is None else own.evaluate(time)
        at = sorted(keys)
        curve = actions.write_curve(holder, path, 0, group, at, [keys[time] for time in at], actions.CONSTANT)
        splice(curve, own, sides, (at[0], at[-1]))


def _ends(ob, path: str) -> tuple[float, float]:
    try:
        holder, name = own_property(ob, path)
        shown = holder.id_properties_ui(name).as_dict()
    except (TypeError, ValueError, KeyError):
        return 0.0, 1.0
    choices = [float(choice[-1]) for choice in shown.get("items") or ()]
    if choices:
        return min(choices), max(choices)
    low, high = float(shown.get("soft_min", 0.0)), float(shown.get("soft_max", 1.0))
    return (low, high) if abs(low) < 1e3 and abs(high) < 1e3 else (0.0, 1.0)


def switching(ob: bpy.types.Object, properties: tuple[str, ...] = _INFLUENCES) -> Iterator[tuple[str, str]]:
    """Path of a property that is read, and a bone that a constraint moves, of each driver of one of its properties."""
    for curve in ob.animation_data.drivers if ob.animation_data is not None else ():
        bone = bone_in_path(curve.data_path)
        if curve.mute or bone is None or ".constraints[" not in curve.data_path:
            continue
        if not curve.data_path.endswith(properties):
            continue
        moved = _constrained(ob, bone, curve.data_path)
        for variable in curve.driver.variables:
            for target in variable.targets:
                if variable.type == "SINGLE_PROP" and target.id == ob and _is_number(ob, target.data_path):
                    yield from ((target.data_path, name) for name in moved)


def _constrained(ob, bone: str, path: str) -> list[str]:
    """The bones that the constraint of a bone moves which a data path leads into."""
    found = re.search(r'\]\.constraints\["((?:[^"\\]|\\.)*)"\]', path, re.DOTALL)
    owner = ob.pose.bones.get(bone)
    constraint = owner and found and owner.constraints.get(bpy.utils.unescape_identifier(found[1]))
    return [each.name for each in moved_by(owner, constraint)] if constraint else []


def _is_number(ob, path: str) -> bool:
    """Whether a path leads to a custom property that is one number, or one of several choices."""
    if not path.endswith("]"):
        return False
    try:
        is_one = isinstance(ob.path_resolve(path), (bool, int, float, str))
    except ValueError:
        return False
    return is_one and value_at(ob, path) is not None
