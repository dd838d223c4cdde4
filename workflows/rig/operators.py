"""Buttons of results on rigs, of any ``RigWorkflow``."""

from __future__ import annotations

import bpy

from ...scene.blend_file import from_scene
from ..interface.operators import ChangeOperator, OwnedOperator, ReportingOperator, owned_by
from .action import play_source, plays_result
from .control_list import choose_controls, choose_selected
from .control_presets import preset_names, preset_path, read_preset, remove_preset, save_preset, use_preset


def why_no_rig(context) -> str | None:
    """That the active object is no armature, or None."""
    ob = getattr(context, "object", None)  # timers have no such context
    return None if ob is not None and ob.type == "ARMATURE" else "Make the armature the active object"


class _PlaySource(OwnedOperator, ChangeOperator):
    """Play the bound action again, with everything that only the result animated as it was before"""

    bl_label = "Play Source"

    @classmethod
    def needs(cls, context) -> str | None:
        reason, workflow = why_no_rig(context), cls.owner()
        if reason is None and not plays_result(context.object, workflow):
            return f"The rig does not play a result of {workflow.label}"
        return reason

    def apply(self, context):
        play_source(context.object, self.owner())


class _OnlySelected(OwnedOperator, ChangeOperator):
    """Write results to the selected bones alone, as far as they are controls"""

    bl_label = "Only Selected Controls"
    needs = why_no_rig

    def apply(self, context):
        return choose_selected(context.object, self.owner())


class _AllControls(OwnedOperator, ChangeOperator):
    """Write results to every control that Write To and Trunk ask for"""

    bl_label = "All Controls"
    needs = why_no_rig

    def apply(self, context):
        choose_controls(self.owner().settings_of(context.object), ())


_items: list[tuple[str, str, str]] = []  # Blender keeps no reference to the texts of a list that is made anew


def _presets(_operator, _context) -> list[tuple[str, str, str]]:
    _items[:] = [(name, name, "") for name in preset_names()]
    return _items


class _SaveControls(OwnedOperator, ChangeOperator):
    """Keep which controls are written, Write To and Trunk as a preset, for every rig with controls of these names"""

    bl_label = "Save Control Preset"
    bl_options = {"REGISTER"}
    needs = why_no_rig
    __annotations__ = {"name": bpy.props.StringProperty(name="Name", default="Controls")}

    def invoke(self, context, _event):
        return context.window_manager.invoke_props_dialog(self)

    def apply(self, context):
        return save_preset(self.owner().settings_of(context.object), preset_path(self.name, make_folder=True))


class _LoadControls(OwnedOperator, ChangeOperator):
    """Write to the controls of a preset, as far as the rig has them"""

    bl_label = "Load Control Preset"
    bl_property = "name"
    needs = why_no_rig
    __annotations__ = {"name": bpy.props.EnumProperty(name="Preset", items=_presets)}

    def apply(self, context):
        path = str(preset_path(self.name))
        return use_preset(self.owner().settings_of(context.object), path, read_preset(path))


class _RemoveControls(OwnedOperator, ReportingOperator):
    """Delete a preset of controls"""

    bl_label = "Remove Control Preset"
    needs = why_no_rig
    __annotations__ = {"name": bpy.props.EnumProperty(name="Preset", items=_presets)}

    def apply(self, _context):
        return remove_preset(self.name)


class _LoadControlsFile(OwnedOperator, ChangeOperator):
    """Write to the controls of a preset in a file, as far as the rig has them"""

    bl_label = "Load Control Preset from File"
    needs = why_no_rig
    __annotations__ = {
        "filepath": bpy.props.StringProperty(name="File", subtype="FILE_PATH"),
        "filter_glob": bpy.props.StringProperty(default="*.json", options={"HIDDEN"}),
    }

    def invoke(self, context, _event):
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def apply(self, context):
        path = from_scene(self.filepath)
        return use_preset(self.owner().settings_of(context.object), path, read_preset(path))


def rig_operators(workflow_id: str) -> tuple[type, ...]:
    """The way back from a workflow's result, the choice of controls and its presets."""
    bases = {
        "play_source": _PlaySource, "only_selected": _OnlySelected, "all_controls": _AllControls,
        "save_controls": _SaveControls, "load_controls": _LoadControls, "remove_controls": _RemoveControls,
        "load_controls_file": _LoadControlsFile,
    }  # fmt: skip
    return tuple(owned_by(workflow_id, name, base) for name, base in bases.items())
