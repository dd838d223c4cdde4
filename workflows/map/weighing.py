"""Which frames of the source matter to Suggest: a loop that is played all day more than what is seen once."""

from __future__ import annotations

import numpy as np

from ...scene.frames import MET
from ...solvers.core.errors import InputError
from .model import clip_of

WHOLE, PREVIEW, CUSTOM, MARKERS = "WHOLE", "PREVIEW", "CUSTOM", "MARKERS"


def range_that_matters(scene, settings) -> tuple[float, float] | None:
    """First and last scene frame of what is chosen, None for all of the source's.

    Raises InputError where the scene has no such range, or it is empty.
    """
    way = settings.weigh_by
    if way == WHOLE:
        return None
    if way == PREVIEW:
        if not scene.use_preview_range:
            raise InputError(
                "The scene has no preview range to weigh by; set one (P in a timeline), or set Weigh By to another."
            )
        return float(scene.frame_preview_start), float(scene.frame_preview_end)
    if way == CUSTOM:
        if settings.weigh_end < settings.weigh_start:
            raise InputError(
                f"The range to weigh by, {settings.weigh_start} to {settings.weigh_end}, is empty; let it end after "
                "it starts."
            )
        return float(settings.weigh_start), float(settings.weigh_end)
    frames = [marker.frame for marker in scene.timeline_markers if marker.select]
    if len(frames) < 2:
        raise InputError(
            f"Weigh By needs two selected markers or more, {len(frames)} {'is' if len(frames) == 1 else 'are'} "
            "selected; select the first and the last of what matters in a timeline."
        )
    return float(min(frames)), float(max(frames))


def weights_of(scene, ob) -> tuple[tuple, np.ndarray | None]:
    """What the weights depend on, for comparing, and the weights (F,) of the frames of a target's clip, None for all
    alike; InputError as ``range_that_matters``, and where none of the source's frames is in the range."""
    found, frames = range_that_matters(scene, ob.motion_loom_map), clip_of(ob).frames
    if found is None:
        return (), None
    inside = (frames >= found[0] - MET) & (frames <= found[1] + MET)
    if not inside.any():
        raise InputError(
            f"No frame of the source, {frames[0]:g} to {frames[-1]:g}, is in the range that Suggest weighs by, "
            f"{found[0]:g} to {found[1]:g}; set Weigh By to another."
        )
    return found, inside.astype(float)
