"""Adapt a bound rig after the environment or the character has changed."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass

from ..command_line.words import counted
from ..core.base import names_what_is_too_large, relayed, run_to_end, within
from ..environment.contacts import contacts_report
from ..environment.joints import joints_report
from ..environment.lowered import keep_lowered
from ..environment.problem import Problem, gather_steps
from ..environment.replaced import ground_as_json, ground_notes, ground_report
from ..environment.sanity import roughest_frame, unsettled_note
from ..rig.bake import CHOOSING, RigBakeOptions, choose_key_steps, require_bakeable, write_steps
from ..rig.control_fit import FITTING, fitted_steps
from ..rig.control_report import control_report
from ..rig.factors import notes_of_kept_keys
from .findings import measure_written
from .own_contacts import note_of_own
from .remarks import Remark, control_remarks, note_of_deeper, note_of_given_up, remarks
from .report import keep_report
from .solution import Solution, solve_steps


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
    solution = yield from relayed(solve_steps(problem), 0.3, 0.7, "Adapting")
    fit = fitted_steps(context, [ob], workflow, problem, solution)
    solution = yield from relayed(fit, 0.7, 0.85, FITTING)
    binding = problem.binding
    report = {
        "joints": len(binding.track.skeleton.names),
        "descriptors": len(binding.points),
        "character_scale": problem.options.scale,
        "solver_fps": len(problem.frames) / solution.seconds,
        "unconverged_frames": int((~solution.adapted.converged).sum()),
        "unconverged": problem.frames[~solution.adapted.converged].tolist(),
        "left_unclear": problem.frames[solution.adapted.unclear].tolist(),
        "let_go_of_itself": problem.frames[solution.adapted.let_go].tolist(),
        "write_error_mm": 1000 * solution.write_error.metres,
    }
    lowered = solution.adapted.moves.sinking.max(axis=0)
    report["hips_lowered_cm"] = {"max": 100.0 * float(lowered.max()), "mean": 100.0 * float(lowered.mean())}
    uses = problem.options.surfaces
    ground = ground_report(binding, problem.environment, uses)
    if ground.lost:
        report["replaced"] = ground_as_json(binding, problem.environment, uses, ground)
    ungrounded = ground_notes(binding, problem.environment, ground)
    (result,) = solution.results
    steps = choose_key_steps(context, [ob], workflow, solution, options)
    chosen = yield from relayed(steps, 0.85, 0.9, CHOOSING)
    fitted = control_report(result.written, result.whole, chosen[0].posed) if result.written else None
    if fitted is not None:
        report["controls"] = fitted.figures()
    found, told, lost = None, [], []
    if options.measure:
        yield 0.9, "Measuring"
        report["measures"], found = measure_written(problem, chosen[0].played(result))
        told = [*_unsettled(problem, solution), *control_remarks(fitted)]
        told += remarks(found, chosen[0].keys.is_thinned, problem.options.upright)
        report["warnings"] = [remark.doubt for remark in told if remark.doubt]
        lost = note_of_given_up(found) + note_of_own(report["measures"]["own_contacts"])
        lost += note_of_deeper(found) if problem.options.collision else []
    report |= joints_report(ob, workflow)
    report["contact_list"] = contacts_report(workflow.settings_of(ob))
    bound = (*workflow.settings_of(ob).notes.splitlines(), *notes_of_kept_keys(ob, workflow))

    def keep(written):
        keep_report(context, ob, workflow, report | written[0], found, told)
        action = context.blend_data.actions[written[0]["action"], None]
        source = workflow.settings_of(ob).source or written[0]["source"]
        keep_lowered(action, workflow, source, float(lowered.max()), binding.scale)

    (written,) = yield from write_steps(context, [ob], workflow, problem, solution, options, chosen, keep)
    # The scene may have come to play longer since.
    notes = list(dict.fromkeys((*bound, *written["notes"], *ungrounded, *report.get("warnings", ()), *lost)))
    return report | written | {"notes": notes, "seconds": time.perf_counter() - began}


def _unsettled(problem: Problem, solution: Solution) -> Iterator[Remark]:
    """Of frames that did not converge, if there are any."""
    adapted, frames = solution.adapted, problem.frames
    note = unsettled_note(adapted, frames)
    if note is not None:
        text = f"{counted(int((~adapted.converged).sum()), 'frame')} did not settle"
        yield Remark(text, "", roughest_frame(adapted, frames), note)
