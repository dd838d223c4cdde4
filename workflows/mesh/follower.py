"""What live followers of meshes share: they move a copy by a clip that was read of a source, and notice its edits."""

from __future__ import annotations

import numpy as np

from ...scene import binding_store
from ...state.cache import fingerprint
from ...state.live_runs import live_runs
from ..core.follower import Follower


class MeshFollower(Follower):
    """Moves the live copy of one mesh; at first it knows nothing.

    It ``sees`` all everywhere: the mesh itself is hidden, and the source says so where it is.
    """

    plays_by_itself = False

    def __init__(self):
        self._edited_clip = ""
        self._edited_frames: set[float] = set()

    def forget_edits(self) -> None:
        """The clip is up to date with its source."""
        self._edited_frames.clear()

    def _note_edit(self, stored, frame: float, is_edited: bool | None) -> bool:
        """Whether the source has been seen elsewhere than in its clip, at this frame or at another one before.

        stored: the datablock that holds the clip.  is_edited: so at this frame; None where the clip does not tell.
        """
        mark = fingerprint(*binding_store.mark(stored))
        if mark != self._edited_clip:
            self._edited_clip = mark
            self.forget_edits()
        if is_edited is not None:
            (self._edited_frames.add if is_edited else self._edited_frames.discard)(frame)
        return bool(self._edited_frames)

    def _is_edited_near(self, frame: float) -> bool:
        """Whether that is so at a frame, or where it lies between two, at one of them."""
        return bool({np.floor(frame), np.ceil(frame)} & self._edited_frames)


def forget_edits(ob, workflow_id: str) -> None:
    """The clip of a mesh was read again: where it is live, what was seen of edits is in it."""
    run = live_runs.runs.get((ob.session_uid, workflow_id))
    if run is not None:
        run.follower.forget_edits()
