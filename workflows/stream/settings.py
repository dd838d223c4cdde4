"""What the user chose for live streams; kept with the scene."""

from __future__ import annotations

import bpy


class MotionLoomStreamSettings(bpy.types.PropertyGroup):
    """Where to listen, and what recordings are called."""

    host: bpy.props.StringProperty(
        name="Address", default="127.0.0.1",
        description="127.0.0.1 receives from this computer only; an address of this computer in a network, or 0.0.0.0 "
        "for all of them, receives from others too",
    )  # fmt: skip
    port: bpy.props.IntProperty(
        name="Port", description="UDP port, the same as in the sender", default=39_539, min=1, max=65_535
    )
    take: bpy.props.StringProperty(name="Name", description="Of the action that holds a recording", default="Take")
