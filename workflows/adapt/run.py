"""Adapt a bound rig after the environment or the character has changed."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass

from ...solvers.adapt import measures
from ..core.base import names_what_is_too_large, relayed, run_to_end, within
from ..environment.joints import joints_report
from ..environment.problem import gather_steps
from ..rig.bake import RigBakeOptions, require_bakeable, write_steps
from .solution import solve_steps


@dataclass(frozen=True)
class AdaptRigOptions(RigBakeOptions):
    """measure: compare contacts, clearances and smoothness with the original's.  only: objects heeded, by name at bind;
    None for all."""

    measure: bool = True
    only: tuple[str, ...] | None = None


def adapt_rig(context, ob, workflow, options: AdaptRigOptions | None = None) -> dict:
    """Adapt a bound armature object; returns a report that JSON can hold."""
    return run_to_end(adapt_steps(context, ob, workflow, options or AdaptRigOptions()))


@names_what_is_too_large("adapting")
def adapt_steps(context, ob, workflow, options: AdaptRigOptions) -> Generator[tuple[float, str], None, dict]:
    """Adapt, with progress; the new action is made after the last step only. Returns the report."""
    began = time.perf_counter()
    require_bakeable([ob], workflow, options)
    problem = yield from within(gather_steps(context, ob, workflow, options.only), 0.0, 0.3)
    solution = yield from relayed(solve_steps(problem), 0.3, 0.85, "Adapting")
    binding = problem.binding
    report = {
        "joints": len(binding.track.skeleton.names),
        "descriptors": len(binding.points),
        "character_scale": problem.options.scale,
        "solver_fps": len(problem.frames) / solution.seconds,
        "unconverged_frames": int((~solution.adapted.converged).sum()),
        "write_error_mm": 1000 * solution.write_error.metres,
    }
    if options.measure:
        yield 0.9, "Measuring"
        report["measures"] = measures.measure_bound(
            binding, solution.adapted.positions, problem.environment, problem.options.scale
        )
    report |= joints_report(ob, workflow)
    bound = workflow.settings_of(ob).notes.splitlines()
    (written,) = yield from write_steps(context, [ob], workflow, problem, solution, options)
    # The scene may have come to play longer since.
    notes = list(dict.fromkeys((*bound, *written["notes"])))
    return report | written | {"notes": notes, "seconds": time.perf_counter() - began}
