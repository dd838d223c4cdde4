"""Names of new datablocks, which the program cuts where they are too long."""

from __future__ import annotations

import bpy

from ..solvers.core.errors import InputError

_LONGEST = bpy.types.ID.bl_rna.properties["name"].length_max - 1  # bytes: 63, since 5.0 255


def require_name(name: str | None) -> None:
    """Raises InputError for a name that would be cut, so that nobody would find what has it."""
    size = len(name.encode(errors="surrogateescape")) if name else 0
    if size > _LONGEST:
        raise InputError(
            f"The name '{name}' has {size} bytes, of which Blender keeps {_LONGEST}; choose a shorter --name."
        )
