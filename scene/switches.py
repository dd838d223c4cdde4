"""What switches how the constraints of a rig act, FK or IK, parents, following: over time, and set by a result."""

from __future__ import annotations

import bpy
import numpy as np

from . import actions
from .bone_dependence import bone_in_path
from .channels import action_times
from .curve_splice import splice
from .playback import own_property
from .sampling import strip_curves
from .switching import WEIGHING, foreign_drivers, switching

_MET = 1e-3


def find_switches(ob: bpy.types.Object, source: tuple) -> tuple[str, ...]:
    """Data paths, from the object, of what says whether and how much its constraints act, see `switching`."""
    return tuple(dict.fromkeys(path for path, _bone in switching(ob, source)))


def switched_bones(ob: bpy.types.Object, switches: tuple[str, ...], source: tuple) -> np.ndarray:
    """(P, B) bool: the bones whose constraints each switch acts on."""
    index = {bone.name: number for number, bone in enumerate(ob.data.bones)}
    out = np.zeros((len(switches), len(index)), bool)
    for path, bone in switching(ob, source):
        if path in switches and bone in index:
            out[switches.index(path), index[bone]] = True
    return out


def weighing_switches(ob: bpy.types.Object, switches: tuple[str, ...], source: tuple) -> np.ndarray:
    """(P,) bool: the switches that set how much constraints act, beside whether they do."""
    found = {path for path, _bone in switching(ob, source, WEIGHING)}
    return np.array([path in found for path in switches], bool)


def foreign_switches(ob: bpy.types.Object, switches: tuple[str, ...]) -> np.ndarray:
    """(P,) bool: the switches that no key of the rig's own sets."""
    foreign = foreign_drivers(ob)
    return np.array([path in foreign for path in switches], bool)


def in_few_steps(switches: tuple[str, ...], values: np.ndarray) -> np.ndarray:
    """Values (F, P) of switches, where they weigh a constraint themselves in quarters of it: in between controls do
    much the same, and each value would have to be measured. None and all of it stand for themselves alone."""
    own = np.array([path.endswith(WEIGHING) for path in switches], bool)
    parts = np.clip(np.round(4.0 * values), 1.0, 3.0) / 4.0
    steps = np.where(values < _MET, 0.0, np.where(values > 1.0 - _MET, 1.0, parts))
    return np.where(own, steps, values)


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


def need_stepping(ob: bpy.types.Object, switches: tuple[str, ...]) -> bool:
    """Whether NLA strips animate any of the switches, or drivers: only stepping through the frames tells their
    values."""
    return foreign_switches(ob, switches).any() or any(curve.data_path in switches for curve in strip_curves(ob))


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
    if not path.endswith('"]'):
        return 0.0, 1.0  # of a constraint itself
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
