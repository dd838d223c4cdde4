"""The steps of every workflow, what all of them have, and what each declares for itself."""

from __future__ import annotations

import bpy

from . import live, steps
from .copy_command import MOTION_LOOM_OT_copy_command
from .lists import list_operators
from .local_copy import MOTION_LOOM_OT_make_local_copy
from .question import MOTION_LOOM_OT_ask
from .show_bone import MOTION_LOOM_OT_show_bone

_GENERIC = (
    MOTION_LOOM_OT_ask,
    steps.MOTION_LOOM_OT_fit,
    steps.MOTION_LOOM_OT_bake,
    live.MOTION_LOOM_OT_live,
    live.MOTION_LOOM_OT_live_refresh,
    live.MOTION_LOOM_OT_live_resume,
    MOTION_LOOM_OT_copy_command,
    MOTION_LOOM_OT_make_local_copy,
    MOTION_LOOM_OT_show_bone,
)
_registered: list[type] = []


def register(workflows) -> None:
    own = [cls for workflow in workflows for cls in (*list_operators(workflow), *workflow.operators)]
    for cls in dict.fromkeys((*_GENERIC, *steps.declared_steps(workflows), *own)):  # workflows may share some
        bpy.utils.register_class(cls)
        _registered.append(cls)


def unregister() -> None:
    while _registered:
        bpy.utils.unregister_class(_registered.pop())
