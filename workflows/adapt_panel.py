"""The panel of Adapt."""

from __future__ import annotations

from .adapt_action import plays_result


def draw(adapt, layout, context) -> None:
    """Draw Adapt's sub-panel for the active object."""
    ob = context.object
    if ob is None or ob.type != "ARMATURE":
        layout.label(text="Select an armature", icon="INFO")
        return
    chosen = adapt.settings_of(ob)
    _draw_surfaces(layout, chosen)
    column = layout.column()
    column.prop(chosen, "use_range")
    if chosen.use_range:
        pair = column.column(align=True)
        pair.prop(chosen, "start")
        pair.prop(chosen, "end")
    bound = layout.box().column(align=True)
    if chosen.binding is None:
        bound.label(text="Not bound", icon="UNLINKED")
    else:
        for number, line in enumerate(chosen.summary.split(", ")):
            bound.label(text=line, icon="LINKED" if number == 0 else "BLANK1")
    column = layout.column()
    column.prop(chosen, "clearance")
    column.prop(chosen, "orientation", slider=True)
    column.prop(chosen, "limits")
    column.prop(chosen, "assign")
    if plays_result(ob):
        layout.operator("motion_loom.adapt_play_source", icon="LOOP_BACK")
    _draw_list(layout, ob, chosen, "pins", "Pins")
    _draw_list(layout, ob, chosen, "bones", "Bone Hold")
    adapt.button(layout, "fit")
    adapt.button(layout, "bake")


def _draw_surfaces(layout, chosen) -> None:
    row = layout.row()
    row.template_list("MOTION_LOOM_UL_surfaces", "", chosen, "surfaces", chosen, "active_surface", rows=3)
    buttons = row.column(align=True)
    buttons.operator("motion_loom.adapt_add_objects", text="", icon="ADD")
    buttons.operator("motion_loom.adapt_remove_item", text="", icon="REMOVE").items = "surfaces"
    if 0 <= chosen.active_surface < len(chosen.surfaces):
        item = chosen.surfaces[chosen.active_surface]
        column = layout.column()
        column.prop(item, "mode")
        column.prop(item, "influence", slider=True)


def _draw_list(layout, ob, chosen, name: str, label: str) -> None:
    """A list of pins or bones; both are rarely used, so an empty one takes one row."""
    items = getattr(chosen, name)
    row = layout.row(align=True)
    row.label(text=label)
    row.operator("motion_loom.adapt_add_item", text="", icon="ADD").items = name
    for index, item in enumerate(items):
        box = layout.box().column()
        row = box.row(align=True)
        row.prop_search(item, "bone", ob.data, "bones", text="")
        remove = row.operator("motion_loom.adapt_remove_item", text="", icon="X")
        remove.items, remove.index = name, index
        if name == "bones":
            box.prop(item, "factor")
            continue
        box.prop(item, "target", text="")
        pair = box.row(align=True)
        pair.prop(item, "start")
        pair.prop(item, "end")
