"""The sidebar and the overlays, driven by the workflow registry."""

from __future__ import annotations

import bpy

from ..workflows.adapt import lists as adapt_list
from ..workflows.map import lists as map_list
from ..workflows.transfer import lists as transfer_lists
from . import overlays, sidebar

_registered: list[type] = []


def register(workflows) -> None:
    panels = (sidebar.MOTION_LOOM_PT_main, *map(sidebar.workflow_panel, workflows))
    lists = (
        adapt_list.MOTION_LOOM_UL_surfaces,
        adapt_list.MOTION_LOOM_UL_joints,
        map_list.MOTION_LOOM_UL_pairs,
        *transfer_lists.CLASSES,
    )
    for cls in (*lists, *panels):
        bpy.utils.register_class(cls)
        _registered.append(cls)
    overlays.register(workflows)


def unregister() -> None:
    overlays.unregister()
    while _registered:
        bpy.utils.unregister_class(_registered.pop())
