"""The one stream that is listened to. Plain values, never a Blender reference; nothing of it is saved."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Any


@dataclass
class StreamRun:
    """listener: receives.  scene_uid: ``session_uid`` of the scene that has the empties.  scene_name: where to look for
    it first.

    placed: when the newest frame that the empties show came, seconds of the listener's clock.
    names: of all joints that were shown.  joints: how many of them were placed last, by one frame or several.
    recorder: collects while there is a recording.  first_frame: scene frame at which that will begin.
    history: (``time.monotonic``, frames so far), some a second.  told: what the panel showed last.
    note: what is worth knowing.
    """

    listener: Any
    scene_uid: int
    scene_name: str
    placed: float = -math.inf
    names: set[str] = field(default_factory=set)
    joints: int = 0
    recorder: Any = None
    first_frame: int = 1
    history: deque = field(default_factory=deque)
    told: Any = None
    note: str | None = None


@dataclass
class StreamState:
    """problem: why listening ended by itself."""

    run: StreamRun | None = None
    problem: str | None = None


stream_state = StreamState()
