"""What follows the rigs of one live run, see ``core.live``."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from ...scene.control_copy import CopyGoneError
from ...scene.evaluation import is_updated
from ...scene.rigs import require_armature
from ...solvers.core.errors import MotionLoomError
from ...state.cache import fingerprint
from ...state.live_states import TrackNeed
from ..core import live
from ..core.follower import Again, Follower, Moment
from .beyond import live_note, way_back
from .factors import present_setting
from .frame import LiveFrames, row_at
from .inputs import Inputs, are_alike
from .live_action import noted_channels, replay_live, require_live_plays, rewrite_live
from .problem import RigProblem
from .track import Track, faded_track, fitted_track, key_of, solved_track, stamp_of
from .watch import RigWatch


class Reuse(Enum):
    """How much of what was read of rigs still holds: their motion, that of their bones alone, or nothing."""

    MOTION = "motion"
    BONES = "bones"
    NOTHING = "nothing"


@dataclass(frozen=True)
class _Shown:
    """Single frames, and the inputs that they are solved for."""

    inputs: tuple[Inputs, ...]
    frames: LiveFrames


class RigFollower(Follower):
    """Follows the run that one rig leads; at first it knows nothing."""

    plays_by_itself = True
    goes_on_later = True

    def __init__(self, workflow):
        self._workflow, self._around = workflow, workflow.surroundings()
        self._why_stepping: str | None = None
        self._outside: str | None = None
        self._answer = TrackNeed.NOTHING, ""
        self._sees, self._doubts = False, ""
        self._settled: set[int] | None = None
        self._watches: dict[int, RigWatch] = {}
        self._track: Track | None = None
        self._keyed: list[np.ndarray] = []
        self._shown: _Shown | None = None

    # ------------------------------------------------------------------------------------------- for the engine

    @property
    def note(self) -> str | None:
        """Why frames have to be stepped through, what those outside of the bound ones show, and what is doubtful."""
        return ". ".join(filter(None, (self._why_stepping, self._outside, self._doubts))) or None

    @property
    def source_untouched(self) -> bool:
        return all(watch.source_untouched for watch in self._watches.values())

    def sees(self, ob, depsgraph) -> bool:
        rigs = self._workflow.rigs_of(ob)
        others = all(is_updated(rig, depsgraph) for rig in rigs if rig != ob)
        self._sees = others and self._around.sees(rigs, depsgraph)
        return self._sees

    def check(self, ob, moment: Moment) -> tuple[TrackNeed, str]:
        rigs = self._workflow.rigs_of(ob)
        if any(rig.mode == "EDIT" for rig in rigs):
            self._forget()
            return self._answer  # bones are being changed; all is looked at when that is over
        if self._only_plays(rigs, moment):
            return self._answer
        self._settled = None
        try:
            self._answer = self._look(rigs, moment)
        except MotionLoomError:
            self._forget()
            raise
        if self._answer[0] is TrackNeed.NOTHING and self._track is not None:
            self._settle(rigs)
        return self._answer

    def pose(self, ob, moment: Moment) -> None:
        self._pose(self._workflow.rigs_of(ob), moment)

    def show(self, ob, moment: Moment, was_posed: bool) -> None:
        # The live action plays the track, but not over a pose until another frame. After undo it may be another track
        # than is known here.
        if was_posed and not self._pose(self._workflow.rigs_of(ob), moment, only_track=True):
            self.play_again(ob)

    def play_again(self, ob) -> None:
        # Undo reads the action as it was but may keep the rig, with what playing and posing has written into it since
        # the step before: channels without keys stay where the other track had them.
        for rig in self._workflow.rigs_of(ob):
            replay_live(rig, self._workflow)

    def _pose(self, rigs: list, moment: Moment, only_track: bool = False) -> bool:
        """Whether something was shown. only_track: not where the track that is known was solved for something else."""
        inputs, track = tuple(watch.inputs.last for watch in self._watching(rigs)), self._track
        if track is None or None in inputs or not are_alike(inputs, track.inputs, "bound"):
            return False  # the first track of a binding brings what a frame needs
        if self._shown is None or not are_alike(inputs, self._shown.inputs, "solved"):
            self._shown = _Shown(inputs, self._frames_of(rigs, moment, inputs))
        row = row_at(moment.scene.frame_current_final, track.problem.frames)
        is_solved = are_alike(inputs, track.inputs, "solved") and self._around.fit(track.problem.states, row)
        if only_track and not is_solved:
            return False
        solution, path = track.solution if is_solved else None, self._workflow.influence_path
        self._shown.frames.show(rigs, moment.scene, moment.depsgraph, path, self._around.states, solution)
        return True

    def job(self, ob, moment: Moment) -> Generator[float, None, Track]:
        rigs, before = self._workflow.rigs_of(ob), self._track
        for rig in rigs:
            require_live_plays(rig, self._workflow)
        sources = tuple(watch.look_at_source(rig) for rig, watch in zip(rigs, self._watching(rigs), strict=True))
        inputs = self._read_inputs(rigs, moment)
        is_same = before is not None and sources == before.sources and self._tell_curves(rigs)
        reuse = self._reuse(rigs, inputs) if is_same else Reuse.NOTHING
        problem = self._workflow.read_now(rigs, moment, before and before.problem, reuse)
        problem = problem.with_factor("influence", self._influences(rigs, moment.scene, problem, inputs))
        deforming = self._around.deforming(rigs, moment)
        if before is not None and are_alike(inputs, before.inputs, "solved"):
            if self._workflow.differs_in_influence(problem, before.problem):
                return faded_track(self._workflow, before, problem, inputs, sources, deforming)
        return solved_track(self._workflow, problem, inputs, sources, deforming)

    def rest(self, ob, moment: Moment, result: Track) -> Generator[float, None, Track]:
        try:
            return (yield from fitted_track(moment, self._workflow.rigs_of(ob), self._workflow, result))
        except CopyGoneError as error:
            raise Again from error

    def put(self, ob, scene, result: Track) -> None:
        rigs = self._workflow.rigs_of(ob)
        for rig in rigs:
            require_live_plays(rig, self._workflow)
        pairs = zip(rigs, result.solution.results, strict=True)
        self._adopt(rigs, scene, result, [rewrite_live(scene, rig, self._workflow, each) for rig, each in pairs])

    # -------------------------------------------------------------------------------------------------------------

    def start(self, ob, moment: Moment, track: Track) -> None:
        """A track was just written, for the inputs as they are now."""
        rigs = self._workflow.rigs_of(ob)
        inputs, deforming = self._read_inputs(rigs, moment), self._around.deforming(rigs, moment)
        sources = tuple(watch.look_at_source(rig) for rig, watch in zip(rigs, self._watching(rigs), strict=True))
        track = replace(track, inputs=inputs, sources=sources, deforming=deforming)
        self._adopt(rigs, moment.scene, track, [noted_channels(rig, self._workflow) for rig in rigs])

    def _adopt(self, rigs: list, scene, track: Track, keyed: list[np.ndarray]) -> None:
        """A track is shown. keyed: of each rig (B, 3) bool, the channels that its live action holds."""
        for number, (rig, watch) in enumerate(zip(rigs, self._watching(rigs), strict=True)):
            watch.note(rig, stamp_of(track, number))
        self._track, self._keyed, self._settled = track, keyed, None
        results = track.solution.results
        self._doubts = ". ".join((*track.solution.notes, *(note for each in results for note in each.notes)))
        self._shown = self._shown and _Shown((), self._shown.frames)
        pairs = zip(rigs, track.solution.results, strict=True)
        said = (live_note(scene, rig, self._workflow, result) for rig, result in pairs)
        self._outside = next(filter(None, said), None)

    def _watching(self, rigs: list) -> list[RigWatch]:
        for rig in rigs:
            if rig.session_uid not in self._watches:
                self._watches[rig.session_uid] = RigWatch(self._workflow)
        return [self._watches[rig.session_uid] for rig in rigs]

    def _only_plays(self, rigs: list, moment: Moment) -> bool:
        """Whether another frame plays where all was looked at, needed nothing and has not been edited since."""
        if self._settled is None or not self._sees or not moment.is_playback or live.at_once():
            return False
        if moment.updated is None or moment.updated & self._settled:
            return False
        return all(watch.is_unedited(rig, moment) for rig, watch in zip(rigs, self._watching(rigs), strict=True))

    def _settle(self, rigs: list) -> None:
        """Note what is looked at anew once it is evaluated, where at other frames nothing else has to be."""
        watches = self._watching(rigs)
        stamps = [watch.known(rig) for rig, watch in zip(rigs, watches, strict=True)]
        stands = all(len(track.matrices) == len(track.shapes) == 1 for stamp in stamps for track in stamp.states)
        if stands and not any(watch.inputs.last.fades for watch in watches):
            self._settled = self._around.relied_on.union(*(watch.relied_on for watch in watches))

    def _forget(self) -> None:
        self._settled = None
        for watch in self._watches.values():
            watch.inputs.forget()

    def _read_inputs(self, rigs: list, moment: Moment) -> tuple[Inputs, ...]:
        pairs = zip(rigs, self._watching(rigs), strict=True)
        return tuple(watch.inputs.read(rig, moment.scene, moment.depsgraph, None) for rig, watch in pairs)

    def _influences(self, rigs: list, scene, problem: RigProblem, inputs) -> tuple[np.ndarray, ...]:
        found = []
        for rig, watch, own in zip(rigs, self._watching(rigs), inputs, strict=True):
            fading = watch.known_fading(rig) if own.fades else None
            if fading:
                found.append(fading.values)
            else:
                found.append(present_setting(rig, self._workflow, "influence", scene, problem.frames))
        return tuple(found)

    def _frames_of(self, rigs: list, moment: Moment, inputs: tuple[Inputs, ...]) -> LiveFrames:
        """For the inputs as they are now: those of the track, or others that it was not solved for."""
        track, before = self._track, self._shown and self._shown.frames
        pairs = zip(rigs, track.solution.results, strict=True)
        ways = [way_back(moment.scene, rig, self._workflow, result) for rig, result in pairs]
        if are_alike(inputs, track.inputs, "solved"):
            return LiveFrames(rigs, track.frames, self._keyed, ways, before)
        solver = self._workflow.frame_solver_now(rigs, moment, track, self._reuse(rigs, inputs))
        return LiveFrames(rigs, solver, [noted_channels(rig, self._workflow) for rig in rigs], ways, before)

    def _reuse(self, rigs: list, inputs: tuple[Inputs, ...]) -> Reuse:
        """How much of what the track was solved with still holds, its sources being as they were."""
        if are_alike(inputs, self._track.inputs, "rig"):
            return Reuse.MOTION
        alike = are_alike(inputs, self._track.inputs, "bones") and self._tell_curves(rigs)
        return Reuse.BONES if alike else Reuse.NOTHING

    def _tell_curves(self, rigs: list) -> bool:
        """Whether curves tell the bound motions, and did when the track was solved."""
        told = all(motion.sampled_because is None for motion in self._track.problem.originals)
        pairs = zip(rigs, self._watching(rigs), strict=True)
        return told and not any(watch.inputs.is_sampled(rig) for rig, watch in pairs)

    def _look(self, rigs: list, moment: Moment) -> tuple[TrackNeed, str]:
        self._why_stepping = None
        for rig in rigs:
            require_armature(rig)
            require_live_plays(rig, self._workflow)
        self._around.look(rigs, moment)
        pairs, inputs = list(zip(rigs, self._watching(rigs), strict=True)), []
        for rig, watch in pairs:
            watch.look_at_keys(rig, moment)
            inputs.append(watch.inputs.read(rig, moment.scene, moment.depsgraph, moment.updated))
        key = key_of(inputs, [watch.source for _, watch in pairs])
        deforming = self._around.deforming(rigs, moment)
        frames, known = self._workflow.bound_frames(rigs[0]), [watch.known(rig) for rig, watch in pairs]
        row = row_at(moment.scene.frame_current_final, frames)
        # Read where one of them differs as well: what it relies on is looked at from then on.
        changed = [watch.why_stepping(rig, moment) for rig, watch in pairs]
        alike = not any(changed) and all(each.deforming in (None, deforming) for each in known)
        if alike and all(key == each.inputs and self._around.fit(each.states, row) for each in known):
            # Keys may have been moved at other frames, which playback does not do.
            is_playback = moment.is_playback and not live.at_once()
            if is_playback or self._around.go_along(rigs, moment, known[0].states, frames):
                # What a dragged frame needs is solved beforehand, where nobody has to wait for it.
                is_new = self._track is None and not live.at_once() and not self._reason_to_step(pairs, moment)
                return TrackNeed.TRACK if is_new else TrackNeed.NOTHING, key
        self._why_stepping = next(filter(None, changed), None) or self._reason_to_step(pairs, moment)
        need = TrackNeed.SWEEP if self._why_stepping else TrackNeed.TRACK
        return need, fingerprint(key, deforming, *self._around.digests(rigs, moment, frames))

    def _reason_to_step(self, pairs, moment: Moment) -> str | None:
        """Why the frames have to be stepped through to read all that a track needs, or None."""
        rigs = [rig for rig, _ in pairs]
        reason = self._around.why_stepping(rigs, moment)
        untold = next((rig for rig, watch in pairs if watch.is_untold(rig)), None)
        if reason is None and untold is not None:
            return f"The keys of '{untold.name}' do not tell its motion"
        return reason
