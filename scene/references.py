"""Pointing a modifier, a constraint or an object at another datablock, and nothing else of it changed by that."""

from __future__ import annotations

import bpy

# What the program resets to the pose of the moment, or to none, when it is told what to refer to.
_RESET = ("matrix_inverse", "inverse_matrix", "matrix_parent_inverse")


def point_to(holder: bpy.types.bpy_struct, name: str, datablock: bpy.types.ID | None) -> None:
    """Set a pointer, and leave where the holder was bound: a hook, a Child Of constraint, a child stay where they are
    to what takes the place of what they referred to."""
    kept = {each: getattr(holder, each).copy() for each in _RESET if hasattr(holder, each)}
    setattr(holder, name, datablock)
    for each, matrix in kept.items():
        if getattr(holder, each) != matrix:
            setattr(holder, each, matrix)
