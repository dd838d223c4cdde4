"""What panels of workflows share whose result is a mesh: which mesh is shown, its options, and what it is baked to."""

from __future__ import annotations

from ...state.overlay_problems import problem_of
from ..interface.panel_parts import Shown, draw_linked, draw_range, draw_steps, draw_text
from .bake import PC2, PCA_KEYS
from .may_stand import group_missing, group_renamed
from .plants import FREE, hold_of, older_note, said_of, text_of
from .target import target_in


def draw_mesh(workflow, layout, context, steps, options, missing: str) -> None:
    """Draw the sub-panel of a ``MeshWorkflow`` for the active object.

    steps: see ``panel_parts.draw_steps``; they are called with a ``Shown``.  options: names of settings that are rarely
    changed, in a closed sub-panel below.  missing: what to do where no mesh is active.
    """
    ob = target_in(context)
    if ob is None:
        layout.label(text=missing, icon="INFO")
        return
    if ob.library is not None:
        draw_linked(layout, context, ob)
        return
    shown = Shown.of(workflow, context, ob)
    draw_steps(layout, steps, shown)
    header, body = layout.panel(f"motion_loom_{workflow.id}_options", default_closed=True)
    header.label(text="Options")
    if body:
        column = body.column()
        for name in options:
            column.prop(shown.chosen, name)


def draw_problem(layout, shown: Shown) -> None:
    """Why the overlay is not shown, where that is so."""
    problem = problem_of(shown.workflow.id, shown.context.object)
    if problem:
        draw_text(layout, shown.context, problem, "ERROR")


def draw_feet(layout, shown: Shown, is_learnt: bool) -> None:
    """How feet are held, on what, and what came of it.  is_learnt: something is, maybe by an older version."""
    chosen = shown.chosen
    layout.prop(chosen, "feet")
    for note in older_note(chosen, is_learnt):
        draw_text(layout, shown.context, note, "INFO")
    if hold_of(chosen, is_learnt) == FREE:
        return
    layout.prop_search(chosen, "stand_group", shown.ob, "vertex_groups")
    missing = group_missing(shown.ob, chosen)
    if missing:
        draw_text(layout, shown.context, missing, "ERROR")
    renamed = group_renamed(shown.ob, chosen)
    if renamed:
        draw_text(layout, shown.context, renamed, "INFO")
    layout.prop(chosen, "stands_on")
    said = said_of(shown.ob, shown.workflow.id)
    if is_learnt and said is not None:
        text = text_of(said)
        draw_text(layout, shown.context, text[:1].upper() + text[1:], "INFO")


def draw_bake(layout, shown: Shown, costs: dict[str, str]) -> None:
    """What the result is baked to, and the buttons.

    costs: what each kind takes, by kind, as far as known; see ``mesh.bake.costs_of``.
    """
    chosen = shown.chosen
    layout.prop(chosen, "bake_kind")
    if chosen.bake_kind == PC2:
        layout.prop(chosen, "bake_folder")
    if chosen.bake_kind == PCA_KEYS:
        layout.prop(chosen, "bake_keys")
    layout.prop(chosen, "bake_step")
    draw_range(layout, chosen, "bake")
    cost = costs.get(chosen.bake_kind)
    if cost:
        layout.label(text=cost, icon="DISK_DRIVE")
    shown.workflow.button(layout, "bake", text="Bake")
    shown.workflow.button(layout, "copy_command", text="Copy Command", icon="COPYDOWN")


def is_baked(shown: Shown) -> bool:
    """Whether what was baked last is still there."""
    return shown.chosen.result is not None and bool(shown.chosen.result.users_scene)
