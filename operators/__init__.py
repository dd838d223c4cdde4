"""Generic operators; what they do comes from the workflow they are told."""

from __future__ import annotations

import bpy

from .steps import MOTION_LOOM_OT_bake, MOTION_LOOM_OT_fit

_CLASSES = (MOTION_LOOM_OT_fit, MOTION_LOOM_OT_bake)


def register() -> None:
    for cls in _CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
