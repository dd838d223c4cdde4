"""What the panel of Adapt tells of the last result: doubts in sight, the rest in a closed sub-panel."""

from __future__ import annotations

from ..core.naming import listed
from ..environment.joints import staying_names
from ..interface.panel_parts import Shown, draw_text
from .report import remarks_of, shown_report


def draw_doubts(layout, shown: Shown) -> None:
    """What is wrong with the last result, a box each, and the way to where that is."""
    report = shown_report(shown.ob, shown.workflow)
    for remark in remarks_of(report) if report else ():
        if remark.doubt:
            box = layout.box().column(align=True)
            draw_text(box, shown.context, remark.doubt, "ERROR")
            _draw_link(box, remark, "Show")


def draw_report(layout, shown: Shown) -> None:
    """The figures, the worst events and every limb's contacts, each a link to its frame and bone."""
    report = shown_report(shown.ob, shown.workflow)
    if report is None:
        draw_text(layout, shown.context, "Adapt and Bake measures what it writes and tells the worst of it", "INFO")
        return
    layout.label(text=report.action.name, icon="ACTION", translate=False)
    column = layout.column(align=True)
    for line in report.figures.splitlines():
        draw_text(column, shown.context, line.capitalize(), "DOT")
    column = layout.column(align=True)
    for remark in remarks_of(report):
        draw_text(column, shown.context, remark.text, "ERROR" if remark.doubt else "DOT")
        _draw_link(column, remark)
    staying = staying_names(shown.chosen)
    if staying:
        draw_text(layout, shown.context, f"Not solved, as no solved bone carries them: {listed(staying)}", "INFO")
    layout.operator("motion_loom.adapt_save_picture", icon="IMAGE_DATA")


def _draw_link(layout, remark, verb: str = "") -> None:
    where = f"{remark.bone}, frame {remark.frame:g}" if remark.bone else f"frame {remark.frame:g}"
    link = layout.operator("motion_loom.show_bone", text=f"{verb} {where}".strip(), icon="RESTRICT_SELECT_OFF")
    link.bone, link.frame = remark.bone, remark.frame
