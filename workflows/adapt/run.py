"""Adapt a bound rig after the environment or the character has changed."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from ...scene.motion import changed_bones
from ...scene.new_names import require_name
from ...scene.strips import require_pushable
from ...solvers.adapt import measures
from ..core import live
from ..core.base import names_what_is_too_large, relayed, run_to_end, within
from ..core.outside_frames import outside_notes
from ..core.result_keys import KeyOptions, choose_keys
from ..environment.joints import joints_report
from ..environment.problem import Problem, Solution, gather_steps, solve_steps
from ..rig.action import bound_action, live_copy, source_played, write_result
from ..rig.live_action import adopt_copy, leave_live, owns_live, play_live, rewrite_live, rewritten_live

# The workflow's identifier.
ADAPT = "adapt"


@dataclass(frozen=True)
class AdaptRigOptions:
    """name: of the new action, else made from the source's.  assign: play it on the rig.  measure: compare contacts,
    clearances and smoothness with the original's.  only: objects heeded, by name at bind; None for all.  keys: which
    are written.  strip: push the action to a new NLA track instead, mute where assign is false."""

    name: str | None = None
    assign: bool = True
    measure: bool = True
    only: tuple[str, ...] | None = None
    keys: KeyOptions = KeyOptions()
    strip: bool = False


def adapt_rig(context, ob, options: AdaptRigOptions | None = None) -> dict:
    """Adapt a bound armature object; returns a report that JSON can hold."""
    return run_to_end(adapt_steps(context, ob, options or AdaptRigOptions()))


@names_what_is_too_large("adapting")
def adapt_steps(context, ob, options: AdaptRigOptions) -> Generator[tuple[float, str], None, dict]:
    """Adapt, with progress; the new action is made after the last step only. Returns the report."""
    began = time.perf_counter()
    require_name(options.name)
    if options.strip:
        require_pushable(ob)
    problem = yield from within(gather_steps(context, ob, options.only), 0.0, 0.3)
    solution = yield from relayed(solve_steps(problem), 0.3, 0.85, "Adapting")
    binding = problem.binding
    frames = binding.track.frames
    report = {
        "rig": ob.name,
        "frames": len(frames),
        "joints": len(binding.track.skeleton.names),
        "descriptors": len(binding.points),
        "character_scale": problem.options.scale,
        "solver_fps": len(frames) / solution.seconds,
        "unconverged_frames": int((~solution.adapted.converged).sum()),
        "write_error_mm": 1000 * solution.write_error.metres,
    }
    if options.measure:
        yield 0.9, "Measuring"
        report["measures"] = measures.measure_bound(
            binding, solution.adapted.positions, problem.environment, problem.options.scale
        )
    yield 0.94, "Choosing keys"
    with source_played(ob):
        # What the user has keyed while live, in bones that did not have to change, is not to be written over.
        body = None if live_copy(ob) else np.unique(problem.source.bones[problem.source.bones >= 0])
        keys = choose_keys(context, ob, solution.motion, problem.source.motion, options.keys, body)
    yield 0.97, "Writing the action"
    left_out = outside_notes(context.scene, ob, bound_action(ob), frames, "bound")
    with live.restored_after_error(ob, ADAPT, rewritten_live(ob)):
        origin, new, silenced = _written(context, ob, options, problem, solution, keys.chosen)
        report |= {
            "source": origin,
            "action": new.name,
            "strip": options.strip,
            **keys.report(),
            "changed_bones": changed_bones(problem.source.motion, solution.motion),
            "silenced_constraints": silenced,
            **joints_report(ob),
            # The scene may have come to play longer since.
            "notes": list(dict.fromkeys((*ob.motion_loom_adapt.notes.splitlines(), *left_out, *solution.notes))),
        }
    return report | {"seconds": time.perf_counter() - began}


def _written(context, ob, options: AdaptRigOptions, problem: Problem, solution: Solution, keys: np.ndarray) -> tuple:
    """Write the result, and play it or the live one; returns as ``write_result``."""
    settings = ob.motion_loom_adapt
    heeded, was_live = settings.limits, settings.live
    adopt_copy(ob)
    if was_live and owns_live(ob):
        rewrite_live(context.scene, ob, solution)
    elif was_live:
        play_live(context, ob, problem.source, solution.motion)
    written = write_result(context, ob, options.name, solution.motion, options.assign, heeded, keys, options.strip)
    if was_live and (options.assign or options.strip):
        leave_live(ob)
        live.end(ob, ADAPT)
    return written
