"""Adapt live: what follows one rig, see ``live``."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import numpy as np

from ...scene.actions import curve_count
from ...scene.deforming_keys import DeformingKeys
from ...scene.environment_state import needs_sweep
from ...scene.evaluation import is_updated
from ...scene.held_targets import HeldTargets
from ...scene.influence import FactorTrack, factor_now
from ...scene.instances import ShownInstances, instance_sources
from ...scene.interference import refuse_dependent
from ...scene.live_action import keys_digest
from ...scene.meshes import read_object, require_evaluated
from ...scene.motion import why_unread
from ...scene.object_motion import worlds_by_curves
from ...scene.rigs import require_armature
from ...scene.state_track import ObjectState
from ...scene.stillness import can_move
from ...solvers.adapt.frame import FrameAdapter
from ...solvers.core.errors import MotionLoomError
from ...state.cache import fingerprint
from ...state.live_states import TrackNeed
from ..core import live
from ..core.follower import Follower, Moment
from ..environment.model import stored_of
from ..environment.problem import (
    Body,
    body_of,
    bound_surfaces,
    differs_in_influence,
    gather_now,
    placed_body,
    problem_of_frame,
    reason_to_step,
    require_bound_shape,
)
from ..rig.action import INFLUENCE, bound_action, played_action
from ..rig.frame_channels import AdaptedRows
from ..rig.live_action import noted_channels, notes_of, require_live_plays, rewrite_live
from ..rig.live_source import has_kept, held_then
from .live_frame import LiveFrame
from .live_key import Inputs, InputsReader
from .live_track import Stamp, Track, faded, key_of, solved, stamp_of


def _ways(scene, targets, frames: np.ndarray) -> list[np.ndarray | None]:
    """World matrices (F, 4, 4) of each object that moves by its curves, None of others."""
    return [worlds_by_curves(scene, target, frames) if can_move(target) else None for target in targets]


class AdaptFollower(Follower):
    """Follows one rig; at first it knows nothing."""

    plays_by_itself = True

    def __init__(self):
        self._why_stepping: str | None = None
        self._outside: str | None = None
        self._answer = TrackNeed.NOTHING, ""
        self._stamp: tuple[str, Stamp] = "", Stamp("", ())
        self._inputs = InputsReader()
        self._source = ""
        self._curve_counts = [-1, -1]
        self._states: list[ObjectState] = []
        self._deforming: DeformingKeys | None = None
        self._held: tuple[int, set[int], bool] | None = None
        self._track: Track | None = None
        self._keyed: np.ndarray | None = None
        self._frame: tuple[str, LiveFrame] | None = None

    # ------------------------------------------------------------------------------------------- for the engine

    @property
    def note(self) -> str | None:
        """Why frames have to be stepped through, what those outside of the bound ones show, and what is doubtful."""
        doubts = self._track.solution.notes if self._track else ()
        return ". ".join(filter(None, (self._why_stepping, self._outside, *doubts))) or None

    def sees(self, ob, depsgraph) -> bool:
        bound = [item.target for item in ob.motion_loom_adapt.surfaces if item.bound_name and item.target is not None]
        return all(is_updated(target, depsgraph) for target in bound)

    def check(self, ob, moment: Moment) -> tuple[TrackNeed, str]:
        if ob.mode == "EDIT":
            self._inputs.forget()
            return self._answer  # its bones are being changed; all is looked at when that is over
        try:
            self._answer = self._look(ob, moment)
        except MotionLoomError:
            self._inputs.forget()
            raise
        return self._answer

    def pose(self, ob, moment: Moment) -> None:
        self._pose(ob, moment)

    def show(self, ob, moment: Moment, was_posed: bool) -> None:
        # The live action plays the track, but not over a pose until another frame. After undo it is another track than
        # is known here, and Blender has just evaluated it.
        if was_posed:
            self._pose(ob, moment, only_track=True)

    def _pose(self, ob, moment: Moment, only_track: bool = False) -> None:
        inputs, track = self._inputs.last, self._track
        if track is None or inputs is None or track.problem.stored is not stored_of(ob):
            return  # the first track of a binding brings what a frame needs
        if self._frame is None or self._frame[0] != inputs.solved:
            self._frame = inputs.solved, self._frame_of(ob, moment, inputs)
        row = _row(moment.scene.frame_current_final, track.problem.binding.track.frames)
        is_solved = inputs.solved == track.inputs.solved and stamp_of(track).fits(row, self._states)
        if only_track and not is_solved:
            return
        adapted = track.solution.adapted if is_solved else None
        self._frame[1].show(ob, moment.scene, moment.depsgraph, self._states, adapted)

    def job(self, ob, moment: Moment) -> Generator[float, None, Track]:
        require_live_plays(ob)
        source = self._look_at_source(ob)
        inputs = self._inputs.read(ob, moment.scene, moment.depsgraph, None)
        known, body = self._track, None
        if known is not None and source == known.source and self._tell_curves(ob):
            body = self._body_of(ob, moment, inputs)
        fading = self._known_fading(ob) if inputs.fades else None
        problem = gather_now(ob, moment.scene, moment.depsgraph, body, fading and fading.values)
        deforming = self._look_at_deforming(_targets_of(ob, moment.scene), moment)
        if known is not None and known.inputs.solved == inputs.solved and differs_in_influence(problem, known.problem):
            return faded(known, problem, inputs, source, deforming)
        return solved(problem, inputs, source, deforming)

    def put(self, ob, scene, result: Track) -> None:
        require_live_plays(ob)
        keyed = rewrite_live(scene, ob, result.solution)
        self.adopt(ob, scene, result, keyed)

    # -------------------------------------------------------------------------------------------------------------

    def adopt(self, ob, scene, track: Track, keyed: np.ndarray) -> None:
        """A track is shown. keyed: (B, 3) bool, the channels that the live action holds."""
        stamp = stamp_of(track)
        text = stamp.to_text()
        notes = notes_of(ob)
        if notes.stamp != text:
            notes.stamp = text
        self._stamp, self._track, self._keyed = (text, stamp), track, keyed
        self._frame = self._frame and ("", self._frame[1])
        self._outside = _held_outside(ob, scene, track)

    def start(self, ob, moment: Moment, track: Track) -> None:
        """As ``adopt``, of a track that was just written, for the inputs as they are now."""
        inputs = self._inputs.read(ob, moment.scene, moment.depsgraph, None)
        targets = _targets_of(ob, moment.scene)
        deforming = self._look_at_deforming(targets, moment)
        track = replace(track, inputs=inputs, source=self._look_at_source(ob), deforming=deforming)
        self.adopt(ob, moment.scene, track, noted_channels(ob))

    def _frame_of(self, ob, moment: Moment, inputs: Inputs) -> LiveFrame:
        """For the inputs as they are now: those of the track, or others that it was not solved for."""
        track, before = self._track, self._frame and self._frame[1]
        if inputs.solved == track.inputs.solved:
            return LiveFrame(ob, track.problem, track.adapter, track.rows, self._keyed, before)
        body = self._body_of(ob, moment, inputs)
        problem = problem_of_frame(ob, moment.scene, moment.depsgraph, track.problem, body)
        adapter = FrameAdapter(problem.binding, problem.options, track.solution.adapted.moves)
        rows = track.rows
        if problem.source is not track.problem.source:
            rows = AdaptedRows(problem.source, problem.turned)
        return LiveFrame(ob, problem, adapter, rows, noted_channels(ob), before)

    def _body_of(self, ob, moment: Moment, inputs: Inputs) -> Body | None:
        """The body as the keys of the source were when the track was solved, or None where all is to be read."""
        track = self._track
        if inputs.rig == track.inputs.rig:
            return body_of(track.problem)
        if inputs.bones == track.inputs.bones and self._tell_curves(ob):
            return placed_body(ob, moment.scene, track.problem)
        return None

    def _tell_curves(self, ob) -> bool:
        """Whether curves tell the bound motion, and did when the track was solved."""
        return self._track.problem.source.motion.sampled_because is None and not self._inputs.is_sampled(ob)

    def _look_at_keys(self, ob, moment: Moment) -> None:
        """Look at what may have been keyed. At another frame actions are evaluated too: only new curves count there."""
        counts = [curve_count(*bound_action(ob)), curve_count(*played_action(ob))]
        updated = set() if moment.is_playback and moment.updated is not None else moment.updated
        uids = [action and action.session_uid for action in (bound_action(ob)[0], played_action(ob)[0])]
        bound_differs, own_differs = (
            updated is None or uid in updated or count != before
            for uid, count, before in zip(uids, counts, self._curve_counts, strict=True)
        )
        if bound_differs:
            self._look_at_source(ob)
        if bound_differs or own_differs:
            self._inputs.forget()
        self._curve_counts = counts

    def _look_at_source(self, ob) -> str:
        """Note whether the bound action is still as it was when live began; returns a digest of it."""
        self._source = keys_digest(*bound_action(ob))
        self.source_untouched = self._source == ob.motion_loom_adapt.live_source
        return self._source

    def _look_at_deforming(self, targets, moment: Moment) -> str:
        """Digest of the keys that deform the environment. Playback evaluates them as well, and changes none."""
        known, updated = self._deforming, moment.updated
        plays = moment.is_playback and not live.at_once()
        if known is None or updated is None or (not plays and updated & known.owners):
            self._deforming = DeformingKeys.of(targets, _stepped(targets, moment))
        return self._deforming.digest

    def _look(self, ob, moment: Moment) -> tuple[TrackNeed, str]:
        self._why_stepping = None
        require_armature(ob)
        require_live_plays(ob)
        targets = _targets_of(ob, moment.scene)
        # After an error all is read again: what was read before it tells nothing about what is there now.
        known, self._states = self._states, []
        known = known or [None] * len(targets)
        shown = ShownInstances(moment.depsgraph, targets)
        self._states = [self._state(ob, k, target, moment, shown, known[k]) for k, target in enumerate(targets)]
        self._look_at_keys(ob, moment)
        inputs = self._inputs.read(ob, moment.scene, moment.depsgraph, moment.updated)
        key = key_of(inputs, self._source)
        deforming = self._look_at_deforming(targets, moment)
        frames = stored_of(ob).binding.track.frames
        known, row = self._known(ob), _row(moment.scene.frame_current_final, frames)
        fades_alike = not inputs.fades or self._fades_alike(ob, moment)
        deforms_alike = known.deforming in (None, deforming)
        is_held = self._is_held_alike(ob, moment)
        alike = fades_alike and deforms_alike and is_held
        if key == known.inputs and alike and known.fits(row, self._states):
            # Keys may have been moved at other frames, which playback does not do.
            if moment.is_playback and not live.at_once() or known.goes_along(_ways(moment.scene, targets, frames)):
                # What a dragged frame needs is solved beforehand, where nobody has to wait for it.
                is_new = self._track is None and not live.at_once() and not self._reason_to_step(ob, moment)
                return TrackNeed.TRACK if is_new else TrackNeed.NOTHING, key
        ways = _ways(moment.scene, targets, frames)
        places = [state.matrix if way is None else way for state, way in zip(self._states, ways, strict=True)]
        self._why_stepping = self._reason_to_step(ob, moment, is_held, fades_alike)
        return TrackNeed.SWEEP if self._why_stepping else TrackNeed.TRACK, fingerprint(
            key, deforming, *(state.digest for state in self._states), *map(np.ascontiguousarray, places)
        )

    def _state(
        self, ob, index: int, target, moment: Moment, shown: ShownInstances, old: ObjectState | None
    ) -> ObjectState:
        """An object as it is now, read only where it may have changed since the last time."""
        require_evaluated(target, moment.depsgraph)
        uid = target.session_uid
        unchanged = moment.updated is not None and not moment.updated & {uid, target.data.session_uid}
        if unchanged and target.is_instancer:
            unchanged = not moment.updated & instance_sources(target)
        if unchanged and old is not None and old.name == target.name_full:
            return old
        refuse_dependent([target], ob)
        states = moment.shared.states
        if uid not in states:
            states[uid] = read_object(target, moment.depsgraph, old, shown)
        state = states[uid]
        if old is None or not state.faces.same_as(old.faces):
            stored = stored_of(ob)
            require_bound_shape(target, moment.depsgraph, stored.triangles[index], stored.fingerprints[index], shown)
        return state

    def _reason_to_step(self, ob, moment: Moment, is_held: bool = True, fades_alike: bool = True) -> str | None:
        """Why the frames have to be stepped through to read all that a track needs, or None.

        is_held, fades_alike: see ``_is_held_alike`` and ``_fades_alike``.
        """
        if not is_held:
            return f"What constraints of '{ob.name}' hold to was moved"
        if not fades_alike:
            return "A driver tells the influence"
        reason = reason_to_step(ob, moment.scene, _stepped(_targets_of(ob, moment.scene), moment))
        if reason is None and self._inputs.is_sampled(ob) and not has_kept(ob):
            return f"The keys of '{ob.name}' do not tell its motion"
        return reason

    def _is_held_alike(self, ob, moment: Moment) -> bool:
        """Whether what constraints hold to is where it was when the bound motion was kept; only edits move it."""
        kept = ob.motion_loom_adapt.live_sampled
        if kept is None:
            return True
        uid, updated = kept.session_uid, moment.updated
        if self._held is None or uid != self._held[0] or updated is None or updated & self._held[1]:
            then, now = held_then(ob), HeldTargets.of(ob, moment.depsgraph)
            self._held = uid, set(now.uids), then is None or now.are_at(then)
        return self._held[2]

    def _fades_alike(self, ob, moment: Moment) -> bool:
        """Whether the influence is driven as it was when the track was solved, as far as this frame tells."""
        fading = self._known_fading(ob)
        present = factor_now(ob, INFLUENCE, moment.depsgraph)
        return fading is not None and fading.is_at(moment.scene.frame_current_final, present)

    def _known_fading(self, ob) -> FactorTrack | None:
        """What was read of a driven influence over the bound frames, or None."""
        fading = self._known(ob).influence
        is_known = fading is not None and np.array_equal(fading.frames, stored_of(ob).binding.track.frames)
        return fading if is_known else None

    def _known(self, ob) -> Stamp:
        text = notes_of(ob).stamp
        if text != self._stamp[0]:
            self._stamp = text, Stamp.from_text(text)
        return self._stamp[1]


def _targets_of(ob, scene) -> list:
    """The objects that a rig is bound to."""
    return [item.target for item in bound_surfaces(scene, ob, stored_of(ob).binding.objects)]


def _stepped(targets: list, moment: Moment) -> list[str]:
    """Full names of the objects that only stepping through the frames tells, looked at once a moment for all."""
    stepped = moment.shared.stepped
    for target in targets:
        if target.session_uid not in stepped:
            stepped[target.session_uid] = needs_sweep(moment.scene, [target])
    return [name for target in targets for name in stepped[target.session_uid]]


def _held_outside(ob, scene, track: Track) -> str | None:
    """Says so where the source goes on outside of the bound frames and the track holds still there."""
    first, last = track.problem.binding.track.frames[[0, -1]]
    outside = why_unread(scene, ob, bound_action(ob), track.problem.binding.track.frames, least=1.0)
    if not track.solution.changed.any() or not any(outside):
        return None
    return f"Frames outside {first:g} to {last:g} hold the pose of the nearest one"


def _row(frame: float, frames: np.ndarray) -> int | None:
    """The row of a track at a scene frame, None between rows and outside."""
    row = int(np.searchsorted(frames, frame - 1e-4))
    return row if row < len(frames) and abs(frames[row] - frame) < 1e-4 else None
