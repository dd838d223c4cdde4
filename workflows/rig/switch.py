"""Live on a rig, or on several at once, is switched on and off, and brought up to date at all frames."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from ..core import live
from ..core.base import relayed, too_large_named, within
from ..core.follower import Moment
from .control_fit import FITTING
from .factors import going_on
from .follower import RigFollower
from .live_action import (
    adopt_copy,
    leave_live,
    owns_live,
    play_live,
    require_live_plays,
    rewrite_live,
    rewritten_live,
)
from .live_keys import held_by_user
from .live_source import keep_motion
from .owner import require_owner
from .problem import RigProblem
from .track import Track, fitted_track, solved_track


def live_on_steps(context, rigs: Sequence, workflow) -> Generator[tuple[float, str], None, str]:
    """Solve and play the live actions, with progress; the scene is changed after the last step only.

    rigs: of one run, the leading one first.  Raises SceneError where one is live in another workflow.
    """
    require_owner(rigs, workflow)
    for ob in rigs:
        adopt_copy(ob, workflow)
        if owns_live(ob, workflow):
            held_by_user(ob, workflow, workflow.joints(ob))  # refuses what would play under the track
    track = yield from _all_steps(context, rigs, workflow)
    with restored_after_error(rigs, workflow):
        for ob, result in zip(rigs, track.solution.results, strict=True):
            play_live(context, ob, workflow, result)
        _begin(context, rigs, workflow, track)
    return ", ".join(f"'{ob.name}' is live: it plays '{workflow.settings_of(ob).live_action.name}'" for ob in rigs)


def refresh_steps(context, rigs: Sequence, workflow) -> Generator[tuple[float, str], None, str]:
    """Solve the live actions again, stepping through frames where that is needed."""
    for ob in rigs:
        require_live_plays(ob, workflow)
    track = yield from _all_steps(context, rigs, workflow)
    with restored_after_error(rigs, workflow):
        for ob, result in zip(rigs, track.solution.results, strict=True):
            rewrite_live(context.scene, ob, workflow, result)
        _begin(context, rigs, workflow, track)
    return f"'{rigs[0].name}' is up to date at all frames"


def live_off(rigs: Sequence, workflow) -> str | None:
    """Play the sources again; says so where the user's keys are kept."""
    with restored_after_error(rigs, workflow, ()):
        kept = [name for name in (leave_live(ob, workflow) for ob in rigs) if name]
        live.end(rigs[0], workflow.id)
    return ". ".join(f"Keys were set while live: they are kept in '{name}'" for name in kept) or None


@contextmanager
def restored_after_error(rigs: Sequence, workflow, rewritten: Sequence | None = None) -> Iterator[None]:
    """As ``live.restored_after_error``, of all rigs of a run.

    rewritten: actions whose keys change, by default the live ones that go on.
    """
    with ExitStack() as stack:
        for ob in rigs:
            changed = rewritten_live(ob, workflow) if rewritten is None else rewritten
            stack.enter_context(live.restored_after_error(ob, workflow.id, changed))
        yield


def _all_steps(context, rigs: Sequence, workflow) -> Generator[tuple[float, str], None, Track]:
    with too_large_named(workflow.doing, rigs[0], rigs[1:]):
        problem = yield from within(workflow.read_steps(context, rigs), 0.0, 0.3)
        problem = _with_kept_factors(context.scene, rigs, workflow, problem)
        track = yield from relayed(solved_track(workflow, problem), 0.3, 0.7, workflow.doing.capitalize())
        track = yield from relayed(fitted_track(context, rigs, workflow, track), 0.7, 0.95, FITTING)
        yield 0.97, "Writing the live action"
        return track


def _with_kept_factors(scene, rigs: Sequence, workflow, problem: RigProblem) -> RigProblem:
    """With the factors that are keyed in the live actions which go on."""
    for name in workflow.factors:
        rows = [going_on(scene, ob, workflow, name, problem.frames) for ob in rigs]
        if any(each is not None for each in rows):
            problem = problem.with_factor(name, rows)
    return problem


def _begin(context, rigs: Sequence, workflow, track: Track) -> None:
    depsgraph = context.evaluated_depsgraph_get()
    for ob, motion in zip(rigs, track.problem.originals, strict=True):
        keep_motion(ob, workflow, motion, depsgraph)
    follower = RigFollower(workflow)
    follower.start(rigs[0], Moment(context.scene, context.evaluated_depsgraph_get(), None), track)
    live.begin(rigs[0], workflow, follower)
