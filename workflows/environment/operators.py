"""Buttons of the lists of what surrounds a rig, of any workflow with ``EnvironmentSettings``."""

from __future__ import annotations

import bpy

from ...scene.surfaces import SURFACE_TYPES
from ...solvers.core.errors import SceneError
from ..core.list_entries import remove_entry
from ..interface.operators import ExplainedOperator, OwnedOperator, ReportingOperator, owned_by
from ..rig.operators import why_no_rig
from .moved_keys import move_entry_keys
from .replaced import remove_replacement, replace_objects, set_hidden

_LISTS = (("surfaces", "Objects", ""), ("pins", "Pins", ""), ("bones", "Bones", ""))
# Of an entry that cannot be removed.
_INSTEAD = {"surfaces": "choose Ignore for it", "pins": "move it out of the range", "bones": "choose no bone for it"}


class _AddObjects(OwnedOperator, ExplainedOperator):
    """Add the selected objects to the environment of the active rig"""

    bl_label = "Add Selected Objects"
    bl_options = {"REGISTER", "UNDO"}
    needs = why_no_rig

    def execute(self, context):
        settings = self.owner().settings_of(context.object)
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


class _AddItem(OwnedOperator, ExplainedOperator):
    """Add an entry to a list of the active rig"""

    bl_label = "Add"
    bl_options = {"UNDO", "INTERNAL"}
    needs = why_no_rig

    items: bpy.props.EnumProperty(items=_LISTS)

    def execute(self, context):
        item = getattr(self.owner().settings_of(context.object), self.items).add()
        bone = context.active_pose_bone
        item.bone = bone.name if bone else ""
        if self.items == "pins":
            item.start = item.end = context.scene.frame_current
        _note(context.object)
        return {"FINISHED"}


class _OfEntry(OwnedOperator, ReportingOperator):
    """Changes what takes the place of the chosen entry of the list of objects."""

    bl_options = {"REGISTER", "UNDO"}
    needs = why_no_rig

    def apply(self, context):
        settings = self.owner().settings_of(context.object)
        if not 0 <= settings.active_surface < len(settings.surfaces):
            raise SceneError("The list of objects is empty; add those that the motion was made with first.")
        self.change(context, settings.surfaces[settings.active_surface])
        _note(context.object)


class _ReplaceByObjects(_OfEntry):
    """Let the other selected objects take the place of the chosen one of the list"""

    bl_label = "Replace by Selected"

    def change(self, context, item):
        chosen = [ob for ob in context.selected_objects if ob not in (context.object, item.target)]
        if not chosen:
            raise SceneError("Only the rig is selected; select what is there now as well (Shift click), the rig last.")
        replace_objects(context.object, item, chosen)


class _AddReplacement(_OfEntry):
    """Add an entry for an object that takes the place of the chosen one of the list"""

    bl_label = "Add Replacement"

    def change(self, context, item):
        item.replacements.add()


class _RemoveReplacement(_OfEntry):
    """Take an object off those that replace the chosen one of the list"""

    bl_label = "Remove Replacement"
    bl_options = {"UNDO", "INTERNAL"}

    index: bpy.props.IntProperty()

    def change(self, context, item):
        remove_replacement(item, self.index)


class _HideReplaced(_OfEntry):
    """Hide the object that has been replaced in viewports and renders, or show it again"""

    bl_label = "Hide Replaced"

    def change(self, context, item):
        if item.target is None:
            raise SceneError(f"'{item.name}' was deleted; there is nothing to hide.")
        set_hidden(item.target, not item.target.hide_viewport)


class _RemoveItem(OwnedOperator, ReportingOperator):
    """Remove an entry from a list of the active rig"""

    bl_label = "Remove"
    bl_options = {"UNDO", "INTERNAL"}
    needs = why_no_rig

    items: bpy.props.EnumProperty(items=_LISTS)
    index: bpy.props.IntProperty(default=-1)

    def execute(self, context):
        settings = self.owner().settings_of(context.object)
        entries = getattr(settings, self.items)
        index = settings.active_surface if self.index < 0 else self.index
        if not 0 <= index < len(entries):
            return {"CANCELLED"}
        name = getattr(entries[index], "bound_name", "") or entries[index].name
        try:
            remove_entry(settings, self.items, index, f"Entry {index + 1}", _INSTEAD[self.items])
        except SceneError as error:
            return self.failed(error)
        if self.items == "surfaces":
            places = {k: k - (k > index) for k in range(len(entries) + 1) if k != index}
            if move_entry_keys(context.object, self.owner(), places):
                text = f"The keys of the influence of '{name}' are gone with it; undo brings both back"
                self.report({"WARNING"}, text)
        settings.active_surface = min(settings.active_surface, len(settings.surfaces) - 1)
        _note(context.object)
        return {"FINISHED"}


def environment_operators(workflow_id: str) -> tuple[type, ...]:
    """The buttons of a workflow's lists: add selected objects, add and remove an entry, replace
    an object by others."""
    bases = {
        "add_objects": _AddObjects,
        "add_item": _AddItem,
        "remove_item": _RemoveItem,
        "replace_by_objects": _ReplaceByObjects,
        "add_replacement": _AddReplacement,
        "remove_replacement": _RemoveReplacement,
        "hide_replaced": _HideReplaced,
    }
    return tuple(owned_by(workflow_id, name, base) for name, base in bases.items())


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
