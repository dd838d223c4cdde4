"""Finds the channels of controls with which a rig's carriers come to their targets, on evaluations by others.

First controls go where their carriers' targets carry them, in closed form.  Then what is left is taken away by damped
Gauss-Newton steps, at all frames at once, in blocks of variables that do not touch each other.  Jacobians come from
finite differences, different variables at different frames, between which they are interpolated.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from .blocks import Blocks, Looks, blocks_of, groups_apart
from .channels import put, taken
from .clip import Clip
from .closed_form import carried_channels
from .control_rig import ControlRig
from .descent import Descent, Steps
from .misfit import References, errors
from .trial import ControlFit, FitProblem, Trial

# Poses about which it is measured what moves what: steps of this size, at so many frames for each variable.
_DISORDER, _LOOKS = 0.2, 3


@dataclass(frozen=True)
class FitOptions:
    """passes: of the closed form.  near, far: rounds of the descent in either way of judging, see `Descent.run`."""

    passes: int = 2
    near: tuple[tuple[int, int], ...] = ((6, 5), (6, 6), (2, 12), (1, 20))
    far: tuple[tuple[int, int], ...] = ((8, 8), (8, 8))


def fit_steps(
    controls: ControlRig, problem: FitProblem, options: FitOptions = FitOptions()
) -> Generator[Trial, np.ndarray, ControlFit]:
    """Yields trials of channels and is sent what the rig then evaluates to; see ``Evaluations``.

    What no control can reach is left as near as the least squares of all carriers have it.
    """
    clip = Clip(controls, problem)
    settled = np.ones(len(problem.pose), bool)
    yield from _carry(clip, options.passes)
    for state in np.unique(problem.state):
        frames = np.flatnonzero(problem.state == state)
        near, far = yield from _structure(clip, frames, state)
        if not near.blocks:
            continue
        descent = Descent(clip, frames, near)
        yield from descent.run(options.near)
        left = descent.seen()
        if len(left):
            yield from clip.refresh(left)
            descent = Descent(clip, left, far)
            yield from descent.run(options.far)
        settled[descent.unsettled()] = False
    yield from clip.refresh(np.arange(len(clip.pose)))
    return _judged(clip, settled)


def _carry(clip: Clip, passes: int) -> Steps:
    """Closed form: each frame keeps the best of what was tried, the source's own channels among them."""
    every, parents = np.arange(len(clip.pose)), clip.controls.carrier_parents
    references = References(parents, parents)
    channels, pose = clip.channels, clip.pose
    best = _squares(clip.errors(every, references))
    for _ in range(passes):
        channels = carried_channels(
            clip.controls, clip.stepper, channels, pose, clip.targets, clip.problem.state
        )  # fmt: skip
        pose = yield from clip.evaluate(every, channels)
        misfit = _squares(clip.errors_of(clip.carried(pose), every, references))
        better = np.flatnonzero(misfit < best)
        put(clip.channels, better, taken(channels, better))
        clip.pose[better], best[better] = pose[better], misfit[better]


def _structure(clip: Clip, frames: np.ndarray, state: int) -> Generator[Trial, np.ndarray, tuple[Blocks, Blocks]]:
    """Blocks, measured about poses of no order, since at rest much stands still that moves elsewhere."""
    variables, moves = clip.stepper.variables, clip.controls.moves[state]
    columns = np.flatnonzero(variables & moves.any(axis=1)[:, None])
    if not len(columns):
        return Blocks((), None), Blocks((), None)
    disorder = np.random.default_rng(0).normal(0.0, _DISORDER, (len(frames), variables.size))
    channels = clip.stepped(taken(clip.problem.source, frames), disorder)
    pose = yield from clip.evaluate(frames, channels)
    groups = groups_apart(columns, moves)
    together = np.zeros((groups.max() + 1, variables.size), bool)
    together[groups, columns] = True
    samples = yield from clip.measure(frames, channels, together, _LOOKS)
    looks = Looks(clip.carried(pose), columns, groups, moves)
    return blocks_of(samples, looks, clip.controls.carrier_parents, clip.problem.size)


def _judged(clip: Clip, settled: np.ndarray) -> ControlFit:
    """What was found, with its errors in the armature's space."""
    whole = References(*np.full((2, len(clip.controls.carriers)), -1))
    off = errors(clip.carried(clip.pose), clip.targets, whole, 1.0, radian=1.0)
    misses, turns = np.linalg.norm(off[..., :3], axis=-1), np.linalg.norm(off[..., 3:], axis=-1)
    return ControlFit(clip.channels, clip.pose, misses, turns, settled, clip.evaluations)


def _squares(values: np.ndarray) -> np.ndarray:
    return np.einsum("nk,nk->n", values, values)
