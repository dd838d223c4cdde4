"""The panel of Adapt: numbered steps, and what is rarely changed in closed sub-panels below."""

from __future__ import annotations

import numpy as np

from ...scene.interference import overriding, what_overrides
from ...scene.motion import motion_range, source_of, why_unread
from ...solvers.core.errors import MotionLoomError
from ..environment.changes import bound_before
from ..environment.joints import is_chosen_anew, role_in_words
from ..environment.replaced import is_replaced, why_not_replaced
from ..environment.surfaces import why_gone
from ..interface.panel_parts import (
    Shown,
    draw_range,
    draw_text,
    draw_toggles,
    is_live,
)
from ..interface.wrapping import length
from ..rig.panel import draw_bake, draw_controls, draw_live, draw_rig, is_baked
from .contacts_panel import draw_contacts
from .report_panel import draw_doubts, draw_report

_NAME_WIDTH = 70.0  # pixels that a row of the list has for a name in a sidebar of the usual width


def draw(workflow, layout, context) -> None:
    """Draw Adapt's sub-panel for the active object."""
    draw_rig(workflow, layout, context, _STEPS, _PARTS)


# ------------------------------------------------------------------------------------------------ environment


def _has_environment(shown: Shown) -> bool:
    return any(item.target for item in shown.chosen.surfaces)


def _draw_environment(layout, shown: Shown) -> None:
    chosen = shown.chosen
    row = layout.row()
    row.template_list("MOTION_LOOM_UL_surfaces", "", chosen, "surfaces", chosen, "active_surface", rows=3)
    buttons = row.column(align=True)
    buttons.operator("motion_loom.adapt_add_objects", text="", icon="ADD")
    buttons.operator("motion_loom.adapt_remove_item", text="", icon="REMOVE").items = "surfaces"
    if not len(chosen.surfaces):
        draw_text(layout, shown.context, "Select what the motion deals with, the rig last, and press +", "INFO")
    elif 0 <= chosen.active_surface < len(chosen.surfaces):
        item = chosen.surfaces[chosen.active_surface]
        _draw_long_name(layout, shown, item)
        _draw_replaced(layout.column(align=True), shown, item)


def _draw_long_name(layout, shown: Shown, item) -> None:
    """The whole name of the chosen entry where its row has no room for it."""
    name = item.target.name if item.target else item.name
    if length(name) > _NAME_WIDTH:
        draw_text(layout, shown.context, name, "OBJECT_DATA")


def _draw_replaced(layout, shown: Shown, item) -> None:
    """What takes the place of the chosen entry, and how its points go over."""
    row = layout.row(align=True)
    row.label(text="Replaced By", icon="FILE_REFRESH")
    row.operator("motion_loom.adapt_replace_by_objects", text="", icon="RESTRICT_SELECT_OFF")
    row.operator("motion_loom.adapt_add_replacement", text="", icon="ADD")
    for index, each in enumerate(item.replacements):
        row = layout.row(align=True)
        row.prop(each, "target", text="")
        row.operator("motion_loom.adapt_remove_replacement", text="", icon="X").index = index
    if not is_replaced(item):
        return
    layout.prop(item, "along", text="")
    target = item.target
    if target is not None:
        hidden = target.hide_viewport
        text, icon = (f"Show '{target.name}'", "HIDE_ON") if hidden else (f"Hide '{target.name}'", "HIDE_OFF")
        layout.operator("motion_loom.adapt_hide_replaced", text=text, icon=icon, translate=False)
    for text in why_not_replaced(shown.context.scene, shown.ob, item):
        draw_text(layout, shown.context, text, "ERROR")


# ------------------------------------------------------------------------------------------------------- bind


def _is_bound(shown: Shown) -> bool:
    return shown.chosen.binding is not None and not _differences(shown) and not is_chosen_anew(shown.ob, shown.workflow)


def _draw_bind(layout, shown: Shown) -> None:
    chosen = shown.chosen
    if draw_range(layout, chosen):
        _draw_range_warning(layout, shown)
        _draw_way_back(layout, chosen)
    if chosen.binding is not None:
        _draw_bound(layout.box().column(align=True), shown)
        if is_chosen_anew(shown.ob, shown.workflow):
            draw_text(layout, shown.context, "The chosen joints are not the bound ones: Bind Again", "ERROR")
        for text in _differences(shown):
            draw_text(layout, shown.context, text, "ERROR")
        shown.workflow.button(layout, "update_binding", icon="LINKED")
    _draw_overriding(layout, shown)
    shown.workflow.button(layout, "fit", text="Bind" if chosen.binding is None else "Bind Again")


def _differences(shown: Shown) -> list[str]:
    """How the list differs from what is bound, a sentence each."""
    stored, chosen = bound_before(shown.ob, shown.workflow), shown.chosen
    items = {item.bound_name: item for item in chosen.surfaces if item.bound_name}
    names = stored.binding.objects if stored is not None else ()
    reasons = {name: _why_gone(shown.context.scene, items.get(name)) for name in names}
    out = [f"'{name}' {reason}" for name, reason in reasons.items() if reason]
    new = sum(item.target is not None and not item.bound_name for item in chosen.surfaces)
    if new:
        out.append(f"{new} {'object is' if new == 1 else 'objects are'} not bound yet")
    return out


def _why_gone(scene, item) -> str | None:
    return None if item is not None and is_replaced(item) else why_gone(scene, item)


def _draw_bound(layout, shown: Shown) -> None:
    chosen = shown.chosen
    if chosen.source is not None:
        layout.label(text=chosen.source.name, icon="ACTION", translate=False)
    points, _, rest = chosen.summary.partition(", ")
    layout.label(text=points, icon="LINKED")
    layout.label(text=rest, icon="BLANK1")
    for note in chosen.notes.splitlines():
        draw_text(layout, shown.context, note, "INFO")


def _draw_overriding(layout, shown: Shown) -> None:
    """That results are written to controls where something of the rig overrides its bones, and the other way."""
    found = overriding(shown.ob, set(), shown.chosen.limits)
    if found and not len(shown.chosen.controls):
        text = f"{what_overrides(shown.ob, found)}: Bind measures its controls, and results are written to these"
        draw_text(layout, shown.context, text, "INFO")
        layout.operator("motion_loom.copy_deform_bones", icon="OUTLINER_OB_ARMATURE")


def _draw_way_back(layout, chosen) -> None:
    """What becomes of the frames outside of a range; holding still is offered where an older file has it."""
    if chosen.holds_outside:
        layout.prop(chosen, "holds_outside")
    else:
        layout.prop(chosen, "range_blend")


def _draw_range_warning(layout, shown: Shown) -> None:
    chosen = shown.chosen
    try:
        first, last = motion_range(shown.context.scene, shown.ob)
        before, after = why_unread(shown.context.scene, shown.ob, source_of(shown.ob), np.array([first, last]))
    except MotionLoomError:
        return  # the button says that there is nothing to bind
    # What repeats or is carried moves also where there are no keys.
    first = min(first, chosen.start) if before else first
    last = max(last, chosen.end) if after else last
    if chosen.start < first or chosen.end > last or chosen.start > chosen.end:
        reason = "The range is empty" if chosen.start > chosen.end else "Part of the range has no keys"
        if chosen.start > last or chosen.end < first:
            reason = "The range lies outside the animation"
        draw_text(layout, shown.context, f"{reason}: the animation runs from {first:g} to {last:g}", "ERROR")


# ------------------------------------------------------------------------------------------------------- live


def _draw_live(layout, shown: Shown) -> None:
    draw_live(layout, shown)
    overlays = layout.column(align=True)
    for pair in (("show_ghost", "show_contacts"), ("show_points", "show_relations")):
        draw_toggles(overlays, shown.chosen, pair)
    if len(shown.chosen.controls):
        draw_toggles(overlays, shown.chosen, ("show_missing",))


# ------------------------------------------------------------------------------------------------------- bake


def _draw_bake(layout, shown: Shown) -> None:
    draw_bake(layout, shown)
    draw_doubts(layout, shown)


# ---------------------------------------------------------------------------------------------------- closed


def _draw_joints(layout, shown: Shown) -> None:
    chosen = shown.chosen
    if not len(chosen.joints):
        draw_text(layout, shown.context, "Bind lists what is solved, what rides on it and what stays, by limb", "INFO")
        return
    layout.template_list("MOTION_LOOM_UL_joints", "", chosen, "joints", chosen, "active_joint", rows=6)
    if 0 <= chosen.active_joint < len(chosen.joints):
        draw_text(layout, shown.context, role_in_words(chosen.joints[chosen.active_joint]), "BONE_DATA")
    if is_chosen_anew(shown.ob, shown.workflow):
        draw_text(layout, shown.context, "Bind Again to use what is chosen", "ERROR")


def _draw_options(layout, shown: Shown) -> None:
    chosen = shown.chosen
    column = layout.column()
    for name in ("clearance", "contact"):
        column.prop(chosen, name)
        if getattr(chosen, name) == "USER":
            column.prop(chosen, f"{name}_distance")
    column.prop(chosen, "orientation", slider=True)
    column.prop(chosen, "limits")


def _draw_pins(layout, shown: Shown) -> None:
    for index, pin in enumerate(shown.chosen.pins):
        box = layout.box().column()
        _draw_bone(box, shown.ob, pin, "pins", index)
        box.prop(pin, "target", text="")
        pair = box.row(align=True)
        pair.use_property_split = False
        pair.prop(pin, "start")
        pair.prop(pin, "end")
    layout.operator("motion_loom.adapt_add_item", text="Add Pin", icon="ADD").items = "pins"


def _draw_bones(layout, shown: Shown) -> None:
    for index, item in enumerate(shown.chosen.bones):
        box = layout.box().column()
        _draw_bone(box, shown.ob, item, "bones", index)
        box.prop(item, "factor")
    layout.operator("motion_loom.adapt_add_item", text="Add Bone", icon="ADD").items = "bones"


def _draw_bone(layout, ob, item, items: str, index: int) -> None:
    row = layout.row(align=True)
    row.prop_search(item, "bone", ob.data, "bones", text="")
    remove = row.operator("motion_loom.adapt_remove_item", text="", icon="X")
    remove.items, remove.index = items, index


_STEPS = (
    ("Environment", _has_environment, _draw_environment),
    ("Bind", _is_bound, _draw_bind),
    ("Live", is_live, _draw_live),
    ("Bake", is_baked, _draw_bake),
)
# The first column also names the list whose length the heading tells.
_PARTS = (
    ("report", "Report", draw_report),
    ("joints", "Joints", _draw_joints),
    ("contacts", "Contacts", draw_contacts),
    ("controls", "Controls", draw_controls),
    ("options", "Options", _draw_options),
    ("pins", "Pins", _draw_pins),
    ("bones", "Bone Hold", _draw_bones),
)
