"""Actions and their curves on every Blender version: curve lists up to 4.3, slots and channelbags since.

Curves are sampled and written at action times, which are scene frames unless the scene remaps time.
"""

from __future__ import annotations

import re

import bpy
import numpy as np

from ..solvers.core.errors import OutputError, SceneError

HAS_SLOTS = bpy.app.version >= (4, 4, 0)

_FREE = 0  # of the handle types
CONSTANT, LINEAR, BEZIER = 0, 1, 2  # the interpolation enum, as foreach_set takes it
_ON_KEY = 5e-5  # frames; the program itself takes the key's value within 1e-4
_BONE_PATH = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.(\w+)', re.DOTALL)
_COLOURS = {"rotation_quaternion": "AUTO_YRGB", "rotation_axis_angle": "AUTO_YRGB"}


def bone_path(bone: str, channel: str) -> str:
    """Data path of a pose bone's channel; any character may stand in the bone's name."""
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"].{channel}'


def bone_of_path(path: str) -> tuple[str, str] | None:
    """Bone name and channel of a data path, or None when it does not lead to a channel of a pose bone."""
    match = _BONE_PATH.fullmatch(path)
    return (bpy.utils.unescape_identifier(match[1]), match[2]) if match else None


def plays_action(ob) -> bool:
    """Whether an action, and a slot where there are slots, is assigned to an object."""
    data = ob.animation_data
    return data is not None and data.action is not None and not (HAS_SLOTS and data.action_slot is None)


def assigned(ob) -> tuple[bpy.types.Action, object | None]:
    """The action that moves an object, and its slot (None before 4.4).

    Raises SceneError when there is none, no slot of it is chosen, or an NLA strip is being tweaked.
    """
    data = ob.animation_data
    if data is None or data.action is None:
        raise SceneError(f"'{ob.name}' has no action; assign one in the Action Editor.")
    if data.use_tweak_mode:
        raise SceneError(f"'{ob.name}' is tweaking an NLA strip; leave tweak mode (Tab in the NLA editor).")
    if HAS_SLOTS and not len(data.action.slots):
        raise SceneError(
            f"Action '{data.action.name}' of '{ob.name}' is empty; key the object, or assign another one in the Action "
            "Editor."
        )
    if not plays_action(ob):
        raise SceneError(
            f"'{ob.name}' plays no slot of action '{data.action.name}'; choose a slot in the Action Editor."
        )
    return data.action, data.action_slot if HAS_SLOTS else None


def curve_list(action, slot, create: bool = False):
    """What holds the curves and groups of one slot: a channelbag, before 4.4 the action itself.

    None when the action has nothing for the slot and create is false.
    """
    if not HAS_SLOTS:
        return action
    for layer in action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(slot)
            if bag is not None:
                return bag
    if not create:
        return None
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=True)


def all_curves(action, slot) -> list:
    """All curves of one slot."""
    holder = curve_list(action, slot)
    return list(holder.fcurves) if holder else []


def curve_count(action, slot) -> int:
    """How many curves one slot has."""
    holder = curve_list(action, slot) if action is not None else None
    return len(holder.fcurves) if holder else 0


def find_curve(action, slot, path: str, index: int = 0):
    """The curve of one slot for a property, or None; a muted or empty one counts as none."""
    holder = curve_list(action, slot) if action is not None else None
    curve = holder.fcurves.find(path, index=index) if holder else None
    return None if curve is None or curve.mute or curve.is_empty else curve


def kept_curve(action, path: str):
    """The curve of a property in whichever slot of an action, muted or not, or None."""
    slots = list(action.slots) if HAS_SLOTS else [None]
    found = (curve for slot in slots for curve in all_curves(action, slot) if curve.data_path == path)
    return next((curve for curve in found if not curve.is_empty), None)


def mute_curves(action, slot, path: str) -> None:
    """Keep the curves of one slot for a property, if there are any, without effect."""
    for curve in all_curves(action, slot):
        if curve.data_path == path:
            curve.mute = True


def keys_of(curve) -> np.ndarray:
    """(K, 7) of each key: time, value, both handles' times and values, interpolation."""
    keys = curve.keyframe_points
    out = np.empty((len(keys), 7), np.float32)
    for column, name in ((slice(0, 2), "co"), (slice(2, 4), "handle_left"), (slice(4, 6), "handle_right")):
        flat = np.empty(2 * len(keys), np.float32)
        keys.foreach_get(name, flat)
        out[:, column] = flat.reshape(-1, 2)
    out[:, 6] = interpolations(curve)
    return out


def playing_curves(action, slot) -> list:
    """The curves of one slot that move something: neither muted nor empty."""
    return [curve for curve in all_curves(action, slot) if not (curve.is_empty or is_silenced(curve))]


def keyed_curves(action, slot) -> list:
    """Those of the playing curves that have keys or samples; others are made by their modifiers alone."""
    return [curve for curve in playing_curves(action, slot) if len(curve.keyframe_points) or len(curve.sampled_points)]


def is_silenced(curve) -> bool:
    """Whether a curve is muted, by itself or by its group."""
    return curve.mute or _is_muted(curve.group)


def _is_muted(group) -> bool:
    """Whether a group silences its curves: since 4.4 its mute flag is shown, but evaluation ignores it."""
    return not HAS_SLOTS and group is not None and group.mute


def require_playing(action, slot) -> None:
    """Raises SceneError where a slot has no curve that moves something."""
    if not playing_curves(action, slot):
        muted = bool(all_curves(action, slot))
        what = "has only muted curves; unmute some" if muted else "has no curves; key something"
        raise SceneError(f"Action '{action.name}' {what}.")


def frame_range(action, slot) -> tuple[float, float]:
    """First and last action time: the manual frame range if set, else that of the keys of curves not muted.

    Raises SceneError when nothing is keyed, or all is muted.
    """
    if action.use_frame_range:
        return action.frame_start, action.frame_end
    require_playing(action, slot)
    curves = keyed_curves(action, slot)
    if not curves:
        raise SceneError(f"The curves of action '{action.name}' have no keys, only modifiers; key something.")
    ends = np.array([curve.range() for curve in curves])
    return float(ends[:, 0].min()), float(ends[:, 1].max())


def sample(curve, times: np.ndarray) -> np.ndarray:
    """Values (F,) of a curve at action times (F,).

    Times on keys, or between the keys of a curve that is linear throughout, are read in bulk: that is what
    baked and imported motion looks like, and evaluating costs a call a value.
    """
    times = times.astype(np.float32).astype(float)  # what evaluate would see
    values, missing = _read_keys(curve, times)
    if missing.any():
        values[missing] = [curve.evaluate(time) for time in times[missing].tolist()]
    return values


def _read_keys(curve, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values (F,) read from the keys alone, and where that was not possible (F,)."""
    keys = curve.keyframe_points
    values, missing = np.zeros(len(times)), np.ones(len(times), bool)
    if not len(keys) or len(curve.modifiers):
        return values, missing
    points = np.empty((len(keys), 2), np.float32)
    keys.foreach_get("co", points.ravel())
    at, height = points.astype(float).T
    if (np.diff(at) <= 2.0 * _ON_KEY).any():
        return values, missing
    nearest = np.clip(np.searchsorted(at, times - _ON_KEY), 0, len(at) - 1)
    missing = np.abs(at[nearest] - times) > _ON_KEY
    values = height[nearest]
    if missing.any() and (interpolations(curve) == LINEAR).all():
        between = missing & (times > at[0]) & (times < at[-1])
        values[between] = np.interp(times[between], at, height)
        missing &= ~between
    return values, missing


def interpolations(curve) -> np.ndarray:
    """The interpolation enum of each key."""
    codes = np.empty(len(curve.keyframe_points), np.int32)
    curve.keyframe_points.foreach_get("interpolation", codes)
    return codes


def is_stepped(curve) -> bool:
    """Whether every key holds its value until the next, as keys of switches do."""
    return len(curve.keyframe_points) > 0 and bool((interpolations(curve) == CONSTANT).all())


def group_named(holder, name: str):
    """A group that does not silence its curves, made if there is none."""
    group = holder.groups.get(name)
    return holder.groups.new(name) if group is None or _is_muted(group) else group


def write_curve(holder, path: str, index: int, group, times, values, interpolation: int = LINEAR):
    """Make a curve with keys at action times (F,) of the given values (F,) and return it.

    holder: what curve_list gives; group: the group it is listed under, or None.
    A curve of the same path and index must not exist.
    """
    curve = holder.fcurves.new(path, index=index)
    if group is not None:
        curve.group = group
    curve.color_mode = _COLOURS.get(path.rpartition(".")[2], "AUTO_RGB")
    points = np.empty((len(times), 2), np.float32)
    points[:, 0], points[:, 1] = times, values
    curve.keyframe_points.add(len(times))
    curve.keyframe_points.foreach_set("co", points.ravel())
    curve.keyframe_points.foreach_set("interpolation", np.full(len(times), interpolation, np.int32))
    curve.update()
    return curve


def bend(curve, times, values, rises) -> None:
    """Make a curve cubic between its keys at action times (K,), values (K,).

    rises: (2, K) how far the left and the right handles lie above their keys, a third of the way to the next key: so
    the curve's parameter is the time.
    """
    points = curve.keyframe_points
    spans = np.diff(times, prepend=times[:1]), np.diff(times, append=times[-1:])
    for name, third, rise in (("left", -spans[0] / 3.0, rises[0]), ("right", spans[1] / 3.0, rises[1])):
        handle = np.column_stack((times + third, values + rise)).astype(np.float32)
        points.foreach_set(f"handle_{name}", handle.ravel())
        points.foreach_set(f"handle_{name}_type", np.full(len(times), _FREE, np.int32))
    points.foreach_set("interpolation", np.full(len(times), BEZIER, np.int32))
    curve.update()


def copy_curve(holder, curve) -> None:
    """Put a copy of a curve of another action in the place of the one that is there."""
    there = holder.fcurves.find(curve.data_path, index=curve.array_index)
    if there is not None:
        holder.fcurves.remove(there)
    new = holder.fcurves.new(curve.data_path, index=curve.array_index)
    if curve.group is not None:
        new.group = holder.groups.get(curve.group.name) or holder.groups.new(curve.group.name)
    count = len(curve.keyframe_points)
    new.keyframe_points.add(count)
    for prop, (kind, size) in KEY_PROPERTIES.items():
        values = np.empty(count * size, kind)
        curve.keyframe_points.foreach_get(prop, values)
        new.keyframe_points.foreach_set(prop, values)
    for modifier in curve.modifiers:
        _copy_properties(modifier, new.modifiers.new(modifier.type))
    _copy_properties(curve, new)
    new.update()


# What makes a key, as foreach_get takes it: element type and size.
KEY_PROPERTIES = {
    "handle_left_type": (np.int32, 1), "handle_right_type": (np.int32, 1), "interpolation": (np.int32, 1),
    "easing": (np.int32, 1), "type": (np.int32, 1), "amplitude": (np.float32, 1), "back": (np.float32, 1),
    "period": (np.float32, 1), "co": (np.float32, 2), "handle_left": (np.float32, 2), "handle_right": (np.float32, 2),
}  # fmt: skip


def _copy_properties(source, target) -> None:
    """All simple properties that can be written."""
    for prop in source.bl_rna.properties:
        if not prop.is_readonly and prop.type != "POINTER" and prop.identifier not in ("data_path", "array_index"):
            setattr(target, prop.identifier, getattr(source, prop.identifier))


def copy(action, slot, name: str) -> tuple[bpy.types.Action, object | None]:
    """A local copy of an action under a new name, and the slot in it that corresponds to the given one."""
    new = action.copy()
    new.name = name
    new.use_fake_user = False
    return new, _same_slot(new, slot)


def create(ob, name: str) -> tuple[bpy.types.Action, object | None]:
    """An empty action for an object, and its slot."""
    new = bpy.data.actions.new(name)
    if not HAS_SLOTS:
        new.id_root = ob.id_type
        return new, None
    return new, new.slots.new(id_type=ob.id_type, name=ob.name)


def keep_only(action, slot) -> None:
    """Drop every slot but one, with its curves."""
    if HAS_SLOTS:
        for other in [other for other in action.slots if other.handle != slot.handle]:
            action.slots.remove(other)


def _same_slot(copied, slot):
    """The slot of a copied action; names may repeat, handles do not."""
    if slot is None:
        return None
    return next(other for other in copied.slots if other.handle == slot.handle)


def keep(ob, action, slot, assigned: bool) -> None:
    """Play a new action on an object, or keep it by a fake user, so that it is saved either way."""
    if assigned:
        assign(ob, action, slot)
    else:
        action.use_fake_user = True


def assign(ob, action, slot) -> None:
    """Play an action on an object; the action it played until now is kept by a fake user.

    Raises OutputError when the object refuses it.
    """
    data = ob.animation_data or ob.animation_data_create()
    if data is None:
        raise OutputError(f"'{ob.name}' cannot hold an action; make a local copy of it.")
    previous = data.action
    if previous is not None and previous.library is None:
        previous.use_fake_user = True
    data.action = action
    if slot is not None:
        data.action_slot = slot
    if data.action != action or (slot is not None and data.action_slot is None):
        raise OutputError(f"'{ob.name}' refuses action '{action.name}'; make a local copy of the object.")
