"""Results of rigs whose bones are moved by controls: fitted where Blender evaluates them, after all else was solved.

What is done here needs Blender and its main thread, and can be stopped between any two evaluations: it works on a
private copy, and the scene is not written.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...scene.control_copy import control_copy
from ...solvers.controls.control_rig import ControlRig
from ...solvers.controls.fit import fit_steps
from ...solvers.controls.trial import ControlChannels, FitProblem, Trial
from .action import bound_action, values_of_source
from .control_result import ControlResult
from .control_variables import variables_of
from .problem import RigProblem, RigResult, RigSolution

# What progress says.
FITTING = "Fitting the controls"
# Frames that are evaluated at a stretch; the full human takes 6 ms for each.
_AT_A_STRETCH = 8


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
            found = yield from _fitted(at, ob, workflow, known.on(ob), results[number])
            results[number] = results[number].written_as(found, influence)
    is_same = all(new is old for new, old in zip(results, solution.results, strict=True))
    return solution if is_same else replace(solution, results=tuple(results))


def _fitted(at, ob, workflow, controls: ControlRig, result: RigResult) -> Generator[float, None, ControlResult]:
    names = [controls.rig.names[bone] for bone in controls.controls]
    source, frames = bound_action(ob, workflow), result.original.frames
    variables = variables_of(ob, controls, source)
    before = values_of_source(ob, workflow)
    with control_copy(at, ob, names, frames, controls.switches, source=source, before=before) as copy:
        yield 0.0
        own = copy.source()
        channels = ControlChannels(own.location, own.rotation, own.scale)
        targets = result.whole.pose[:, controls.carriers]
        problem = FitProblem(channels, own.pose, targets, variables, controls.state_of(own.values), controls.size)
        steps, poses, done = fit_steps(controls, problem), None, 0
        try:
            while True:
                trial = steps.send(poses)
                poses = yield from _evaluated(copy, trial, done, len(frames))
                done += len(trial.frames)
        except StopIteration as end:
            return ControlResult.of(controls, problem, end.value, result.original, np.ones(len(frames)))


def _evaluated(copy, trial: Trial, done: int, frames: int) -> Generator[float, None, np.ndarray]:
    """The poses of a trial, a few frames at a stretch. done: frames that were evaluated before."""
    parts = []
    for rows in _stretches(len(trial.frames)):
        channels = trial.channels
        some = ControlChannels(channels.location[rows], channels.rotation[rows], channels.scale[rows])
        parts.append(copy.evaluate(Trial(trial.frames[rows], some)))
        # How often frames will have to be evaluated is not known; about ten times each is usual.
        yield 1.0 - 1.0 / (1.0 + (done + rows.stop) / (10.0 * frames))
    return np.concatenate(parts)


def _stretches(count: int) -> Iterator[slice]:
    for first in range(0, count, _AT_A_STRETCH):
        yield slice(first, min(first + _AT_A_STRETCH, count))
