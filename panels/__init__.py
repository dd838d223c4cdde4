"""The sidebar, driven by the workflow registry."""

from __future__ import annotations

import bpy

from . import sidebar

_registered: list[type] = []


def register(workflows) -> None:
    for cls in (sidebar.MOTION_LOOM_PT_main, *map(sidebar.workflow_panel, workflows)):
        bpy.utils.register_class(cls)
        _registered.append(cls)


def unregister() -> None:
    while _registered:
        bpy.utils.unregister_class(_registered.pop())
