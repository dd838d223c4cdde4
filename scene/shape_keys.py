"""The shapes that shape keys make of a mesh over time, from their curves alone: no frame is stepped through."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import numpy as np

from ..solvers.core.errors import InputError
from . import actions
from .channels import action_times
from .modifier_split import deforming_modifiers
from .sampling import plays_strips
from .stillness import moved_by_scripts

_FRAMES_AT_ONCE = 16


def reason_to_step(ob: bpy.types.Object) -> str | None:
    """Why the curves of a mesh object's shape keys do not tell its shape over time, or None when they do."""
    keys, modifiers = ob.data.shape_keys, deforming_modifiers(ob)
    if modifiers:
        return f"modifier '{modifiers[0].name}' deforms it"
    if keys is None:
        return "it has no shape keys"
    if ob.parent is not None and ob.parent_type in {"ARMATURE", "LATTICE"}:
        return f"its parent '{ob.parent.name}' deforms it"
    if ob.show_only_shape_key:
        return "one shape key alone is shown"
    if moved_by_scripts():
        return "scripts act on frame changes"
    mesh = ob.data.animation_data
    if mesh is not None and (mesh.action is not None or len(mesh.drivers) or len(mesh.nla_tracks)):
        return "its mesh data is animated"
    return _unusual_animation(keys) or _unusual_keys(ob, keys)


def _unusual_animation(keys: bpy.types.Key) -> str | None:
    data = keys.animation_data
    if data is None:
        return None
    if any(not driver.mute for driver in data.drivers):
        return "drivers move its shape keys"
    if plays_strips(keys) or data.use_tweak_mode:
        return "NLA strips move its shape keys"
    if len(data.nla_tracks) and not (
        data.action_influence == 1.0 and data.action_blend_type == "REPLACE" and data.action_extrapolation != "NOTHING"
    ):
        return "the action of its shape keys is blended"
    known = {"eval_time", *(block.path_from_id("value") for block in keys.key_blocks)}
    other = [curve.data_path for curve in _curves(keys) if curve.data_path not in known]
    return f"'{other[0]}' of its shape keys is animated" if other else None


def _unusual_keys(ob: bpy.types.Object, keys: bpy.types.Key) -> str | None:
    if keys.use_relative:
        masked = [block for block in keys.key_blocks if block.vertex_group in ob.vertex_groups]
        # Without any weight at all the program may take the group as absent: only evaluation tells.
        if masked and not any(len(vertex.groups) for vertex in ob.data.vertices):
            return f"shape key '{masked[0].name}' has an empty vertex group"
        return None
    if any(block.interpolation != "KEY_LINEAR" for block in keys.key_blocks):
        return "its absolute shape keys are joined by curves"
    if (np.diff(sorted(block.frame for block in keys.key_blocks)) <= 0.0).any():
        return "two of its absolute shape keys lie at one time"
    return None


def _curves(keys: bpy.types.Key) -> list:
    return actions.playing_curves(*actions.assigned(keys)) if actions.plays_action(keys) else []


def shapes_by_curves(
    scene: bpy.types.Scene, ob: bpy.types.Object, frames: np.ndarray, out: np.ndarray
) -> Iterator[int]:
    """Write the shapes at scene frames (F,) into out (F, V, 3) float32, own space; yields how many frames are done.

    To be used where `reason_to_step` gives none.
    """
    keys, flat = ob.data.shape_keys, out.reshape(len(frames), -1)
    fill = _relative(scene, ob, keys, frames) if keys.use_relative else _absolute(scene, keys, frames)
    for start in range(0, len(frames), _FRAMES_AT_ONCE):
        part = slice(start, min(start + _FRAMES_AT_ONCE, len(frames)))
        flat[part] = fill(part)
        yield part.stop


def _relative(scene, ob, keys, frames):
    """By a slice of frames, the first key plus the sum of value times what each key adds."""
    base = read_points(keys.key_blocks[0])
    values = _values(scene, keys, frames)
    used = np.flatnonzero(values.any(axis=0))
    added = np.array([_added(ob, keys.key_blocks[int(k)]) for k in used], np.float32).reshape(len(used), base.size)
    values = values[:, used]
    return lambda part: base + values[part] @ added


def _absolute(scene, keys, frames):
    """By a slice of frames, the two keys about the evaluation time, mixed; the ends hold."""
    curve = next((curve for curve in _curves(keys) if curve.data_path == "eval_time"), None)
    times = action_times(scene, frames)
    times = np.full(len(frames), keys.eval_time) if curve is None else actions.sample(curve, times)
    blocks = sorted(keys.key_blocks, key=lambda block: block.frame)
    at = np.array([block.frame for block in blocks])
    points = np.array([read_points(block) for block in blocks])
    after = np.clip(np.searchsorted(at, times, side="right"), 1, max(len(at) - 1, 1))
    before, after = after - 1, np.minimum(after, len(at) - 1)
    span = np.where(after > before, at[after] - at[before], 1.0)
    share = np.clip((times - at[before]) / span, 0.0, 1.0).astype(np.float32)[:, None]
    return lambda part: points[before[part]] + share[part] * (points[after[part]] - points[before[part]])


def _values(scene: bpy.types.Scene, keys: bpy.types.Key, frames: np.ndarray) -> np.ndarray:
    """(F, K) float32 values of relative keys as they count: in the slider's range, 0 where muted and of the first."""
    out = np.tile(np.array([block.value for block in keys.key_blocks]), (len(frames), 1))
    index = {block.path_from_id("value"): k for k, block in enumerate(keys.key_blocks)}
    times = action_times(scene, frames)
    for curve in _curves(keys):
        if curve.data_path in index:
            out[:, index[curve.data_path]] = actions.sample(curve, times)
    lowest, highest = np.array([(block.slider_min, block.slider_max) for block in keys.key_blocks]).T
    heard = np.array([not block.mute for block in keys.key_blocks])
    heard[0] = False
    return (np.clip(out, lowest, highest) * heard).astype(np.float32)


def _added(ob: bpy.types.Object, block: bpy.types.ShapeKey) -> np.ndarray:
    """(3 V,) float32 that a relative key adds at a value of one."""
    added = (read_points(block) - read_points(block.relative_key)).reshape(-1, 3)
    if block.vertex_group in ob.vertex_groups:
        added *= group_weights(ob, block.vertex_group)[:, None]
    return added.reshape(-1)


def group_weights(ob: bpy.types.Object, name: str) -> np.ndarray:
    """(V,) float32 weights of a mesh object's vertices in a group of theirs, zero outside it."""
    group = ob.vertex_groups[name].index
    out = np.zeros(len(ob.data.vertices), np.float32)
    for vertex in ob.data.vertices:  # there is no bulk reading of weights
        for membership in vertex.groups:
            if membership.group == group:
                out[vertex.index] = membership.weight
    return out


def read_points(block: bpy.types.ShapeKey) -> np.ndarray:
    """(3 V,) float32, own space."""
    out = np.empty(3 * len(block.points), np.float32)
    block.points.foreach_get("co", out)
    return out


def pose_shapes(ob: bpy.types.Object, names: tuple[str, ...]) -> np.ndarray:
    """(K, V, 3) float32: the shape that each of the named keys makes when it alone counts in full.

    Raises InputError for a name that there is not.
    """
    keys = ob.data.shape_keys
    missing = [name for name in names if name not in keys.key_blocks]
    if missing:
        raise InputError(f"'{ob.name}' has no shape key '{missing[0]}'; choose the poses again.")
    base = read_points(keys.key_blocks[0])
    blocks = [keys.key_blocks[name] for name in names]
    if keys.use_relative:
        shapes = [base if block == keys.key_blocks[0] else base + _added(ob, block) for block in blocks]
    else:
        shapes = [read_points(block) for block in blocks]
    return np.array(shapes).reshape(len(names), -1, 3)
