"""What a follower knows of one rig of its run, and whether that is still so."""

from __future__ import annotations

import numpy as np

from ...scene.actions import curve_count
from ...scene.held_targets import HeldTargets
from ...scene.influence import FactorTrack, factor_now
from ...scene.live_action import keys_digest
from ..core.follower import Moment
from .action import bound_action, played_action
from .inputs import InputsReader
from .live_action import notes_of
from .live_source import has_kept, held_then
from .track import Stamp


class RigWatch:
    """Arrays and digests of one rig; at first it knows nothing.

    source: digest of the bound action.  source_untouched: it is as it was when live began.
    """

    def __init__(self, workflow):
        self.inputs = InputsReader(workflow)
        self.source = ""
        self.source_untouched = True
        self._workflow = workflow
        self._curve_counts = [-1, -1]
        self._stamp: tuple[str, Stamp] = "", Stamp("", ())
        self._held: tuple[int, set[int], bool] | None = None

    def look_at_keys(self, ob, moment: Moment) -> None:
        """Look at what may have been keyed. At another frame actions are evaluated too: only new curves count there."""
        bound, own = bound_action(ob, self._workflow), played_action(ob)
        counts = self._count_curves(ob)
        updated = set() if moment.is_playback and moment.updated is not None else moment.updated
        uids = [action and action.session_uid for action in (bound[0], own[0])]
        bound_differs, own_differs = (
            updated is None or uid in updated or count != before
            for uid, count, before in zip(uids, counts, self._curve_counts, strict=True)
        )
        if bound_differs:
            self.look_at_source(ob)
        if bound_differs or own_differs:
            self.inputs.forget()
        self._curve_counts = counts

    def is_unedited(self, ob, moment: Moment) -> bool:
        """Whether nobody has edited the rig, or the keys that it plays or is bound to, since it was looked at."""
        is_alike = self.inputs.is_unedited(ob, moment.scene, moment.depsgraph)
        return is_alike and self._count_curves(ob) == self._curve_counts

    def _count_curves(self, ob) -> list[int]:
        return [curve_count(*bound_action(ob, self._workflow)), curve_count(*played_action(ob))]

    @property
    def relied_on(self) -> set[int]:
        """``session_uid`` of what the rig's inputs and what it is held to were read from, beside the rig."""
        return self.inputs.relied_on | (self._held[1] if self._held is not None else set())

    def look_at_source(self, ob) -> str:
        """Note whether the bound action is still as it was when live began; returns a digest of it."""
        self.source = keys_digest(*bound_action(ob, self._workflow))
        self.source_untouched = self.source == self._workflow.settings_of(ob).live_source
        return self.source

    def known(self, ob) -> Stamp:
        """What the live action was solved for."""
        text = notes_of(ob, self._workflow).stamp
        if text != self._stamp[0]:
            self._stamp = text, Stamp.from_text(text)
        return self._stamp[1]

    def note(self, ob, stamp: Stamp) -> None:
        """Keep with the live action what it was solved for."""
        text, notes = stamp.to_text(), notes_of(ob, self._workflow)
        if notes.stamp != text:
            notes.stamp = text
        self._stamp = text, stamp

    def why_stepping(self, ob, moment: Moment) -> str | None:
        """Why frames have to be stepped through for what was kept of the rig to be so again, or None."""
        if not self.is_held_alike(ob, moment):
            return f"What constraints of '{ob.name}' hold to was moved"
        return None if self.fades_alike(ob, moment) else "A driver tells the influence"

    def is_untold(self, ob) -> bool:
        """Whether curves do not tell the bound motion and none is kept; after the inputs were read."""
        return self.inputs.is_sampled(ob) and not has_kept(ob, self._workflow)

    def is_held_alike(self, ob, moment: Moment) -> bool:
        """Whether what constraints hold to is where it was when the bound motion was kept; only edits move it."""
        kept = self._workflow.settings_of(ob).live_sampled
        if kept is None:
            return True
        uid, updated = kept.session_uid, moment.updated
        if self._held is None or uid != self._held[0] or updated is None or updated & self._held[1]:
            then, now = held_then(ob, self._workflow), HeldTargets.of(ob, moment.depsgraph)
            self._held = uid, set(now.uids), then is None or now.are_at(then)
        return self._held[2]

    def fades_alike(self, ob, moment: Moment) -> bool:
        """Whether a driven influence is as it was when the track was solved, as far as this frame tells."""
        if not self.inputs.last.fades:
            return True
        fading = self.known_fading(ob)
        present = factor_now(ob, self._workflow.influence_path, moment.depsgraph)
        return fading is not None and fading.is_at(moment.scene.frame_current_final, present)

    def known_fading(self, ob) -> FactorTrack | None:
        """What was read of a driven influence over the bound frames, or None."""
        fading = self.known(ob).influence
        is_known = fading is not None and np.array_equal(fading.frames, self._workflow.bound_frames(ob))
        return fading if is_known else None
