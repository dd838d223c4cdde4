"""What a run depends on beside its rigs, their sources and the user's choices: the objects around them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...scene.state_track import ObjectState, StateTrack
from ..core.follower import Moment


class Surroundings:
    """Nothing, unless a workflow has more of them. A follower keeps one: arrays and digests, no Blender references.

    states: of the objects when they were looked at last.  relied_on: ``session_uid`` of all that they were read from.
    """

    def __init__(self):
        self.states: list[ObjectState] = []
        self.relied_on: set[int] = set()

    def sees(self, rigs: Sequence, depsgraph) -> bool:
        """Whether all of them are evaluated there."""
        return True

    def look(self, rigs: Sequence, moment: Moment) -> None:
        """Read them as they are now; raises MotionLoomError where that cannot be, or the binding does not fit."""

    def deforming(self, rigs: Sequence, moment: Moment) -> str:
        """Digest of the keys that deform them, "" where there are none to look at."""
        return ""

    def fit(self, states: Sequence[StateTrack], row: int | None) -> bool:
        """Whether they are now as they were at a row (None: between rows)."""
        return not states

    def go_along(self, rigs: Sequence, moment: Moment, states: Sequence[StateTrack], frames: np.ndarray) -> bool:
        """Whether they move over scene frames (F,) as they did, as far as curves tell."""
        return True

    def digests(self, rigs: Sequence, moment: Moment, frames: np.ndarray) -> tuple:
        """Texts and arrays that say how they are at scene frames (F,), as far as present and curves tell."""
        return ()

    def why_stepping(self, rigs: Sequence, moment: Moment) -> str | None:
        """Why only stepping through the frames tells how they move, in a few words, or None."""
        return None
