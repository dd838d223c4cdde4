"""Results that stay: a new mesh object that plays vertices over time from a file or from shape keys.

The object's travel becomes keys of its own; the original is not touched, and nothing is left where a bake fails.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np

from ..solvers.core.errors import InputError, OutputError, SceneError
from . import actions, pc2
from .channels import SIZES, action_times, rotation_channel
from .discarding import discard as discard_unused
from .live_mesh import write_positions
from .mesh_copy import discard, link_beside, plain_copy
from .placing import Placement, place_over_time, transformed
from .shape_keys import shapes_by_curves
from .whole_file import destination, note_made, removed_on_failure, reserved

CACHE_FOLDER = "//motion_loom_cache"
_FRAMES_AT_ONCE = 16
_KEY_BYTES = 72  # a key of a curve, as Blender keeps it
_LONGEST_PATH = 1023  # bytes that Blender keeps of a path
_UNEVEN = 1e-4  # of a step: frames that are off by less count as evenly spaced
_SAME = 1e-6  # differences of channels, of their size, that count as none (single precision)
_SLIDER = 2.0  # keyed weights reach 1: as much again is left to the user


@dataclass(frozen=True)
class MeshResult:
    """vertices: (F, V, 3) own space, memory-mapped if large.  worlds: (F, 4, 4).  frames: (F,) scene frames, rising."""

    vertices: np.ndarray
    worlds: np.ndarray
    frames: np.ndarray


@dataclass(frozen=True)
class Baked:
    """ob: the new object.  byte_count: what its motion takes, in the file at path or else in the .blend.

    error: largest and root mean square distance from the result, metres, where the form is not exact.
    """

    ob: bpy.types.Object
    byte_count: int
    path: str = ""
    error: tuple[float, float] = (0.0, 0.0)


class _Found(Exception):
    """A cache can be written."""


def require_cache(folder: str, vertex_count: int, frame_count: int) -> None:
    """Raises as `bake_pc2`, where no cache of that size can be written to a folder; nothing is left of the attempt."""
    _require_saved()
    with suppress(_Found), removed_on_failure():
        place = destination(_made_folder(folder) / f".{os.getpid()}.pc2", pc2.WAY_OUT)
        place.require_room(pc2.size_of(vertex_count, frame_count))
        raise _Found


def bake_pc2(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    result: MeshResult,
    name: str | None = None,
    folder: str = CACHE_FOLDER,
) -> Baked:
    """A PC2 file and a Mesh Cache modifier that plays it, its path relative to the .blend.

    folder: absolute, or of the .blend's folder with or without "//"; it is made if need be.  The file never replaces
    another.
    Raises SceneError while the .blend has not been saved, InputError for frames that are not evenly spaced, and
    OutputError where the file cannot be written or the result is not numbers.
    """
    _require_saved()
    step = _step(result.frames)
    with (
        removed_on_failure(),
        _new_object(context, ob, result, name) as new,
        reserved(_made_folder(folder), bpy.path.clean_name(new.name), ".pc2", pc2.WAY_OUT) as cache,
    ):
        path = _relative(cache.path)
        placement = place_over_time(new, result.worlds, result.frames)
        start, each = _at_times(context.scene, result.frames[0], step)
        with pc2.writing(cache, len(new.data.vertices), len(result.frames), start, each) as writer:
            for block in _shapes(result, placement):
                writer.write(block)
            write_positions(new.data, next(_shapes(result, placement))[0])
            _add_cache(new, path, start, each)
            _write_travel(context, new, placement, result.frames)
            link_beside(context, ob, new)  # inside, so that the file goes with the object where this fails
    return Baked(new, writer.byte_count, path)


def bake_absolute_keys(
    context: bpy.types.Context, ob: bpy.types.Object, result: MeshResult, name: str | None = None
) -> Baked:
    """Absolute shape keys, one a frame, with a keyed evaluation time: all is in the .blend.

    Raises OutputError where the result is not numbers.
    """
    with _new_object(context, ob, result, name) as new:
        placement = place_over_time(new, result.worlds, result.frames)
        for number, shape in enumerate(shape for block in _shapes(result, placement) for shape in block):
            _add_key(new, f"Frame {result.frames[number]:g}", shape)
        keys = new.data.shape_keys
        keys.use_relative = False
        at = np.array([block.frame for block in keys.key_blocks])  # as stored, rounded
        _key_shapes(context, new, {"eval_time": at}, result.frames)
        keys.eval_time = float(at[0])
        _write_travel(context, new, placement, result.frames)
        link_beside(context, ob, new)
    return Baked(new, 12 * result.vertices.shape[1] * len(result.frames) + _KEY_BYTES * len(result.frames))


def bake_pca_keys(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    result: MeshResult,
    mean: np.ndarray,
    basis: np.ndarray,
    weights: np.ndarray,
    name: str | None = None,
) -> Baked:
    """Relative shape keys with keyed weights: few, editable, as near to the result as the basis allows.

    mean: (V, 3), basis: (D, V, 3), both own space; weights: (F, D).  Keys are scaled so that the weights reach 1; what
    is never weighted gets no key.  The error is that of the keys as they were written, against result.vertices.
    Raises InputError for shapes that do not fit, OutputError where something is not a number or the object's shear
    changes over time, which shape keys cannot follow.
    """
    _require_basis(result, mean, basis, weights)
    with _new_object(context, ob, result, name) as new:
        placement = place_over_time(new, result.worlds, result.frames)
        mean, basis = _unsheared(new.name, placement, mean, basis, result.frames)
        _add_key(new, "Mean", mean)
        used = np.flatnonzero(np.abs(weights).max(axis=0) > 0.0)
        reach = np.abs(weights).max(axis=0)
        for number in used:
            key = _add_key(new, f"Mode {number + 1:02d}", mean + reach[number] * basis[number])
            key.slider_min, key.slider_max = -_SLIDER, _SLIDER
        blocks = new.data.shape_keys.key_blocks[1:]
        values = {
            block.path_from_id("value"): weights[:, number] / reach[number]
            for block, number in zip(blocks, used, strict=True)
        }
        for block, keyed in zip(blocks, values.values(), strict=True):
            block.value = float(keyed[0])
        if values:
            _key_shapes(context, new, values, result.frames)
        _write_travel(context, new, placement, result.frames)
        error = _error(context.scene, new, result, placement)
        link_beside(context, ob, new)
    size = 12 * result.vertices.shape[1] * (len(used) + 1) + _KEY_BYTES * len(result.frames) * len(used)
    return Baked(new, size, error=error)


# -------------------------------------------------------------------------------------------------- the object


@contextmanager
def _new_object(
    context: bpy.types.Context, ob: bpy.types.Object, result: MeshResult, name: str | None
) -> Iterator[bpy.types.Object]:
    """A copy, which the block links into the scene at its end; where it fails, all that was made for it is removed."""
    _require_result(ob, result)
    new = plain_copy(context, ob, name or f"{ob.name} (mapped)")
    try:
        if len(new.data.vertices) != result.vertices.shape[1]:
            raise InputError(
                f"'{ob.name}' has {len(new.data.vertices)} vertices where the result has {result.vertices.shape[1]}; "
                "learn the target again."
            )
        new.parent = None  # its travel is in world space
        new.delta_location, new.delta_rotation_euler = (0, 0, 0), (0, 0, 0)
        new.delta_rotation_quaternion, new.delta_scale = (1, 0, 0, 0), (1, 1, 1)
        new.hide_viewport = new.hide_render = False
        yield new
    except BaseException:
        discard(new)
        raise


def _require_result(ob: bpy.types.Object, result: MeshResult) -> None:
    count = len(result.frames)
    shapes = np.shape(result.vertices), np.shape(result.worlds)
    if not count or len(shapes[0]) != 3 or shapes[0][::2] != (count, 3) or shapes[1] != (count, 4, 4):
        raise InputError(
            f"The result for '{ob.name}' has {count} frames, vertices of shape {shapes[0]} and matrices of shape "
            f"{shapes[1]}; expected (F, V, 3) and (F, 4, 4)."
        )
    if not np.isfinite(result.frames).all() or (np.diff(result.frames) <= 0.0).any():
        raise InputError(f"The frames of the result for '{ob.name}' do not rise; bake a range of frames.")


def _require_basis(result: MeshResult, mean: np.ndarray, basis: np.ndarray, weights: np.ndarray) -> None:
    modes, vertex_count = len(basis), result.vertices.shape[1]
    expected = (vertex_count, 3), (modes, vertex_count, 3), (len(result.frames), modes)
    found = np.shape(mean), np.shape(basis), np.shape(weights)
    if found != expected:
        raise InputError(f"Mean, basis and weights have the shapes {found}, expected {expected}.")
    if not all(np.isfinite(part).all() for part in (mean, basis, weights)):
        raise OutputError("The mean, the basis or the weights are not numbers; nothing is written.")


def _shapes(result: MeshResult, placement: Placement) -> Iterator[np.ndarray]:
    """The result's vertices (n, V, 3) float32, block by block, with the shear that the object cannot have."""
    for start in range(0, len(result.frames), _FRAMES_AT_ONCE):
        part = slice(start, start + _FRAMES_AT_ONCE)
        block = result.vertices[part]
        if placement.rest is not None:
            block = transformed(block, placement.rest[part])
        bad = ~np.isfinite(block).all(axis=(1, 2))
        if bad.any():
            raise OutputError(
                f"The result has vertices that are not numbers at frame {result.frames[part][bad.argmax()]:g}; "
                "nothing is written."
            )
        yield np.asarray(block, np.float32)


def _write_travel(
    context: bpy.types.Context, new: bpy.types.Object, placement: Placement, frames: np.ndarray
) -> None:
    """Key what changes of location, rotation and scale; set the rest."""
    rotation = rotation_channel(new.rotation_mode)
    channels = {
        "location": placement.location,
        rotation: placement.rotation[:, : SIZES[rotation]],
        "scale": placement.scale,
    }
    for channel, values in channels.items():
        setattr(new, channel, values[0])
    moving = {
        channel: values
        for channel, values in channels.items()
        if np.ptp(values, axis=0).max() > _SAME * max(1.0, np.abs(values).max())
    }
    if not moving:
        return
    curves = {(channel, axis): values[:, axis] for channel, values in moving.items() for axis in range(values.shape[1])}
    _key(context, new, f"{new.name} travel", curves, frames, "Object Transforms")


def _key_shapes(context, new: bpy.types.Object, values: dict[str, np.ndarray], frames: np.ndarray) -> None:
    curves = {(path, 0): keyed for path, keyed in values.items()}
    _key(context, new.data.shape_keys, f"{new.name} shapes", curves, frames, "")


def _key(context, owner: bpy.types.ID, name: str, curves: dict, frames: np.ndarray, group: str) -> None:
    """A new action for a datablock: linear keys at scene frames (F,) of values (F,) by path and index."""
    action, slot = actions.create(owner, name)
    try:
        actions.assign(owner, action, slot)
    except BaseException:
        discard_unused(action)
        raise
    holder = actions.curve_list(action, slot, create=True)
    grouped = actions.group_named(holder, group) if group else None
    times = action_times(context.scene, frames)
    for (path, index), values in curves.items():
        actions.write_curve(holder, path, index, grouped, times, values)


def _add_key(new: bpy.types.Object, name: str, shape: np.ndarray) -> bpy.types.ShapeKey:
    """A shape key of vertices (V, 3); the first one is the mesh as well."""
    flat = np.ascontiguousarray(shape, np.float32).reshape(-1)
    if new.data.shape_keys is None:
        write_positions(new.data, flat.reshape(-1, 3))
    key = new.shape_key_add(name=name, from_mix=False)
    key.points.foreach_set("co", flat)
    return key


# ------------------------------------------------------------------------------------------------ PCA keys


def _unsheared(name: str, placement: Placement, mean: np.ndarray, basis: np.ndarray, frames: np.ndarray):
    """Mean and basis with the shear that the object cannot have, which must be the same at every frame."""
    rest = placement.rest
    if rest is None:
        return mean, basis
    changes = np.abs(rest - rest[0]).max(axis=(1, 2)) > 1e-4
    if changes.any():
        raise OutputError(
            f"The shear of '{name}' changes at frame {frames[changes.argmax()]:g}, which shape keys cannot follow; "
            "bake to a cache file or to absolute shape keys."
        )
    return transformed(mean, rest[0]), basis @ rest[0, :3, :3].T


def _error(scene: bpy.types.Scene, new: bpy.types.Object, result: MeshResult, placement: Placement):
    """Largest and root mean square distance of the object's shapes from the result's, metres."""
    largest, total, start = 0.0, 0.0, 0
    for wanted in _shapes(result, placement):
        part = slice(start, start + len(wanted))
        start += len(wanted)
        shown = np.empty(wanted.shape, np.float32)
        for _ in shapes_by_curves(scene, new, result.frames[part], shown):
            pass
        apart = shown - wanted
        if placement.rest is not None:
            apart = _turned(apart, np.linalg.inv(placement.rest[part]))
        square = np.square(_turned(apart, result.worlds[part])).sum(axis=2)
        largest, total = max(largest, float(square.max())), total + float(square.sum(dtype=float))
    return largest**0.5, (total / (result.vertices.shape[0] * result.vertices.shape[1])) ** 0.5


def _turned(ways: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """Ways (F, V, 3) from vertex to vertex by matrices (F, 4, 4)."""
    return ways @ np.swapaxes(matrices[:, :3, :3], 1, 2)


# -------------------------------------------------------------------------------------------- the cache file


def _require_saved() -> None:
    if not bpy.data.filepath:
        raise SceneError(
            "The cache file lies beside the .blend, which has not been saved yet; save it first, or bake to shape keys."
        )


def _step(frames: np.ndarray) -> float:
    """Frames from one sample to the next, which must be the same throughout."""
    if len(frames) < 2:
        return 1.0
    step = float(frames[-1] - frames[0]) / (len(frames) - 1)
    uneven = np.abs(frames - frames[0] - step * np.arange(len(frames))) > _UNEVEN * abs(step)
    if uneven.any():
        raise InputError(
            f"A cache file needs evenly spaced frames, frame {frames[uneven.argmax()]:g} is off; bake to shape keys."
        )
    return step


def _at_times(scene: bpy.types.Scene, first: float, step: float) -> tuple[float, float]:
    """First time and time from sample to sample as animation counts it, which differ where the scene remaps time."""
    start, after = action_times(scene, np.array([first, first + step]))
    return float(start), float(after - start)


def _made_folder(folder: str) -> Path:
    """The folder, made if need be, which goes again where the block around fails."""
    # A name alone would be of the folder that the program was started in.
    # Blender takes a backslash in a cache's path for a separator everywhere; Windows does by itself, network paths too.
    folder = folder if os.name == "nt" else folder.replace("\\", "/")
    place = Path(bpy.path.abspath("//")) / bpy.path.abspath(folder)
    note_made(*reversed([part for part in (place, *place.parents) if not os.path.lexists(part)]))
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        blocking = next((part for part in (place, *place.parents) if os.path.lexists(part)), place)
        if not os.path.isdir(blocking):
            what = "a link that leads nowhere" if os.path.islink(blocking) else "a file"
            reason = f"'{blocking}' is {what}"
        else:
            reason = error.strerror
        raise OutputError(f"The folder '{place}' cannot be made: {reason}. Choose one that can be written.") from error
    return place


def _relative(path: Path) -> str:
    try:
        return bpy.path.relpath(str(path))
    except ValueError as error:
        raise SceneError(
            f"'{path}' is on another drive than the .blend, so that no relative path leads to it; choose a folder "
            "on the drive of the .blend."
        ) from error


def _add_cache(new: bpy.types.Object, path: str, start: float, each: float) -> None:
    """A Mesh Cache modifier before all others, its first sample at a time, the others each so much later.

    It shows sample time * scale - start, and ignores what the file says about times.
    """
    cache = new.modifiers.new("Mesh Cache", "MESH_CACHE")
    new.modifiers.move(len(new.modifiers) - 1, 0)
    cache = new.modifiers[0]
    cache.cache_format, cache.filepath = "PC2", path
    if cache.filepath != path or len(os.fsencode(bpy.path.abspath(path))) > _LONGEST_PATH:
        raise OutputError(f"The path '{path}' is too long for Blender; choose a shorter folder for the cache.")
    cache.play_mode, cache.time_mode, cache.interpolation = "SCENE", "FRAME", "LINEAR"
    cache.frame_start, cache.frame_scale = start / each, 1.0 / each
