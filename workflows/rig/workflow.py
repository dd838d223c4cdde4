"""What workflows share whose result is the motion of rigs: when they can begin, and how they go live."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Sequence

import numpy as np

from ...scene.rigs import why_not_editable
from ..core.base import Steps, Workflow
from ..core.follower import Moment
from .bake import bake_steps, options_of, summary
from .controls import KnownControls
from .follower import Reuse, RigFollower
from .frame import FrameSolver
from .live_action import live_rigs
from .owner import why_live_elsewhere
from .problem import RigProblem, RigSolution
from .surroundings import Surroundings
from .switch import live_off, live_on_steps, refresh_steps
from .track import Track


class RigWorkflow(Workflow):
    """A workflow of the active armature object, or of a run of several that it belongs to.

    Its settings are ``RigResultSettings``, its ``action_notes`` ``RigActionNotes``. While live each rig plays a copy of
    its action that holds the solved track; see ``rig.live_action`` and ``rig.follower``.

    done:       what a result is called after its source, in a word, as in "Walk (adapted)".
    doing:      the same while it is done, as in "adapting".
    factors: names of settings from 0 to 1 that can be keyed in the rig's action.
    bound_word: what ``fit`` does to the frames that are solved, in a word, as in "bound".
    """

    is_live = True
    done: str
    doing: str
    bound_word: str = "bound"
    factors: tuple[str, ...] = ("influence",)

    @property
    def influence_path(self) -> str:
        """Data path from the rig's object."""
        return self.setting_path("influence")

    def setting_path(self, name: str) -> str:
        """Of one of the settings, from a rig's object."""
        return f"{self.settings_name}.{name}"

    def keyed_factors(self, ob) -> Sequence[str]:
        """Of the settings of one rig, those that its action may key."""
        return self.factors

    def factor_label(self, ob, name: str) -> str:
        """What one of ``keyed_factors`` is called, as a sentence begins."""
        return name.capitalize()

    # --------------------------------------------------------------------------- what each workflow says for itself

    def why_not_yet(self, context, ob, step: str) -> str | None:
        """What a step, see ``poll``, still lacks of what belongs to this workflow alone, or None."""
        raise NotImplementedError

    def rigs_of(self, ob) -> list:
        """The rigs of the run that a rig belongs to, the leading one first: that one's settings count for all."""
        return [ob]

    def bound_frames(self, ob) -> np.ndarray:
        """Scene frames (F,) that are solved, ascending."""
        raise NotImplementedError

    def bound_mark(self, ob) -> tuple:
        """Texts and numbers that tell what the rig is bound to from anything else."""
        raise NotImplementedError

    def joints(self, ob) -> Collection[str]:
        """Names of what is solved, bones among them: while live the user keys neither their places nor their sizes."""
        raise NotImplementedError

    def resting_joints(self, ob) -> Sequence[str]:
        """Those of them whose location counts where neither keys nor solving moves it."""
        return ()

    def controls_of(self, ob) -> KnownControls | None:
        """What results are written to, for a rig that was bound as one whose bones are moved by controls; else None.

        Constraints of such a rig are left on.  Raises StaleBindingError where what was kept of it is damaged.
        """
        return None

    def heeds_limits(self, ob) -> bool:
        """Whether rotation limits of bones are kept, so that a result does not switch them off."""
        return False

    def holds_outside(self, ob) -> bool:
        """Whether a result holds still before and after the bound frames where its source goes on there."""
        return self.settings_of(ob).holds_outside

    def choices(self, ob, depsgraph) -> Iterable:
        """Texts, numbers and arrays: the user's choices that a result depends on, and what they name that is still."""
        raise NotImplementedError

    def relied_on(self, ob) -> Iterable:
        """Data-blocks (or None) beside the rig whose evaluation may mean other choices."""
        return ()

    def surroundings(self) -> Surroundings:
        """What a follower has to watch beside the rigs; it knows nothing yet."""
        return Surroundings()

    def read_steps(self, context, rigs: Sequence) -> Generator[tuple[float, str], None, RigProblem]:
        """Read everything, stepping through frames where that is needed; yields progress from 0 to 1.

        Raises StaleBindingError where what is bound is no longer there, SceneError and InputError for what cannot be
        read.
        """
        raise NotImplementedError

    def read_now(self, rigs: Sequence, moment: Moment, known: RigProblem | None, reuse: Reuse) -> RigProblem:
        """As ``read_steps`` without stepping, for rigs that play their live actions; influences are filled in later.

        known: the problem of the last track.  reuse: how much of the rigs in it still holds.
        Raises LiveProblem where only stepping through the frames would tell, see ``live_source.untold``.
        """
        raise NotImplementedError

    def solve_steps(self, problem: RigProblem) -> Generator[float, None, RigSolution]:
        """Solve all frames, yielding progress from 0 to 1: arrays only, so that a thread may do it.

        Raises OutputError where a rig cannot show the result.
        """
        raise NotImplementedError

    def differs_in_influence(self, problem: RigProblem, known: RigProblem) -> bool:
        """Whether a problem is a known one with other influences at most; both of the same choices."""
        return False

    def faded(self, known: RigSolution, problem: RigProblem) -> RigSolution:
        """The solution of a problem that differs from the solved one in influence alone."""
        raise NotImplementedError

    def frame_solver(self, problem: RigProblem, solution: RigSolution) -> FrameSolver:
        """What solves single frames of a problem: arrays only, as ``solve_steps``."""
        raise NotImplementedError

    def frame_solver_now(self, rigs: Sequence, moment: Moment, track: Track, reuse: Reuse) -> FrameSolver:
        """As ``frame_solver``, with rigs and choices as they are now. track: of what was solved last.  reuse: see
        ``read_now``."""
        problem = self.read_now(rigs, moment, track.problem, reuse)
        return self.frame_solver(problem, track.solution)

    # ---------------------------------------------------------------------------------------------- what they share

    def poll(self, context, step: str) -> str | None:
        ob = context.object
        reason = why_not_editable(ob)
        if reason is not None:
            return reason
        reason = self.why_not_yet(context, ob, step) or why_live_elsewhere(ob, self)
        if reason is None and step.startswith("live") and ob.animation_data and ob.animation_data.use_tweak_mode:
            return "An NLA strip is being tweaked: leave that first (Tab in the NLA editor)."
        return reason

    def bake(self, context) -> Steps:
        rigs = self.rigs_of(context.object)
        options = options_of(self.settings_of(rigs[0]))
        reports = yield from bake_steps(context, rigs, self, options)
        notes = [note for report in reports for note in report["notes"]]
        return ". ".join((*(summary(report, self.done) for report in reports), *dict.fromkeys(notes)))

    def live_objects(self) -> list:
        return [ob for ob in live_rigs(self) if self.rigs_of(ob)[0] == ob]

    def follower(self, ob) -> RigFollower:
        return RigFollower(self)

    def is_on(self, context) -> bool:
        ob = context.object
        return ob is not None and ob.type == "ARMATURE" and ob.library is None and self.settings_of(ob).live

    def live_on(self, context) -> Steps:
        return live_on_steps(context, self.rigs_of(context.object), self)

    def live_off(self, context) -> str | None:
        return live_off(self.rigs_of(context.object), self)

    def live_refresh(self, context) -> Steps:
        return refresh_steps(context, self.rigs_of(context.object), self)
