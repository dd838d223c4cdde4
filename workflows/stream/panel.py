"""The panel of Live Stream: where to listen, what comes, and recordings."""

from __future__ import annotations

from ...scene.stream_empties import COLLECTION
from ..interface.panel_parts import draw_text
from .follow import StreamStatus, is_private, status
from .run import stream_state


def draw(layout, context) -> None:
    """Draw the panel; settings that listening depends on are grey meanwhile."""
    chosen, shown = context.scene.motion_loom_stream, status()
    column = layout.column()
    column.enabled = shown is None
    column.prop(chosen, "host")
    column.prop(chosen, "port")
    if not is_private(chosen.host):
        draw_text(layout, context, "Other computers in the network can send to this address", "ERROR")
    if shown is None:
        layout.operator("motion_loom.stream_start", icon="PLAY")
        if stream_state.problem:
            draw_text(layout, context, stream_state.problem, "ERROR")
        return
    layout.operator("motion_loom.stream_stop", icon="PAUSE", depress=True)
    _draw_counts(layout.box().column(align=True), context, shown)
    _draw_recording(layout, context, chosen, shown)


def _draw_counts(box, context, shown: StreamStatus) -> None:
    counts = shown.counts
    if shown.scene != context.scene.name:
        draw_text(box, context, f"The empties are in scene '{shown.scene}'", "SCENE_DATA")
    if not counts.received:
        draw_text(box, context, f"Waiting for packets at {shown.host}, port {shown.port}", "TIME")
        return
    box.label(text=f"{shown.rate:.0f} frames a second, {shown.joints} joints", icon="PREVIEW_RANGE")
    box.label(text=f"{counts.received} packets received", icon="BLANK1")
    others = [
        (counts.malformed, "malformed packets"),
        (counts.dropped, "messages left out"),
        (counts.ignored, "messages ignored"),
    ]
    lost = ", ".join(f"{count} {what}" for count, what in others if count)
    if lost:
        draw_text(box, context, lost, "BLANK1")
    for note in shown.notes:
        draw_text(box, context, note, "INFO")
    if counts.frames:
        text = f"To use it, choose '{COLLECTION}' as the source collection in Map"
        draw_text(box, context, text, "OUTLINER_OB_EMPTY")
    else:
        draw_text(box, context, "No packet has held a joint so far; the manual lists what is read", "ERROR")


def _draw_recording(layout, context, chosen, shown: StreamStatus) -> None:
    layout.prop(chosen, "take")
    if shown.take is None:
        layout.operator("motion_loom.stream_record", icon="REC")
        return
    layout.operator("motion_loom.stream_keep", icon="SNAP_FACE", depress=True)
    take = shown.take
    layout.label(text=f"{take.seconds:.1f} s, {take.frames} frames received, from frame {take.first_frame}")
    if take.is_full:
        draw_text(layout, context, "The recording is full; stop it", "ERROR")
