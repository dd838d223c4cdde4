"""Drag the path of the active clip: its pairs are moved, added and removed in the picture of what pairing costs."""

from __future__ import annotations

import bpy

from ...solvers.core.errors import MotionLoomError
from ..core.overlay import free_width, screen_sides
from ..interface.operators import ReportingOperator
from ..mesh.target import target_in
from . import path

_REMOVE, _END, _CANCEL = {"X", "DEL", "BACK_SPACE"}, {"RET", "NUMPAD_ENTER", "SPACE"}, {"ESC", "RIGHTMOUSE"}
_HELP = "Drag a pair, or the path itself to add one   X over a pair: remove   Enter: keep   Esc: as before"


class MOTION_LOOM_OT_transfer_edit_path(ReportingOperator, bpy.types.Operator):
    """Drag the path over the picture in the viewport: pairs are moved and added, X removes the one under the mouse"""

    bl_idname = "motion_loom.transfer_edit_path"
    bl_label = "Edit Path"
    bl_options = {"UNDO", "INTERNAL"}
    needs = path.why_no_path

    def invoke(self, context, _event):
        try:
            path.require_path(context)
        except MotionLoomError as error:
            return self.failed(error)
        target_in(context).motion_loom_transfer.show_path = True
        self._before, self._held = path.pairs_now(context), None
        context.workspace.status_text_set(_HELP)
        context.window_manager.modal_handler_add(self)
        context.area.tag_redraw()
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if path.why_no_path(context):
            return self._end(context)  # another object was made active, or undo went back past what was read
        if event.type in _CANCEL and event.value == "PRESS":
            path.put_pairs(context, self._before)
            return self._end(context, {"CANCELLED"})
        if event.type in _END and event.value == "PRESS":
            return self._end(context)
        place = None if self._held is not None else self._place(context, event)
        if event.type == "LEFTMOUSE" and event.value == "PRESS":
            if place is None:
                return {"PASS_THROUGH"}
            self._held = path.grab(context, place)
            self._area = self._area_under(context, event)
            return {"RUNNING_MODAL"}
        if event.type == "LEFTMOUSE" and event.value == "RELEASE" and self._held is not None:
            self._held = None
            return {"RUNNING_MODAL"}
        if event.type == "MOUSEMOVE" and self._held is not None:
            path.drag(context, self._held, self._place_in(self._area, event))
            return {"RUNNING_MODAL"}
        if event.type in _REMOVE and event.value == "PRESS" and place is not None:
            try:
                path.remove_at(context, place)
            except MotionLoomError as error:
                self.failed(error)
            return {"RUNNING_MODAL"}
        return {"PASS_THROUGH"}  # the view, playback and all else go on

    def cancel(self, context):
        context.workspace.status_text_set(None)

    def _place(self, context, event) -> tuple[float, float] | None:
        """Where the mouse is in the picture of the viewport under it, shares; None where it is outside."""
        area = self._area_under(context, event)
        place = area and self._place_in(area, event)
        return place if place and path.is_in_picture(place) else None

    def _area_under(self, context, event):
        return next(
            (
                area
                for area in context.screen.areas
                if area.type == "VIEW_3D"
                and 0 <= event.mouse_x - area.x < area.width
                and 0 <= event.mouse_y - area.y < area.height
            ),
            None,
        )

    def _place_in(self, area, event) -> tuple[float, float]:
        region = next(region for region in area.regions if region.type == "WINDOW")
        left, width = free_width(area, region)
        side = max(*screen_sides(width, region.height, is_square=True), 1.0)
        return path.in_picture((event.mouse_x - region.x - left) / side, (event.mouse_y - region.y) / side)

    def _end(self, context, result=frozenset({"FINISHED"})):
        context.workspace.status_text_set(None)
        return set(result)
