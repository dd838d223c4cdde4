"""The panel of Map: numbered steps, and what is rarely changed in a closed sub-panel below."""

from __future__ import annotations

from ...solvers.core.errors import InputError, MotionLoomError
from ..interface.panel_parts import Shown, draw_notes, draw_range, draw_status, draw_text, draw_toggles, is_live
from ..mesh.panel import draw_bake, draw_feet, draw_mesh, draw_problem, is_baked
from .doubts import source_doubts
from .model import confidence_now, steps_notes, travel_note
from .notes import notes_of_pairs, notes_of_target
from .pairs import left_unknown, suggested_gains
from .run import costs_of
from .weighing import weights_of

_CONFIDENT = 0.5


def draw(workflow, layout, context) -> None:
    """Draw Map's sub-panel for the active object."""
    draw_mesh(workflow, layout, context, _STEPS, _OPTIONS, "Select the mesh that is to move")


# -------------------------------------------------------------------------------------------------------- learn


def _is_learnt(shown: Shown) -> bool:
    return shown.chosen.learnt is not None and shown.chosen.clip is not None


def _draw_learn(layout, shown: Shown) -> None:
    chosen = shown.chosen
    layout.prop(chosen, "source")
    if chosen.source is None:
        layout.prop(chosen, "source_collection")
    elif chosen.source.type == "MESH":
        layout.prop_search(chosen, "source_group", chosen.source, "vertex_groups")
    draw_range(layout, chosen, "source")
    layout.prop(chosen, "ground")
    layout.separator()
    layout.prop(chosen, "target_motion")
    if chosen.target_motion == "ANIMATION":
        draw_range(layout, chosen, "target")
    layout.prop(chosen, "target_ground")
    if chosen.learnt is not None:
        box = layout.box().column(align=True)
        for text, icon in ((chosen.clip_summary, "OUTLINER_OB_ARMATURE"), (chosen.learnt_summary, "MESH_DATA")):
            draw_text(box, shown.context, text, icon)
        draw_notes(box, shown, source_doubts)
        draw_notes(box, shown, notes_of_target)
    shown.workflow.button(layout, "fit", text="Learn Target" if chosen.learnt is None else "Learn Again")


# -------------------------------------------------------------------------------------------------------- pairs


def _is_paired(shown: Shown) -> bool:
    return sum(pair.use for pair in shown.chosen.pairs) >= 2


def _draw_pairs(layout, shown: Shown) -> None:
    chosen = shown.chosen
    row = layout.row()
    row.template_list("MOTION_LOOM_UL_pairs", "", chosen, "pairs", chosen, "active_pair", rows=4)
    buttons = row.column(align=True)
    buttons.operator("motion_loom.map_remove_pair", text="", icon="REMOVE")
    buttons.operator("motion_loom.map_show_pair", text="", icon="VIEWZOOM")
    buttons.separator()
    buttons.operator("motion_loom.map_load_pairs", text="", icon="FILE_FOLDER")
    buttons.operator("motion_loom.map_save_pairs", text="", icon="FILE_TICK")
    suggestions = layout.row(align=True)
    suggestions.operator("motion_loom.map_suggest", icon="LIGHT")
    suggestions.operator("motion_loom.map_next_suggestion", text="", icon="TRIA_LEFT").step = -1
    suggestions.operator("motion_loom.map_next_suggestion", text="", icon="TRIA_RIGHT").step = 1
    if chosen.suggestions:
        suggestions.label(text=f"{chosen.suggestion + 1} of {len(chosen.suggestions.split())}")
    _draw_gains(layout, shown)
    layout.prop(chosen, "weigh_by")
    if chosen.weigh_by == "CUSTOM":
        ends = layout.column(align=True)
        ends.prop(chosen, "weigh_start")
        ends.prop(chosen, "weigh_end")
    draw_notes(layout, shown, notes_of_pairs)
    _draw_confidence(layout, shown)
    layout.prop(chosen, "target_frame")
    layout.operator("motion_loom.map_add_pair", icon="ADD")
    layout.operator("motion_loom.map_perform", icon="REC")
    draw_toggles(layout, chosen, ("show_pair", "show_scores"))
    draw_problem(layout, shown)


def _draw_gains(layout, shown: Shown) -> None:
    """What a pair at each of the suggested frames gains, of what the pairs leave unknown by now."""
    try:
        weights_of(shown.context.scene, shown.ob)
        gains = suggested_gains(shown.context.scene, shown.ob)
        left = left_unknown(shown.context.scene, shown.ob) if gains else 0.0
    except InputError as error:
        draw_text(layout, shown.context, str(error), "ERROR")
        return
    except MotionLoomError:
        return  # the buttons say what is missing
    column = layout.column(align=True)
    if gains:
        column.label(text=f"The pairs leave {left:.0%} unknown", icon="INFO")
    for number, (frame, gain) in enumerate(gains):
        icon = "RADIOBUT_ON" if number == shown.chosen.suggestion else "RADIOBUT_OFF"
        column.label(text=f"Frame {frame:g}: gains {gain:.1%} of what is left", icon=icon, translate=False)


def _draw_confidence(layout, shown: Shown) -> None:
    """Of the map at the source's present pose; drawn red while it is low."""
    try:
        confidence = confidence_now(shown.context, shown.ob)
    except MotionLoomError:
        return  # the buttons say what is missing
    if confidence is not None:
        bar = layout.row()
        bar.alert = confidence < _CONFIDENT
        bar.progress(factor=confidence, text=f"Confidence {confidence:.0%}")


# --------------------------------------------------------------------------------------------------------- live


def _draw_live(layout, shown: Shown) -> None:
    chosen = shown.chosen
    shown.workflow.button(layout, "live", text="Live", icon="PLAY", depress=shown.workflow.is_on(shown.context))
    column = layout.column()
    column.prop(chosen, "live_input")
    column.prop(chosen, "travel")
    if _is_learnt(shown):
        _draw_travel(column, shown)
    if chosen.travel == "STRIDE":
        column.prop(chosen, "stride")
    if chosen.travel != "NONE":
        column.prop(chosen, "travel_scale")
    column.prop(chosen, "turn_ratio")
    draw_feet(column, shown, chosen.learnt is not None)
    draw_status(layout, shown)


def _draw_travel(layout, shown: Shown) -> None:
    """What its travel stands on, and what is worth knowing of its steps."""
    try:
        note = travel_note(shown.ob)
        draw_text(layout, shown.context, note[:1].upper() + note[1:], "INFO")
        for note in () if shown.chosen.live_input else steps_notes(shown.ob):
            draw_text(layout, shown.context, note, "INFO")
    except MotionLoomError:
        return  # the buttons say so


# --------------------------------------------------------------------------------------------------------- bake


def _draw_bake(layout, shown: Shown) -> None:
    draw_bake(layout, shown, costs_of(shown.ob))


_STEPS = (
    ("Learn", _is_learnt, _draw_learn),
    ("Pairs", _is_paired, _draw_pairs),
    ("Live", is_live, _draw_live),
    ("Bake", is_baked, _draw_bake),
)
_OPTIONS = ("meet_pairs", "edge", "hold_ground", "smoothing", "components")
