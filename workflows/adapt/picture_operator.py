"""Saves the picture of the last result."""

from __future__ import annotations

import bpy

from ...scene.blend_file import from_scene
from ..interface.operators import OwnedOperator, ReportingOperator, owned_by
from .report import picture_file, save_picture, why_no_picture


class _SavePicture(OwnedOperator, ReportingOperator):
    """Save each limb's contacts and the worst events over time as an SVG file, which browsers show"""

    bl_label = "Save Picture"
    bl_options = {"INTERNAL"}

    filepath: bpy.props.StringProperty(name="File", subtype="FILE_PATH", default="adapted.svg")
    filter_glob: bpy.props.StringProperty(default="*.svg", options={"HIDDEN"})

    @classmethod
    def needs(cls, context) -> str | None:
        return why_no_picture(context, cls.owner())

    def invoke(self, context, _event):
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def apply(self, context):
        return save_picture(context.object, self.owner(), picture_file(from_scene(self.filepath)))


MOTION_LOOM_OT_adapt_save_picture = owned_by("adapt", "save_picture", _SavePicture)
