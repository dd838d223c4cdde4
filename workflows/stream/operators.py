"""Live Stream: listening on and off, recordings on and off."""

from __future__ import annotations

import bpy

from ..interface.operators import ReportingOperator
from . import follow


class _StreamOperator(ReportingOperator):
    """What happens only while the program runs; nothing of it is a step of undo."""

    bl_options = {"INTERNAL"}


class MOTION_LOOM_OT_stream_start(_StreamOperator, bpy.types.Operator):
    """Receive joints that another program sends, and show each as an empty"""

    bl_idname = "motion_loom.stream_start"
    bl_label = "Start Listening"
    needs = follow.why_not_start

    def apply(self, context):
        return follow.start(context)


class MOTION_LOOM_OT_stream_stop(_StreamOperator, bpy.types.Operator):
    """Close the port. The empties stay; recordings play on them again"""

    bl_idname = "motion_loom.stream_stop"
    bl_label = "Stop Listening"
    needs = follow.why_not_stop

    def apply(self, context):
        return follow.stop()


class MOTION_LOOM_OT_stream_record(_StreamOperator, bpy.types.Operator):
    """Collect what comes from now on; it will play from the present frame on"""

    bl_idname = "motion_loom.stream_record"
    bl_label = "Record"
    needs = follow.why_not_record

    def apply(self, context):
        return follow.record()


class MOTION_LOOM_OT_stream_keep(_StreamOperator, bpy.types.Operator):
    """Write what was collected to an action of the empties, with a key at each frame of the scene"""

    bl_idname = "motion_loom.stream_keep"
    bl_label = "Stop Recording"
    bl_options = {"UNDO", "INTERNAL"}
    needs = follow.why_not_keep

    def apply(self, context):
        return follow.keep()


CLASSES = (
    MOTION_LOOM_OT_stream_start,
    MOTION_LOOM_OT_stream_stop,
    MOTION_LOOM_OT_stream_record,
    MOTION_LOOM_OT_stream_keep,
)
