"""The sidebar and the overlays, driven by the workflow registry."""

from __future__ import annotations

import bpy

from . import overlays, sidebar

_registered: list[type] = []


def register(workflows) -> None:
    panels = (sidebar.MOTION_LOOM_PT_main, *map(sidebar.workflow_panel, workflows))
    lists = dict.fromkeys(cls for workflow in workflows for cls in workflow.ui_lists)  # some may share them
    for cls in (*lists, *panels):
        bpy.utils.register_class(cls)
        _registered.append(cls)
    overlays.register()


def unregister() -> None:
    overlays.unregister()
    while _registered:
        bpy.utils.unregister_class(_registered.pop())
