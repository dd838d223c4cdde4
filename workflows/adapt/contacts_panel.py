"""The list of contacts in the panel: search, the active bone's, and a row of bars for its contacts over time."""

from __future__ import annotations

from ..interface.panel_parts import Shown, draw_text

_GAP = 0.01  # of the row, that a piece of it is at least wide
_MOST = 24  # bars in one row


def draw_contacts(layout, shown: Shown) -> None:
    """The list, its buttons, and what is set of the chosen entry."""
    chosen = shown.chosen
    if chosen.binding is None:
        draw_text(layout, shown.context, "Bind lists what each bone touches, and when", "INFO")
        return
    if not len(chosen.contacts):
        draw_text(layout, shown.context, "Press the arrow to list what Bind found", "INFO")
    row = layout.row()
    row.template_list("MOTION_LOOM_UL_contacts", "", chosen, "contacts", chosen, "active_contact", rows=6)
    buttons = row.column(align=True)
    for name, icon in (("add", "ADD"), ("remove", "REMOVE"), ("mirror", "MOD_MIRROR"), ("pick", "EYEDROPPER")):
        buttons.operator(f"motion_loom.adapt_{name}_contact", text="", icon=icon)
    buttons.operator("motion_loom.adapt_reset_contacts", text="", icon="LOOP_BACK")
    if 0 <= chosen.active_contact < len(chosen.contacts):
        _draw_chosen(layout, chosen)


def _draw_chosen(layout, chosen) -> None:
    item = chosen.contacts[chosen.active_contact]
    _draw_bars(layout, chosen, item.bone)
    column = layout.column(align=True)
    column.use_property_split = False
    column.row(align=True).prop(item, "state", expand=True)
    pair = column.row(align=True)
    for name in ("start", "end"):
        pair.prop(item, name, text="From" if name == "start" else "To")
        pair.operator("motion_loom.adapt_set_contact_end", text="", icon="TIME").end = name


def _draw_bars(layout, chosen, bone: str) -> None:
    """A bar for each contact of a bone, as long as it lasts; pressed, it is chosen."""
    entries = sorted((item.start, item.end, k) for k, item in enumerate(chosen.contacts) if item.bone == bone)[:_MOST]
    first = min(item.start for item in chosen.contacts)
    last = max(item.end for item in chosen.contacts) + 1
    row = layout.row(align=True)
    at = first
    for start, end, number in entries:
        start = max(start, at)
        if start > at:
            row, part = _cut(row, (start - at) / max(last - at, 1))
            part.label(text="")
        row, part = _cut(row, (max(end, start) + 1 - start) / max(last - start, 1))
        item = chosen.contacts[number]
        part.active = item.state != "OFF"
        is_active = number == chosen.active_contact
        bar = part.operator("motion_loom.adapt_pick_contact", text=item.object, depress=is_active)
        bar.index = number
        at = max(end, start) + 1
    row.label(text="")


def _cut(row, share: float):
    """The rest of a row and its first part."""
    split = row.split(factor=min(max(share, _GAP), 1.0 - _GAP), align=True)
    part = split.row(align=True)
    return split.row(align=True), part
