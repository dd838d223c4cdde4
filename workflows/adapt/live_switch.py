"""Adapt live is switched on and off, and brought up to date at all frames."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from ...scene.actions import find_curve
from ...scene.influence import factor_rows, is_driven
from ..core import live
from ..core.base import names_what_is_too_large, relayed, within
from ..core.follower import Moment
from ..environment.model import stored_of
from ..environment.problem import Problem, gather_steps
from ..rig.action import INFLUENCE
from ..rig.live_action import (
    adopt_copy,
    leave_live,
    live_slot,
    owns_live,
    play_live,
    require_live_plays,
    rewrite_live,
    rewritten_live,
)
from ..rig.live_keys import held_by_user
from ..rig.live_source import keep_motion
from .follower import AdaptFollower
from .live_track import Track, solved


@names_what_is_too_large("adapting")
def live_on_steps(context, ob, workflow) -> Generator[tuple[float, str], None, str]:
    """Solve and play the live action, with progress; the scene is changed after the last step only."""
    adopt_copy(ob)
    if owns_live(ob):
        held_by_user(ob, stored_of(ob).binding.track.skeleton.names)  # refuses what would play under the track
    track = yield from _all_steps(context, ob)
    with live.restored_after_error(ob, workflow.id, rewritten_live(ob)):
        play_live(context, ob, track.problem.source, track.solution.motion)
        _begin(context, ob, workflow, track)
    return f"'{ob.name}' is live: it plays '{ob.motion_loom_adapt.live_action.name}'"


@names_what_is_too_large("adapting")
def refresh_steps(context, ob, workflow) -> Generator[tuple[float, str], None, str]:
    """Solve the live action again, stepping through frames where that is needed."""
    require_live_plays(ob)
    track = yield from _all_steps(context, ob)
    with live.restored_after_error(ob, workflow.id, rewritten_live(ob)):
        rewrite_live(context.scene, ob, track.solution)
        _begin(context, ob, workflow, track)
    return f"'{ob.name}' is up to date at all frames"


def _all_steps(context, ob):
    problem = yield from within(gather_steps(context, ob), 0.0, 0.3)
    problem = _with_kept_influence(context.scene, ob, problem)
    track = yield from relayed(solved(problem, None, ""), 0.3, 0.95, "Adapting")
    yield 0.97, "Writing the live action"
    return track


def _with_kept_influence(scene, ob, problem: Problem) -> Problem:
    """With the influence that is keyed in the live action which goes on, whatever the property is left at."""
    action, slot = ob.motion_loom_adapt.live_action, live_slot(ob)
    if is_driven(ob, INFLUENCE) or find_curve(action, slot, INFLUENCE) is None or not owns_live(ob):
        return problem
    frames = problem.binding.track.frames
    return replace(problem, influence=factor_rows(scene, ob, INFLUENCE, action, slot, frames))


def _begin(context, ob, workflow, track: Track) -> None:
    keep_motion(ob, track.problem.source.motion, context.evaluated_depsgraph_get())
    follower = AdaptFollower()
    follower.start(ob, Moment(context.scene, context.evaluated_depsgraph_get(), None), track)
    live.begin(ob, workflow, follower)


def live_off(ob, workflow) -> str | None:
    """Play the source again; says so where the user's keys are kept."""
    with live.restored_after_error(ob, workflow.id):
        kept = leave_live(ob)
        live.end(ob, workflow.id)
    return kept and f"Keys were set while live: they are kept in '{kept}'"
