"""Whether a source moves over more frames than were learnt of it: what is read again is what was learnt."""

from __future__ import annotations

from ...solvers.core.errors import MotionLoomError
from .learn import source_frames
from .model import clip_of


def outgrown(scene, ob) -> str | None:
    """In words, that the source's range, as it would be learnt now, has frames beyond those that were; None if not.

    Raises as ``clip_of``.
    """
    settings, learnt = ob.motion_loom_map, clip_of(ob).frames
    owner = settings.source or settings.source_collection
    if owner is None:
        return None
    try:
        now, _ = source_frames(scene, settings)
    except MotionLoomError:
        return None  # a range that cannot be learnt is told by Learn
    if now[0] >= learnt[0] and now[-1] <= learnt[-1]:
        return None
    return (
        f"The range of '{owner.name}' has grown: it is frames {now[0]:g} to {now[-1]:g}, and {learnt[0]:g} to "
        f"{learnt[-1]:g} were learnt and are followed and baked; press Learn Again to have all of it"
    )
