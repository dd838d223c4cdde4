"""Parts that panels share: steps, wrapped texts, switches side by side, ranges, and how live stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ...solvers.core.errors import MotionLoomError
from ...state.live_states import Remedy, TrackStatus
from ..core import live
from .wrapping import fitting_lines

_TRACKS = {
    TrackStatus.READY: ("Every frame is up to date", "CHECKMARK"),
    TrackStatus.SWEEP: ("Other frames need a refresh", "FILE_REFRESH"),
    TrackStatus.WAITING: ("Other frames follow in a moment", "TIME"),
}
# What mends a problem: the operator, the button's text and icon.
_REMEDIES = {
    Remedy.BIND: ("fit", "Bind Again", "LINKED"),
    Remedy.UPDATE: ("update_binding", "Update Binding", "LINKED"),
    Remedy.REFRESH: ("live_refresh", "Refresh", "FILE_REFRESH"),
    Remedy.RESUME: ("live_resume", "Resume", "PLAY"),
    Remedy.TRAIN: ("train", "Train", "MESH_DATA"),
}


@dataclass(frozen=True)
class Shown:
    """What is drawn: the workflow, its object, the settings of that, and how live stands (None while it is off)."""

    workflow: Any
    context: Any
    ob: Any
    chosen: Any
    status: live.LiveStatus | None

    @classmethod
    def of(cls, workflow, context, ob) -> Shown:
        """All that there is to show of an object."""
        return cls(workflow, context, ob, workflow.settings_of(ob), live.status(ob, workflow.id))


def is_live(shown: Shown) -> bool:
    """Whether it is live, and nothing is wrong."""
    return shown.status is not None and shown.status.problem is None


def draw_steps(layout, steps, shown: Shown) -> None:
    """Numbered steps that fold, a tick at those that are done.

    steps: (title, is_done, draw) of each; is_done(shown), draw(layout, shown).
    """
    for number, (title, is_done, draw_step) in enumerate(steps, start=1):
        header, body = layout.panel(f"motion_loom_{shown.workflow.id}_{number}")
        header.label(text=f"{number}   {title}")
        if is_done(shown):
            header.label(text="", icon="CHECKMARK")
        if body:
            draw_step(body, shown)


def draw_notes(layout, shown: Shown, notes_of: Callable[[Any], Iterable[str]]) -> None:
    """What is to be said of the object, notes_of(ob), a line each; nothing while it cannot be told."""
    try:
        notes = notes_of(shown.ob)
    except MotionLoomError:
        return  # the buttons say what is missing
    for note in notes:
        draw_text(layout, shown.context, note, "ERROR")


def draw_text(layout, context, text: str, icon: str) -> None:
    """A text over as many lines as the region asks for, the icon before the first."""
    column = layout.column(align=True)
    for number, line in enumerate(fitting_lines(context, text)):
        column.label(text=line, icon="BLANK1" if number else icon, translate=False)


def draw_toggles(layout, chosen, names) -> None:
    """Switches side by side."""
    row = layout.row(align=True)
    row.use_property_split = False
    for name in names:
        row.prop(chosen, name, toggle=True)


def draw_linked(layout, context, ob, remedy: str = "make a local copy of it") -> None:
    """That a linked object cannot be changed, and the button that copies it."""
    box = layout.box()
    draw_text(box, context, f"'{ob.name}' is linked and cannot be changed: {remedy}", "LIBRARY_DATA_DIRECT")
    box.operator("motion_loom.make_local_copy")


def draw_range(layout, chosen, of: str = "") -> bool:
    """A switch and, where it is on, first and last frame; returns whether it is.

    of: what range, of several in the settings: "bake" stands for use_bake_range, bake_start and bake_end.
    """
    of = of and f"{of}_"
    layout.prop(chosen, f"use_{of}range")
    is_on = getattr(chosen, f"use_{of}range")
    if is_on:
        pair = layout.column(align=True)
        pair.prop(chosen, f"{of}start")
        pair.prop(chosen, f"{of}end")
    return is_on


def draw_status(layout, shown: Shown, bind_again: str = _REMEDIES[Remedy.BIND][1]) -> None:
    """How live stands, while it is on, and the button that mends what is wrong.

    bind_again: text of the button of the step "fit".
    """
    status = shown.status
    if status is None:
        return
    box = layout.box().column(align=True)
    if status.problem:
        draw_text(box, shown.context, status.problem, "ERROR")
    else:
        speed = "" if status.ms is None else f"{status.ms:.1f} ms a frame"
        box.label(text=speed or "Waiting for a change", icon="PREVIEW_RANGE")
        if speed or status.track != TrackStatus.READY:  # a file that was just opened has not been looked at yet
            _draw_track(box, status)
    if status.source_untouched:
        box.label(text="Source untouched", icon="LOCKED")
    if status.note:
        draw_text(box, shown.context, status.note, "INFO")
    if status.remedy:
        step, text, icon = _REMEDIES[status.remedy]
        shown.workflow.button(layout, step, text=bind_again if step == "fit" else text, icon=icon)


def _draw_track(layout, status) -> None:
    if status.track == TrackStatus.SOLVING:
        layout.progress(factor=status.progress, text=f"Solving all frames {status.progress:.0%}")
        return
    text, icon = _TRACKS[status.track]
    layout.label(text=text, icon=icon)
