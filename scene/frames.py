"""Stepping a scene through frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import bpy
import numpy as np


def frame_now(scene: bpy.types.Scene) -> float:
    """The scene frame that is shown, between frames too; where time is stretched, animation is at another time."""
    return scene.frame_current + scene.frame_subframe


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
        whole = int(np.floor(frame))
        context.scene.frame_set(whole, subframe=float(frame - whole))
        yield context.evaluated_depsgraph_get()
