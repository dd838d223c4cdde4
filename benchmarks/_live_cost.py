"""What being live adds to a change of the scene: the same done with and without the extension's handlers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import bpy
import numpy as np


@contextmanager
def without_live(package: str) -> Iterator[None]:
    """A block in which no handler of the extension is called; what plays goes on playing."""
    lists = [getattr(bpy.app.handlers, name) for name in ("frame_change_post", "depsgraph_update_post")]
    kept = [list(calls) for calls in lists]
    for calls in lists:
        calls[:] = [call for call in calls if not call.__module__.startswith(package)]
    try:
        yield
    finally:
        for calls, before in zip(lists, kept, strict=True):
            calls[:] = before


def timed(call: Callable, values: Iterable, clock: Callable[[], float]) -> np.ndarray:
    """Milliseconds of each call."""
    out = []
    for value in values:
        began = clock()
        call(value)
        out.append(1000 * (clock() - began))
    return np.array(out)


def frames_timed(stage, frames: list[int], rounds: int, clock: Callable[[], float]) -> tuple[np.ndarray, np.ndarray]:
    """Milliseconds (rounds, F) of going to each frame, in turns live and without.

    stage: with ``scene``, ``package`` and ``require_ready``, which raises where it does not follow.
    """
    followed, plain = [], []
    for _ in range(rounds):
        followed.append(timed(stage.scene.frame_set, frames, clock))
        with without_live(stage.package):
            plain.append(timed(stage.scene.frame_set, frames, clock))
    stage.require_ready()
    return np.array(followed), np.array(plain)
