"""Go to a frame and a bone that a report names."""

from __future__ import annotations

import math

from ...scene.bone_selection import select_bone


def show_bone(context, bone: str, frame: float) -> str | None:
    """Go to a frame and select a bone of the active rig, if one is named; returns why it cannot be seen, or None.

    Raises SceneError where it cannot be selected; the frame is shown all the same.
    """
    whole = math.floor(frame)
    context.scene.frame_set(whole, subframe=frame - whole)
    return select_bone(context.object, bone) if bone else None
