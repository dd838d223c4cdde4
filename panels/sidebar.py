"""One tab, one parent panel, a collapsed sub-panel a workflow."""

from __future__ import annotations

import bpy

_MODES = {"OBJECT", "POSE"}


class MOTION_LOOM_PT_main(bpy.types.Panel):
    bl_label = "Motion Loom"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Motion Loom"

    @classmethod
    def poll(cls, context):
        return context.mode in _MODES

    def draw(self, context):
        if context.object is None:
            self.layout.label(text="Select a rig or a mesh to begin", icon="INFO")


class _WorkflowPanel:
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Motion Loom"
    bl_parent_id = "MOTION_LOOM_PT_main"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        self.workflow.draw(layout, context)


def workflow_panel(workflow) -> type:
    """A Panel class that draws ``workflow``."""
    name = f"MOTION_LOOM_PT_{workflow.id}"
    return type(name, (_WorkflowPanel, bpy.types.Panel), {"bl_label": workflow.label, "workflow": workflow})
