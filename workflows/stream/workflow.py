"""Live Stream: joints that another program sends become empties, for Map to follow or to record."""

from __future__ import annotations

from ...state.stream_settings import MotionLoomStreamSettings
from ..core.base import Workflow
from . import panel


class Stream(Workflow):
    """Belongs to the scene; has operators of its own, because nothing of it is bound or baked."""

    id = "stream"
    label = "Live Stream"
    settings = MotionLoomStreamSettings
    settings_owner = "Scene"
    steps = {}

    def poll(self, context, step: str) -> str | None:
        return "A stream is received in the program, where you see it; there is no command for it."

    def draw(self, layout, context) -> None:
        panel.draw(layout, context)
