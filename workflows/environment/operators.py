"""What only Adapt has: its lists, and the way back from a result."""

from __future__ import annotations

import bpy

from ...scene.surfaces import SURFACE_TYPES
from ...solvers.core.errors import SceneError
from ..adapt.deform_copy_operator import MOTION_LOOM_OT_copy_deform_bones
from ..core import registry
from ..core.list_entries import remove_entry
from ..interface.operators import ChangeOperator, ExplainedOperator, ReportingOperator
from ..rig.action import play_source, plays_result

_LISTS = (("surfaces", "Objects", ""), ("pins", "Pins", ""), ("bones", "Bones", ""))
# Of an entry that cannot be removed.
_INSTEAD = {"surfaces": "choose Ignore for it", "pins": "move it out of the range", "bones": "choose no bone for it"}


def why_no_rig(context) -> str | None:
    """That the active object is no armature, or None."""
    ob = getattr(context, "object", None)  # timers have no such context
    return None if ob is not None and ob.type == "ARMATURE" else "Make the armature the active object"


def why_no_result(context) -> str | None:
    """Why there is no way back from a result, or None."""
    reason = why_no_rig(context)
    return reason or (None if plays_result(context.object, _adapt()) else "The rig does not play a result of Adapt")


class MOTION_LOOM_OT_adapt_add_objects(ExplainedOperator, bpy.types.Operator):
    """Add the selected objects to the environment of the active rig"""

    bl_idname = "motion_loom.adapt_add_objects"
    bl_label = "Add Selected Objects"
    bl_options = {"REGISTER", "UNDO"}
    needs = why_no_rig

    def execute(self, context):
        settings = context.object.motion_loom_adapt
        present = {item.target for item in settings.surfaces}
        selected = [o for o in context.selected_objects if o != context.object]
        chosen = [o for o in selected if o.type in SURFACE_TYPES and o not in present]
        if not chosen:
            self.report({"WARNING"}, _why_nothing_is_added(selected, present))
            return {"CANCELLED"}
        for ob in chosen:
            item = settings.surfaces.add()
            item.name, item.target = ob.name, ob
        settings.active_surface = len(settings.surfaces) - 1
        _note(context.object)
        return {"FINISHED"}


class MOTION_LOOM_OT_adapt_add_item(ExplainedOperator, bpy.types.Operator):
    """Add an entry to a list of the active rig"""

    bl_idname = "motion_loom.adapt_add_item"
    bl_label = "Add"
    bl_options = {"UNDO", "INTERNAL"}
    needs = why_no_rig

    items: bpy.props.EnumProperty(items=_LISTS)

    def execute(self, context):
        item = getattr(context.object.motion_loom_adapt, self.items).add()
        bone = context.active_pose_bone
        item.bone = bone.name if bone else ""
        if self.items == "pins":
            item.start = item.end = context.scene.frame_current
        _note(context.object)
        return {"FINISHED"}


class MOTION_LOOM_OT_adapt_remove_item(ReportingOperator, bpy.types.Operator):
    """Remove an entry from a list of the active rig"""

    bl_idname = "motion_loom.adapt_remove_item"
    bl_label = "Remove"
    bl_options = {"UNDO", "INTERNAL"}
    needs = why_no_rig

    items: bpy.props.EnumProperty(items=_LISTS)
    index: bpy.props.IntProperty(default=-1)

    def execute(self, context):
        settings = context.object.motion_loom_adapt
        entries = getattr(settings, self.items)
        index = settings.active_surface if self.index < 0 else self.index
        if not 0 <= index < len(entries):
            return {"CANCELLED"}
        try:
            remove_entry(settings, self.items, index, f"Entry {index + 1}", _INSTEAD[self.items])
        except SceneError as error:
            return self.failed(error)
        settings.active_surface = min(settings.active_surface, len(settings.surfaces) - 1)
        _note(context.object)
        return {"FINISHED"}


class MOTION_LOOM_OT_adapt_play_source(ChangeOperator, bpy.types.Operator):
    """Play the bound action again, with everything that only the result animated as it was before"""

    bl_idname = "motion_loom.adapt_play_source"
    bl_label = "Play Source"
    needs = why_no_result

    def apply(self, context):
        play_source(context.object, _adapt())


def _adapt():
    return registry.by_id("adapt")


def _note(ob) -> None:
    """Blender evaluates nothing where a list changes: what is live would not look at it."""
    ob.update_tag(refresh={"OBJECT"})


def _why_nothing_is_added(selected, present) -> str:
    if not selected:
        return "Only the rig is selected: select what the motion deals with as well (Shift click), the rig last"
    known = [ob.name for ob in selected if ob in present]
    if known:
        return f"'{known[0]}' is in the list already: select other objects as well, the rig last"
    return f"'{selected[0].name}' has no surface: select meshes, curves, texts or metaballs, the rig last"


CLASSES = (
    MOTION_LOOM_OT_adapt_add_objects,
    MOTION_LOOM_OT_adapt_add_item,
    MOTION_LOOM_OT_adapt_remove_item,
    MOTION_LOOM_OT_adapt_play_source,
    MOTION_LOOM_OT_copy_deform_bones,
)
