"""The steps of every workflow, and what is special to one of them."""

from __future__ import annotations

import bpy

from ..workflows.adapt import operators
from ..workflows.adapt.deform_copy_operator import MOTION_LOOM_OT_copy_deform_bones
from ..workflows.map import operators as map_pairs
from ..workflows.map import perform_operator
from ..workflows.stream import operators as stream
from ..workflows.transfer import operators as transfer_lists
from ..workflows.transfer.path_operator import MOTION_LOOM_OT_transfer_edit_path
from . import live
from .copy_command import MOTION_LOOM_OT_copy_command
from .local_copy import MOTION_LOOM_OT_make_local_copy
from .question import MOTION_LOOM_OT_ask
from .steps import (
    MOTION_LOOM_OT_bake,
    MOTION_LOOM_OT_densify,
    MOTION_LOOM_OT_fit,
    MOTION_LOOM_OT_train,
    MOTION_LOOM_OT_update_binding,
)

_CLASSES = (
    MOTION_LOOM_OT_ask,
    MOTION_LOOM_OT_fit,
    MOTION_LOOM_OT_update_binding,
    MOTION_LOOM_OT_bake,
    MOTION_LOOM_OT_densify,
    MOTION_LOOM_OT_train,
    operators.MOTION_LOOM_OT_adapt_add_objects,
    operators.MOTION_LOOM_OT_adapt_add_item,
    operators.MOTION_LOOM_OT_adapt_remove_item,
    operators.MOTION_LOOM_OT_adapt_play_source,
    live.MOTION_LOOM_OT_live,
    live.MOTION_LOOM_OT_live_refresh,
    live.MOTION_LOOM_OT_live_resume,
    *map_pairs.CLASSES,
    perform_operator.MOTION_LOOM_OT_map_perform,
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
