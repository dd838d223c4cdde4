"""The steps of every workflow, and what is special to one of them."""

from __future__ import annotations

import bpy

from . import adapt_lists, live, map_pairs, map_perform, stream, transfer_lists
from .copy_command import MOTION_LOOM_OT_copy_command
from .deform_copy import MOTION_LOOM_OT_copy_deform_bones
from .local_copy import MOTION_LOOM_OT_make_local_copy
from .question import MOTION_LOOM_OT_ask
from .steps import (
    MOTION_LOOM_OT_bake,
    MOTION_LOOM_OT_densify,
    MOTION_LOOM_OT_fit,
    MOTION_LOOM_OT_train,
    MOTION_LOOM_OT_update_binding,
)
from .transfer_path import MOTION_LOOM_OT_transfer_edit_path

_CLASSES = (
    MOTION_LOOM_OT_ask,
    MOTION_LOOM_OT_fit,
    MOTION_LOOM_OT_update_binding,
    MOTION_LOOM_OT_bake,
    MOTION_LOOM_OT_densify,
    MOTION_LOOM_OT_train,
    adapt_lists.MOTION_LOOM_OT_adapt_add_objects,
    adapt_lists.MOTION_LOOM_OT_adapt_add_item,
    adapt_lists.MOTION_LOOM_OT_adapt_remove_item,
    adapt_lists.MOTION_LOOM_OT_adapt_play_source,
    live.MOTION_LOOM_OT_live,
    live.MOTION_LOOM_OT_live_refresh,
    live.MOTION_LOOM_OT_live_resume,
    *map_pairs.CLASSES,
    map_perform.MOTION_LOOM_OT_map_perform,
    *transfer_lists.CLASSES,
    MOTION_LOOM_OT_transfer_edit_path,
    *stream.CLASSES,
    MOTION_LOOM_OT_copy_command,
    MOTION_LOOM_OT_make_local_copy,
    MOTION_LOOM_OT_copy_deform_bones,
)


def register() -> None:
    for cls in _CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
