"""Folders of the user, apart from any scene."""

from __future__ import annotations

from pathlib import Path

import bpy


def presets_of(kind: str) -> Path:
    """Where the user's presets of a kind of ours lie, beside Blender's own; the folder need not be there yet."""
    return Path(bpy.utils.user_resource("SCRIPTS", path=str(Path("presets", "motion_loom", kind))))
