"""The panel of Transfer: numbered steps, and what is rarely changed in a closed sub-panel below."""

from __future__ import annotations

from ...scene.pictures import icon_of
from ...solvers.core.errors import MotionLoomError
from ..interface.panel_parts import Shown, draw_notes, draw_range, draw_status, draw_text, draw_toggles, is_live
from ..mesh.panel import draw_bake, draw_feet, draw_mesh, draw_problem, is_baked
from .model import is_trained
from .notes import notes_of_learnt, notes_of_pairs, notes_of_subjects
from .pairs import active_clip
from .picture import is_current
from .run import costs
from .settings import gone_choice

_PICTURE = 9.0  # units of the interface


def draw(workflow, layout, context) -> None:
    """Draw Transfer's sub-panel for the active object."""
    draw_mesh(workflow, layout, context, _STEPS, _OPTIONS, "Select a mesh of the subject that is to move")


# -------------------------------------------------------------------------------------------------------- clips


def _is_read(shown: Shown) -> bool:
    clips = shown.chosen.clips
    return shown.chosen.subjects is not None and len(clips) > 0 and all(clip.stored for clip in clips if clip.use)


def _draw_clips(layout, shown: Shown) -> None:
    chosen, clip = shown.chosen, active_clip(shown.ob)
    layout.prop(chosen, "source")
    row = layout.row()
    row.template_list("MOTION_LOOM_UL_transfer_clips", "", chosen, "clips", chosen, "active_clip", rows=3)
    buttons = row.column(align=True)
    buttons.operator("motion_loom.transfer_add_clip", text="", icon="ADD")
    buttons.operator("motion_loom.transfer_remove_clip", text="", icon="REMOVE")
    if clip is not None:
        for of in ("source", "target"):
            column = layout.column(align=True)
            column.prop(clip, of)
            column.prop(clip, f"{of}_start")
            column.prop(clip, f"{of}_end")


def _draw_parts(layout, shown: Shown) -> None:
    chosen = shown.chosen
    suggest = layout.row(align=True)
    suggest.use_property_split = False  # else the button is cut off in a narrow sidebar
    suggest.prop(chosen, "part_count")
    suggest.operator("motion_loom.transfer_suggest_parts", text="Suggest", icon="LIGHT")
    row = layout.row()
    row.template_list("MOTION_LOOM_UL_transfer_parts", "", chosen, "parts", chosen, "active_part", rows=3)
    buttons = row.column(align=True)
    buttons.operator("motion_loom.transfer_add_part", text="", icon="ADD")
    buttons.operator("motion_loom.transfer_remove_part", text="", icon="REMOVE")
    if 0 <= chosen.active_part < len(chosen.parts) and chosen.source is not None:
        part = chosen.parts[chosen.active_part]
        column = layout.column(align=True)
        column.prop_search(part, "source_group", chosen.source, "vertex_groups")
        column.prop_search(part, "target_group", shown.ob, "vertex_groups")
        layout.prop(chosen, "show_parts")
    if not len(chosen.parts):
        draw_text(layout, shown.context, "Without parts the whole body is one", "INFO")
    if chosen.subjects is not None:
        box = layout.box().column()
        draw_text(box, shown.context, chosen.subjects_summary, "MESH_DATA")
        draw_notes(box, shown, notes_of_subjects)
    shown.workflow.button(layout, "fit", text="Read Clips" if chosen.subjects is None else "Read Clips Again")


# -------------------------------------------------------------------------------------------------------- pairs


def _is_paired(shown: Shown) -> bool:
    used = [clip for clip in shown.chosen.clips if clip.use]
    return bool(used) and all(len(clip.pairs) >= 2 for clip in used)


def _draw_pairs(layout, shown: Shown) -> None:
    chosen, clip = shown.chosen, active_clip(shown.ob)
    if clip is None:
        layout.label(text="Add clips first", icon="INFO")
        return
    row = layout.row()
    row.template_list("MOTION_LOOM_UL_transfer_pairs", "", clip, "pairs", clip, "active_pair", rows=4)
    buttons = row.column(align=True)
    buttons.operator("motion_loom.transfer_remove_pair", text="", icon="REMOVE")
    buttons.operator("motion_loom.transfer_show_pair", text="", icon="VIEWZOOM")
    layout.operator("motion_loom.transfer_suggest_pair", icon="LIGHT")
    layout.prop(chosen, "target_frame")
    layout.operator("motion_loom.transfer_add_pair", icon="ADD")
    layout.prop(chosen, "densify")
    _draw_gone(layout, shown, "densify")
    if clip.picture is not None:
        _draw_picture(layout, shown, clip)
    buttons = layout.row(align=True)
    shown.workflow.button(buttons, "densify", text="Densify")
    buttons.operator("motion_loom.transfer_edit_path", icon="IPO_EASE_IN_OUT")
    draw_toggles(layout, chosen, ("show_pair", "show_path"))
    draw_notes(layout, shown, notes_of_pairs)
    draw_problem(layout, shown)


def _draw_gone(layout, shown: Shown, name: str) -> None:
    """Says what takes the place of an older file's choice."""
    if text := gone_choice(shown.chosen, name):
        draw_text(layout, shown.context, text, "INFO")


def _draw_picture(layout, shown: Shown, clip) -> None:
    layout.template_icon(icon_value=icon_of(clip.picture), scale=_PICTURE)
    if shown.chosen.subjects is not None and not is_current(shown.ob, clip):
        draw_text(layout, shown.context, "Pairs or choices were changed since: densify again", "INFO")


# -------------------------------------------------------------------------------------------------------- train


def _is_trained(shown: Shown) -> bool:
    try:
        return is_trained(shown.ob)
    except MotionLoomError:
        return False  # the buttons say what is missing


def _draw_train(layout, shown: Shown) -> None:
    chosen = shown.chosen
    column = layout.column()
    column.prop(chosen, "kernel")
    column.prop(chosen, "noise")
    _draw_gone(layout, shown, "kernel")
    if chosen.learnt is not None:
        box = layout.box().column(align=True)
        draw_text(box, shown.context, chosen.learnt_summary, "MESH_DATA")
        if not _is_trained(shown):
            draw_text(box, shown.context, "Pairs or choices were changed since: train again", "ERROR")
        draw_notes(box, shown, notes_of_learnt)
    shown.workflow.button(layout, "train", text="Train" if chosen.learnt is None else "Train Again")


# --------------------------------------------------------------------------------------------------------- live


def _draw_live(layout, shown: Shown) -> None:
    chosen = shown.chosen
    layout.prop(chosen, "performed")
    draw_range(layout, chosen, "performed")
    shown.workflow.button(layout, "live", text="Live", icon="PLAY", depress=shown.workflow.is_on(shown.context))
    draw_toggles(layout, chosen, ("correct", "stitch"))
    layout.prop(chosen, "travel")
    if chosen.travel == "SOURCE":
        layout.prop(chosen, "travel_scale")
    draw_feet(layout, shown, chosen.subjects is not None)
    draw_status(layout, shown, "Read Clips")


# --------------------------------------------------------------------------------------------------------- bake


def _draw_bake(layout, shown: Shown) -> None:
    draw_bake(layout, shown, costs(shown.context, shown.ob))


_STEPS = (
    ("Clips", lambda shown: len(shown.chosen.clips) > 0, _draw_clips),
    ("Parts", _is_read, _draw_parts),
    ("Pairs", _is_paired, _draw_pairs),
    ("Train", _is_trained, _draw_train),
    ("Live", is_live, _draw_live),
    ("Bake", is_baked, _draw_bake),
)
_OPTIONS = ("keep_clearance", "hold_ground", "stretch", "components")
