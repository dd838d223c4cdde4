"""Frames of a scene: which a range holds, and stepping through them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import bpy
import numpy as np

from ..solvers.core.errors import InputError

FIRST_FRAME, LAST_FRAME = -1_048_574, 1_048_574  # that Blender can be set to and keeps keys at
MOST_FRAMES = 100_000  # that are read or solved together
# Frames: what misses one by less meets it. Keys and settings are in single precision, and time may be stretched.
MET = 1e-3
_NOTHING = 1e-6  # frames: rounding of what was added up


def require_range(start: float, end: float, of: str, step: float = 1.0, most: int = MOST_FRAMES) -> None:
    """Refuses a range of scene frames that nothing can be read or written over, before anything is allocated for it.

    of: what range it is, which begins the sentence.  step: frames from one to the next.  most: how many there may be.
    An empty range passes; what to say of it differs.
    Raises InputError for a frame that is no number or that Blender does not have, and for too many frames.
    """
    text = f"{of}, {shown_frame(start)} to {shown_frame(end)},"
    if not (math.isfinite(start) and math.isfinite(end)):
        raise InputError(f"{text} is endless or not a number; give a first and a last frame.")
    if min(start, end) < FIRST_FRAME or max(start, end) > LAST_FRAME:
        raise InputError(
            f"{text} goes beyond the frames that Blender has, {FIRST_FRAME:,} to {LAST_FRAME:,}; choose others."
        )
    if not step > 0.0 or not math.isfinite(step):
        raise InputError(f"{text} cannot have a step of {step:g} frames; give a number above zero.")
    if end - start >= most * step:
        remedy = "choose a part of it, raise the step, or remove what is keyed far off"
        raise InputError(f"{text} has more than the {most:,} frames that can be read together; {remedy}.")


def frames_around(start: float, end: float) -> tuple[int, int]:
    """First and last whole frame in which a range is seen: what ends between frames shows its last pose at the next."""
    return math.floor(start + MET), math.ceil(end - MET)


def frames_inside(start: float, end: float) -> tuple[int, int]:
    """First and last whole frame of a range; the last is below the first where it holds none."""
    return math.ceil(start - MET), math.floor(end + MET)


def frames_stepped(start: float, end: float, step: float) -> np.ndarray:
    """Frames (F,) from the start on, a step apart, up to an end that is met within a share of a step."""
    return start + step * np.arange(math.floor((end - start) / step + MET) + 1)


def shown_frame(frame: float) -> str:
    """A frame in words."""
    return f"{frame:,.10g}"


def frame_now(scene: bpy.types.Scene) -> float:
    """The scene frame that is shown, between frames too; where time is stretched, animation is at another time."""
    return scene.frame_current + scene.frame_subframe


def show_frame(scene: bpy.types.Scene, frame: float) -> None:
    """Set the scene to a frame, between whole ones too."""
    whole = math.floor(frame + _NOTHING)
    scene.frame_set(whole, subframe=max(float(frame) - whole, 0.0))


@contextmanager
def frame_kept(scene: bpy.types.Scene) -> Iterator[None]:
    """Puts the scene back to its frame and subframe, also after an error or where a generator is closed half way."""
    frame, subframe = scene.frame_current, scene.frame_subframe
    try:
        yield
    finally:
        scene.frame_set(frame, subframe=subframe)


def step_through(context: bpy.types.Context, frames: Iterable[float]) -> Iterator[bpy.types.Depsgraph]:
    """Set the scene to each frame, subframes allowed, and yield what was evaluated there; see `frame_kept`."""
    for frame in frames:
        show_frame(context.scene, frame)
        yield context.evaluated_depsgraph_get()
