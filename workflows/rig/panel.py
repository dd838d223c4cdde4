"""What panels of workflows of rigs share: which rig is shown, live, and what a result is baked to."""

from __future__ import annotations

from collections.abc import Sequence

from ..interface.panel_parts import Shown, draw_linked, draw_status, draw_steps, draw_text, draw_toggles
from .action import plays_result


def draw_rig(workflow, layout, context, steps, parts: Sequence[tuple] = ()) -> None:
    """Draw the sub-panel of a ``RigWorkflow`` for the active object.

    steps: see ``panel_parts.draw_steps``.  parts: (name, title, draw) of what is rarely changed, in closed sub-panels
    below; a setting of that name is a list whose length the heading tells.
    """
    ob = context.object
    if ob is None or ob.type != "ARMATURE":
        _draw_no_rig(layout, context, ob)
        return
    if ob.library is not None:
        draw_linked(layout, context, ob, "make a library override of it, or a local copy")
        return
    shown = Shown.of(workflow, context, ob)
    draw_steps(layout, steps, shown)
    for name, title, draw_part in parts:
        header, body = layout.panel(f"motion_loom_{workflow.id}_{name}", default_closed=True)
        count = len(getattr(shown.chosen, name, ()))
        header.label(text=f"{title} ({count})" if count else title)
        if body:
            draw_part(body, shown)


def draw_live(layout, shown: Shown) -> None:
    """The switch, the factors, and how live stands."""
    chosen = shown.chosen
    shown.workflow.button(layout, "live", text="Live", icon="PLAY", depress=chosen.live)
    factors = layout.column(align=True)
    factors.use_property_decorate = True  # the dots key them
    for name in shown.workflow.factors:
        factors.prop(chosen, name, slider=True)
    draw_status(layout, shown)


def draw_bake(layout, shown: Shown) -> None:
    """What the result is baked to, and the buttons. The workflow has ``rig.operators.rig_operators``."""
    chosen = shown.chosen
    draw_toggles(layout, chosen, ("assign", "bake_strip"))
    column = layout.column()
    column.prop(chosen, "bake_step")
    column.prop(chosen, "bake_at_keys")
    if not chosen.bake_at_keys:
        column.prop(chosen, "bake_reduce")
    if chosen.bake_reduce and not chosen.bake_at_keys:
        column.prop(chosen, "bake_error")
    shown.workflow.button(layout, "bake")
    if is_baked(shown):
        layout.operator(f"motion_loom.{shown.workflow.id}_play_source", icon="LOOP_BACK")
    shown.workflow.button(layout, "copy_command", text="Copy Command", icon="COPYDOWN")


def draw_controls(layout, shown: Shown) -> None:
    """Which controls get the result, on a rig whose bones are moved by controls. Its part is called ``controls``."""
    chosen = shown.chosen
    if not len(chosen.controls):
        text = "Bind lists the controls of a rig whose bones are moved by controls; on this one bones are keyed"
        draw_text(layout, shown.context, text, "INFO")
        return
    column = layout.column()
    column.prop(chosen, "write_to")
    column.prop(chosen, "trunk")
    layout.template_list("MOTION_LOOM_UL_controls", "", chosen, "controls", chosen, "active_control", rows=6)
    row = layout.row(align=True)
    row.operator(f"motion_loom.{shown.workflow.id}_only_selected", text="Only Selected", icon="RESTRICT_SELECT_OFF")
    row.operator(f"motion_loom.{shown.workflow.id}_all_controls", text="All")
    _draw_presets(layout, shown.workflow.id)
    if 0 <= chosen.active_control < len(chosen.controls):
        item = chosen.controls[chosen.active_control]
        link = layout.operator("motion_loom.show_bone", text=item.name, icon="BONE_DATA", translate=False)
        link.bone, link.frame = item.name, shown.context.scene.frame_current


def _draw_presets(layout, workflow_id: str) -> None:
    row = layout.row(align=True)
    load, remove = f"motion_loom.{workflow_id}_load_controls", f"motion_loom.{workflow_id}_remove_controls"
    row.operator_menu_enum(load, "name", text="Presets", icon="PRESET")
    row.operator(f"motion_loom.{workflow_id}_save_controls", text="", icon="ADD")
    row.operator_menu_enum(remove, "name", text="", icon="REMOVE")
    row.operator(f"motion_loom.{workflow_id}_load_controls_file", text="", icon="FILEBROWSER")


def is_baked(shown: Shown) -> bool:
    """Whether the rig plays the last result."""
    return plays_result(shown.ob, shown.workflow)


def _draw_no_rig(layout, context, ob) -> None:
    shown = ob.instance_collection if ob is not None and ob.instance_type == "COLLECTION" else None
    rigs = [inner.name for inner in shown.all_objects if inner.type == "ARMATURE"] if shown else []
    if not rigs:
        layout.label(text="Select an armature", icon="INFO")
        return
    rig = "its rig" if rigs[0] == ob.name else f"its rig '{rigs[0]}'"
    text = (
        f"'{ob.name}' is an instance of a collection. To use {rig}, make a library override "
        "(Object > Library Override) or make the instance real (Object > Apply)"
    )
    draw_text(layout, context, text, "INFO")
