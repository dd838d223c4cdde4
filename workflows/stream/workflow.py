"""Live Stream: joints that another program sends become empties, for Map to follow or to record."""

from __future__ import annotations

from ..core.base import Workflow
from . import follow, operators, panel
from .settings import MotionLoomStreamSettings


class Stream(Workflow):
    """Belongs to the scene; has operators of its own, because nothing of it is bound or baked."""

    id = "stream"
    label = "Live Stream"
    settings = MotionLoomStreamSettings
    settings_owner = "Scene"
    operators = operators.CLASSES
    steps = {}

    def poll(self, context, step: str) -> str | None:
        return "A stream is received in the program, where you see it; there is no command for it."

    def on_load(self) -> None:
        """What is listened to belonged to the last file."""
        follow.close()
        follow.settle()

    def on_save(self) -> None:
        """A file is saved with its recordings in their places; the next frame of a stream sets them aside again."""
        follow.play_takes()

    def on_undo(self) -> None:
        follow.settle()

    def on_unregister(self) -> None:
        follow.close()

    def draw(self, layout, context) -> None:
        panel.draw(layout, context)
