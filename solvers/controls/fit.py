"""Finds the channels of controls with which a rig's carriers come to their targets, on evaluations by others.

First controls go where their carriers' targets carry them, in closed form.  Then what is left is taken away by damped
Gauss-Newton steps, at all frames at once, in blocks of variables that do not touch each other.  Jacobians come from
finite differences, different variables at different frames, between which they are interpolated.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from .blocks import Block, blocks_of
from .channels import Stepper, copied, put, taken
from .closed_form import carried_channels, rigid
from .control_rig import ControlRig
from .damped import DampedBlock
from .measuring import STEP, Samples, measured
from .misfit import References, errors
from .trial import ControlChannels, ControlFit, FitProblem, Trial

# Poses about which it is measured what moves what: steps of this size, at so many frames for each variable.
_DISORDER, _LOOKS = 0.2, 3


@dataclass(frozen=True)
class FitOptions:
    """passes: of the closed form.  rounds: frames of the clip to a measured Jacobian, and the most steps with it."""

    passes: int = 2
    rounds: tuple[tuple[int, int], ...] = ((6, 5), (6, 6), (1, 12), (1, 25))


def fit_steps(
    controls: ControlRig, problem: FitProblem, options: FitOptions = FitOptions()
) -> Generator[Trial, np.ndarray, ControlFit]:
    """Yields trials of channels and is sent what the rig then evaluates to; see ``Evaluations``.

    What no control can reach is left as near as the least squares of all carriers have it.
    """
    fit = _Fit(controls, problem, options)
    yield from fit.carry()
    for state in np.unique(problem.state):
        yield from fit.refine(np.flatnonzero(problem.state == state))
    return (yield from fit.result())


class _Fit:
    """A fit that is under way."""

    def __init__(self, controls: ControlRig, problem: FitProblem, options: FitOptions):
        self.controls, self.problem, self.options = controls, problem, options
        self.stepper = Stepper.of(controls, problem.variables, problem.size)
        self.targets = rigid(problem.targets)
        self.channels = copied(problem.source)
        self.pose = problem.pose.copy()
        self.evaluations = np.zeros(len(self.pose), int)
        self.settled = np.ones(len(self.pose), bool)

    def carry(self) -> Generator[Trial, np.ndarray, None]:
        """Closed form: each frame keeps the best of what was tried, the source's own channels among them."""
        every = np.arange(len(self.pose))
        channels, pose, best = self.channels, self.pose, self._misfit(self.pose)
        for _ in range(self.options.passes):
            channels = carried_channels(self.controls, self.stepper, channels, pose, self.targets, self.problem.state)
            pose = yield from self._evaluate(every, channels)
            misfit = self._misfit(pose)
            better = np.flatnonzero(misfit < best)
            put(self.channels, better, taken(channels, better))
            self.pose[better], best[better] = pose[better], misfit[better]

    def refine(self, frames: np.ndarray) -> Generator[Trial, np.ndarray, None]:
        """Gauss-Newton at frames (n,) in which the switches stand alike."""
        columns = np.flatnonzero(self.stepper.variables)
        if not len(columns):
            return
        blocks, references = yield from self._structure(frames, columns)
        if not blocks:
            return
        tied = _Tied(blocks, references)
        now = self._errors(frames, references)
        away = self.stepper.between(taken(self.problem.source, frames), taken(self.channels, frames))
        away = away.reshape(len(frames), -1)
        weights = np.ones(now.shape[1])
        fits = [DampedBlock(now[:, block.rows], away[:, block.columns], weights[block.rows]) for block in blocks]
        unsettled = np.arange(len(frames))
        for turn, (stride, steps) in enumerate(self.options.rounds):
            some = frames[unsettled]
            if turn:  # the last trial was not kept everywhere
                self.pose[some] = yield from self._evaluate(some, taken(self.channels, some))
                now = self._errors(some, references)
                for block, fit in zip(blocks, fits, strict=True):
                    fit.correct(unsettled, now[:, block.rows])
            left = [not (fit.settled | fit.exact())[unsettled].all() for fit in fits]
            if not any(left):
                break
            groups = tied.groups(self.stepper.variables.size, left)
            channels = taken(self.channels, some)
            samples = yield from self._measure(some, channels, groups, max(2, len(some) // stride))
            self._learn(fits, tied, left, unsettled, some, samples)
            yield from self._descend(frames, fits, tied, steps)
            unsettled = np.flatnonzero(~np.all([fit.exact() | fit.settled for fit in fits], axis=0))
            if not len(unsettled):
                break
        self.settled[frames[unsettled]] = False

    def _structure(
        self, frames: np.ndarray, columns: np.ndarray
    ) -> Generator[Trial, np.ndarray, tuple[list[Block], References]]:
        """Blocks, measured about poses of no order, since at rest much stands still that moves elsewhere."""
        source = taken(self.problem.source, frames)
        disorder = np.random.default_rng(0).normal(0.0, _DISORDER, (len(frames), *self.stepper.variables.shape))
        channels = self.stepper.step(source, disorder)
        pose = yield from self._evaluate(frames, channels)
        alone = np.zeros((len(columns), self.stepper.variables.size), bool)
        alone[np.arange(len(columns)), columns] = True
        samples = yield from self._measure(frames, channels, alone, _LOOKS)
        base = rigid(pose[:, self.controls.carriers])
        return blocks_of(samples, base, columns, self.controls.carrier_parents, self.problem.size)

    def result(self) -> Generator[Trial, np.ndarray, ControlFit]:
        """Evaluates what was found, once more, for it is this that is judged."""
        self.pose = yield from self._evaluate(np.arange(len(self.pose)), self.channels)
        whole = References(*np.full((2, len(self.controls.carriers)), -1))
        carried = rigid(self.pose[:, self.controls.carriers])
        off = errors(carried, self.targets, whole, 1.0, radian=1.0)
        misses, turns = np.linalg.norm(off[..., :3], axis=-1), np.linalg.norm(off[..., 3:], axis=-1)
        return ControlFit(self.channels, self.pose, misses, turns, self.settled, self.evaluations)

    def _descend(self, frames, fits, tied, steps: int) -> Generator[Trial, np.ndarray, None]:
        """Steps until all blocks are at rest at all frames."""
        for _ in range(steps):
            going = [np.flatnonzero(fit.active) for fit in fits]
            some = np.unique(np.concatenate(going))
            if not len(some):
                break
            step = np.zeros((len(some), self.stepper.variables.size))
            tried = []
            for block, fit, active in zip(tied.blocks, fits, going, strict=True):
                tried.append(fit.steps(active))
                step[np.searchsorted(some, active)[:, None], block.columns] = tried[-1]
            before = taken(self.channels, frames[some])
            pose = yield from self._evaluate(frames[some], self.stepper.step(before, _by_control(step)))
            now = self._errors_of(pose, frames[some], tied.references)
            for block, fit, active, tries in zip(tied.blocks, fits, going, tried, strict=True):
                at = np.searchsorted(some, active)
                kept = fit.judge(active, tries, now[at][:, block.rows])
                step[at[~kept, None], block.columns] = 0.0
            put(self.channels, frames[some], self.stepper.step(before, _by_control(step)))
            # Where a block went back this is not what its channels make, but nothing of it is judged by another block.
            self.pose[frames[some]] = pose

    def _learn(self, fits, tied, left, at, frames, samples: Samples) -> None:
        """Jacobians of the blocks that are left at frames (n,), which are `at` among those of the fits."""
        before = self._errors(frames, tied.references)[samples.frames]
        after = errors(samples.carried, self.targets[frames[samples.frames]], tied.references, self.problem.size)
        answers = (after.reshape(before.shape) - before) / STEP
        for block, fit, wanted in zip(tied.blocks, fits, left, strict=True):
            if not wanted:
                continue
            jacobian = np.empty((len(frames), len(block.rows), len(block.columns)))
            for k in range(len(block.columns)):
                mine = samples.groups == k
                order = np.argsort(samples.frames[mine])
                known, values = samples.frames[mine][order], answers[mine][order][:, block.rows]
                jacobian[..., k] = _between(known, values, np.arange(len(frames)))
            fit.learn(jacobian, at)

    def _measure(self, frames, channels, groups, repeats) -> Generator[Trial, np.ndarray, Samples]:
        steps = measured(self.stepper, channels, frames, self.controls.carriers, groups, repeats)
        sent = None
        while True:
            try:
                trial = steps.send(sent)
            except StopIteration as end:
                return end.value
            self.evaluations[trial.frames] += 1
            sent = yield trial

    def _evaluate(self, frames: np.ndarray, channels: ControlChannels) -> Generator[Trial, np.ndarray, np.ndarray]:
        self.evaluations[frames] += 1
        return (yield Trial(frames, channels))

    def _errors(self, frames: np.ndarray, references: References) -> np.ndarray:
        return self._errors_of(self.pose[frames], frames, references)

    def _errors_of(self, pose: np.ndarray, frames: np.ndarray, references: References) -> np.ndarray:
        """(n, 6 K) errors of a pose (n, B, 4, 4) at frames (n,)."""
        carried = rigid(pose[:, self.controls.carriers])
        return errors(carried, self.targets[frames], references, self.problem.size).reshape(len(frames), -1)

    def _misfit(self, pose: np.ndarray) -> np.ndarray:
        """(F,) squared errors of whole poses, each carrier against the one that it hangs on."""
        parents = self.controls.carrier_parents
        found = self._errors_of(pose, np.arange(len(pose)), References(parents, parents))
        return np.einsum("fk,fk->f", found, found)


@dataclass(frozen=True)
class _Tied:
    """Blocks and what their errors are judged against."""

    blocks: list[Block]
    references: References

    def groups(self, channels: int, left: list[bool]) -> np.ndarray:
        """(G, channels) bool: the first variable of each block left, the second of each ..., to be stepped together."""
        blocks = [block for block, wanted in zip(self.blocks, left, strict=True) if wanted]
        out = np.zeros((max(len(block.columns) for block in blocks), channels), bool)
        for block in blocks:
            out[np.arange(len(block.columns)), block.columns] = True
        return out


def _by_control(step: np.ndarray) -> np.ndarray:
    return step.reshape(len(step), -1, 6)


def _between(known: np.ndarray, values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """(n, r) values (m, r) at known (m,) rising frames, linear between them, at wanted (n,) frames."""
    high = np.clip(np.searchsorted(known, wanted), 1, max(len(known) - 1, 1)) if len(known) > 1 else None
    if high is None:
        return np.repeat(values, len(wanted), axis=0)
    low = high - 1
    share = np.clip((wanted - known[low]) / (known[high] - known[low]), 0.0, 1.0)[:, None]
    return values[low] * (1.0 - share) + values[high] * share
