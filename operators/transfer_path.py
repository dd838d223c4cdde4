"""Drag the path of the active clip: its pairs are moved, added and removed in the picture of what pairing costs."""

from __future__ import annotations

import bpy

from ..solvers.errors import MotionLoomError
from ..workflows import transfer_path
from ..workflows.mesh_target import target_in
from ..workflows.overlay import free_width
from .reporting import ExplainedOperator

_REMOVE, _END, _CANCEL = {"X", "DEL", "BACK_SPACE"}, {"RET", "NUMPAD_ENTER", "SPACE"}, {"ESC", "RIGHTMOUSE"}
_HELP = "Drag a pair, or the path itself to add one   X over a pair: remove   Enter: keep   Esc: as before"


class MOTION_LOOM_OT_transfer_edit_path(ExplainedOperator, bpy.types.Operator):
    """Drag the path over the picture in the viewport: pairs are moved and added, X removes the one under the mouse"""

    bl_idname = "motion_loom.transfer_edit_path"
    bl_label = "Edit Path"
    bl_options = {"UNDO", "INTERNAL"}
    needs = transfer_path.why_no_path

    def invoke(self, context, _event):
        try:
            transfer_path.require_path(context)
        except MotionLoomError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        target_in(context).motion_loom_transfer.show_path = True
        self._before, self._held = transfer_path.pairs_now(context), None
        context.workspace.status_text_set(_HELP)
        context.window_manager.modal_handler_add(self)
        context.area.tag_redraw()
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if transfer_path.why_no_path(context):
            return self._end(context)  # another object was made active, or undo went back past what was read
        if event.type in _CANCEL and event.value == "PRESS":
            transfer_path.put_pairs(context, self._before)
            return self._end(context, {"CANCELLED"})
        if event.type in _END and event.value == "PRESS":
            return self._end(context)
        place = self._place(context, event)
        if event.type == "LEFTMOUSE" and event.value == "PRESS":
            if place is None:
                return {"PASS_THROUGH"}
            self._held = transfer_path.grab(context, place)
            return {"RUNNING_MODAL"}
        if event.type == "LEFTMOUSE" and event.value == "RELEASE" and self._held is not None:
            self._held = None
            return {"RUNNING_MODAL"}
        if event.type == "MOUSEMOVE" and self._held is not None:
            if place is not None:
                transfer_path.drag(context, self._held, place)
            return {"RUNNING_MODAL"}
        if event.type in _REMOVE and event.value == "PRESS" and place is not None:
            transfer_path.remove_at(context, place)
            return {"RUNNING_MODAL"}
        return {"PASS_THROUGH"}  # the view, playback and all else go on

    def cancel(self, context):
        context.workspace.status_text_set(None)

    def _place(self, context, event) -> tuple[float, float] | None:
        """Where the mouse is in the picture of the viewport under it, shares; None where it is outside."""
        for area in context.screen.areas:
            if area.type != "VIEW_3D":
                continue
            region = next(region for region in area.regions if region.type == "WINDOW")
            left, width = free_width(area, region)
            x = (event.mouse_x - region.x - left) / max(width, 1.0)
            y = (event.mouse_y - region.y) / max(region.height, 1)
            place = transfer_path.in_picture(x, y)
            if place is not None:
                return place
        return None

    def _end(self, context, result=frozenset({"FINISHED"})):
        context.workspace.status_text_set(None)
        return set(result)
