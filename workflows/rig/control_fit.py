"""Results of rigs whose bones are moved by controls: fitted where Blender evaluates them, after all else was solved.

What is done here needs Blender and its main thread, and can be stopped between any two evaluations: it works on a
private copy, and the scene is not written.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...scene.control_candidates import locked_keys
from ...scene.control_copy import ControlCopy, control_copy
from ...scene.outside_goals import outside_goals
from ...scene.switches import in_few_steps
from ...solvers.controls.channels import taken
from ...solvers.controls.control_rig import ControlRig
from ...solvers.controls.fit import fit_steps
from ...solvers.controls.limb_states import with_states
from ...solvers.controls.plan import Plan
from ...solvers.controls.trial import ControlChannels, ControlFit, FitProblem, Trial
from ...solvers.core.steps import within
from .action import bound_action, played_action, result_in_strip, unkeyed_at_bind, values_of_source
from .control_report import astray_notes, control_report, flip_notes
from .control_result import ControlResult
from .control_variables import WriteChoices, plans_of
from .controls import KnownControls
from .copied_rig import copy_notes
from .problem import RigProblem, RigResult, RigSolution
from .switch_notes import lock_notes, switch_notes
from .unkeyed import unkeyed_notes

# What progress says.
FITTING = "Fitting the controls"
# Frames that are evaluated at a stretch; the full human takes 6 ms for each.
_AT_A_STRETCH = 4
# Of the body's size: less is rounding of curves.
_MOVED = 1e-5
# Share of the progress that reading the source takes.
_READ = 0.05


def fitted_steps(
    at, rigs: Sequence, workflow, problem: RigProblem, solution: RigSolution
) -> Generator[float, None, RigSolution]:
    """A solution with results that say what is written, yielding shares done; itself where no rig has controls.

    at: a context, or a moment: what has the scene.  A result that says so already keeps what was fitted.
    Raises StaleBindingError for a rig whose mechanism is another than at Bind.
    """
    results = list(solution.results)
    for number, (ob, influence) in enumerate(zip(rigs, problem.influences, strict=True)):
        known = workflow.controls_of(ob)
        if known is not None and results[number].written is None:
            found = yield from _fitted(at, ob, workflow, known, results[number])
            results[number] = results[number].written_as(found, influence)
    is_same = all(new is old for new, old in zip(results, solution.results, strict=True))
    return solution if is_same else replace(solution, results=tuple(results))


def _fitted(at, ob, workflow, known: KnownControls, result: RigResult) -> Generator[float, None, ControlResult]:
    controls = known.on(ob)
    names = [controls.rig.names[bone] for bone in controls.controls]
    source, before = bound_action(ob, workflow), values_of_source(ob, workflow)
    chosen = WriteChoices.of(workflow.settings_of(ob))
    frames, targets = result.original.frames, result.whole.pose[:, controls.carriers]
    what = {"source": source, "before": before, "silent": result_in_strip(ob, workflow)}
    with control_copy(at, ob, names, frames, controls.switches, **what) as copy:
        own = yield from within(copy.source_steps(), 0.0, _READ)
        copied = list(copy_notes(controls, result.original, own.pose))
        channels = ControlChannels(own.location, own.rotation, own.scale)
        plans = plans_of(ob, controls, source, own.values, chosen, workflow.joints(ob))
        run = _Run(copy, controls, own.pose, any(len(plan.switched) for plan in plans))
        posed, problem, fit = yield from run.fitted(plans[0], channels, targets)
        flips: tuple[str, ...] = ()
        for other in plans[1:]:
            shown = fit.pose[:, controls.carriers]
            _, more, found = yield from run.fitted(other, problem.source, shown, fit.channels)
            flips += (*flip_notes(controls, other, fit.pose, found.pose, result.original),)
            problem = replace(problem, source=more.source, variables=problem.variables | more.variables)
            fit = replace(fit, channels=found.channels, evaluations=fit.evaluations + found.evaluations)
        if len(plans) > 1:
            fit = yield from run.shown_again(plans[0], channels, targets, fit)
    switches = {controls.switches[k]: float(plans[0].values[0, k]) for k in plans[0].switched}
    written = {names[each] for plan in plans for each in np.flatnonzero(plan.active)}
    by_hand = unkeyed_notes(ob, unkeyed_at_bind(ob, workflow), played_action(ob), written)
    notes = (*switch_notes(ob, controls, source, plans, switches, chosen), *flips, *by_hand)
    notes += tuple(lock_notes(ob, names, known.arrays["free"]))
    locked = locked_keys(ob, *source)
    found = ControlResult.of(posed, problem, fit, channels, switches, notes, locked, result.original)
    found = replace(found, outside=outside_goals(ob, source))
    doubts = [*copied, *filter(None, [control_report(found, result.whole).doubt]), *astray_notes(found)]
    return replace(found, notes=(*notes, *doubts)) if doubts else found


@dataclass
class _Run:
    """Fits on one copy. pose: (F, B, 4, 4) what the source evaluates to.  switching: whether any fit has other values
    of switches than the source.  done: frames that were evaluated."""

    copy: ControlCopy
    controls: ControlRig
    pose: np.ndarray
    switching: bool
    done: int = 0

    def fitted(
        self, plan: Plan, channels: ControlChannels, targets: np.ndarray, onto: ControlChannels | None = None
    ) -> Generator[float, None, tuple[ControlRig, FitProblem, ControlFit]]:
        """The rig as it is posed there, what was fitted, and what came of it. channels: that play the source.
        onto: channels to which others are added.

        Where limbs change to other controls, these are brought to the source's pose first: blending begins there.
        """
        told = in_few_steps(self.controls.switches, plan.values)
        controls = with_states(self.controls, told).posed_by(plan.posed)
        state, pose = controls.state_of(told), self.pose
        if len(plan.switched):
            pose = yield from self._evaluated(Trial(np.arange(len(pose)), channels), plan.values)
            there = self.pose[:, controls.carriers]
            snap = FitProblem(channels, pose, there, plan.variables, state, controls.size)
            snapped = yield from self._run(controls, snap, plan.values)
            channels, pose = snapped.channels, snapped.pose
        problem = FitProblem(channels, pose, targets, plan.variables, state, controls.size)
        start = problem
        if onto is not None:
            merged = _merged(onto, channels, plan.posed)
            pose = yield from self._evaluated(Trial(np.arange(len(pose)), merged), plan.values)
            start = replace(problem, source=merged, pose=pose)
        return controls, problem, (yield from self._run(controls, start, plan.values))

    def shown_again(
        self, plan: Plan, channels: ControlChannels, targets: np.ndarray, fit: ControlFit
    ) -> Generator[float, None, ControlFit]:
        """A fit as it is with the controls of the other ends posed as well: chains of IK begin at the pose that theirs
        make. Where that moves anything the plan is fitted once more."""
        pose = yield from self._evaluated(Trial(np.arange(len(self.pose)), fit.channels), plan.values)
        moved = np.abs(pose - fit.pose)[..., :3, 3].max()
        if moved <= _MOVED * self.controls.size:
            return replace(fit, pose=pose)
        _, _, found = yield from self.fitted(plan, channels, targets, fit.channels)
        return replace(found, evaluations=fit.evaluations + found.evaluations)

    def _run(self, controls, problem: FitProblem, values: np.ndarray) -> Generator[float, None, ControlFit]:
        steps, poses = fit_steps(controls, problem), None
        try:
            while True:
                trial = steps.send(poses)
                poses = yield from self._evaluated(trial, values)
        except StopIteration as end:
            return end.value

    def _evaluated(self, trial: Trial, values: np.ndarray) -> Generator[float, None, np.ndarray]:
        """The poses of a trial, a few frames at a stretch. values: (F, P) of the switches."""
        parts = []
        for rows in _stretches(len(trial.frames)):
            frames = trial.frames[rows]
            some = Trial(frames, taken(trial.channels, rows))
            parts.append(self.copy.evaluate(some, values[frames] if self.switching else None))
            self.done += len(frames)
            # How often frames will have to be evaluated is not known; about ten times each is usual.
            yield 1.0 - (1.0 - _READ) / (1.0 + self.done / (10.0 * len(self.pose)))
        return np.concatenate(parts)


def _merged(onto: ControlChannels, channels: ControlChannels, posed: np.ndarray) -> ControlChannels:
    """Channels in which the location and the rotation of controls that are posed, (C, 2), are those of the second.

    What only turns keeps its place: a goal of IK turns a foot also while the leg is posed bone by bone.
    """
    location, rotation = (
        np.where(chosen[:, None], getattr(channels, name), getattr(onto, name))
        for name, chosen in zip(("location", "rotation"), posed.T, strict=True)
    )
    return ControlChannels(location, rotation, onto.scale)


def _stretches(count: int) -> Iterator[slice]:
    for first in range(0, count, _AT_A_STRETCH):
        yield slice(first, min(first + _AT_A_STRETCH, count))
