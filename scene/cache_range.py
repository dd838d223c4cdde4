"""Over which frames a Mesh Cache modifier plays its file: PC2 and MDD name the number of their samples."""

from __future__ import annotations

import struct

import bpy

from .modifier_split import animated_paths

_PC2, _MDD = struct.Struct("<28xi"), struct.Struct(">i")  # what comes before the number of samples, and that
_HEADERS = {"PC2": _PC2, "MDD": _MDD}


def cache_range(ob: bpy.types.Object, modifier: bpy.types.Modifier) -> tuple[float, float] | None:
    """First and last action time at which a modifier of an object plays its file; it holds the ends beyond them.

    None for another modifier, where its own settings are animated, where it goes by seconds or by the share of the
    file, which follow the scene's frame rate, and where the file cannot be read.
    """
    if modifier.type != "MESH_CACHE" or modifier.play_mode != "SCENE" or modifier.time_mode != "FRAME":
        return None
    own = f'modifiers["{bpy.utils.escape_identifier(modifier.name)}"]'
    if not modifier.frame_scale > 0.0 or any(path.startswith(own) for path in animated_paths(ob)):
        return None
    samples = _samples(bpy.path.abspath(modifier.filepath, library=ob.library), _HEADERS[modifier.cache_format])
    if samples is None:
        return None
    first = modifier.frame_start / modifier.frame_scale
    return first, first + (samples - 1) / modifier.frame_scale


def cache_ranges(owner: bpy.types.ID) -> list[tuple[float, float]]:
    """Of all modifiers of an object that tell; none for another ID."""
    if not isinstance(owner, bpy.types.Object):
        return []
    return [found for modifier in owner.modifiers if (found := cache_range(owner, modifier)) is not None]


def _samples(path: str, header: struct.Struct) -> int | None:
    try:
        with open(path, "rb") as file:
            (samples,) = header.unpack(file.read(header.size))
    except (OSError, struct.error, ValueError):
        return None
    return samples if samples > 0 else None
