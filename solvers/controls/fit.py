"""Finds the channels of controls with which a rig's carriers come to their targets, on evaluations by others.

First controls go where their carriers' targets carry them, in closed form.  Then what is left is taken away by damped
Gauss-Newton steps, at all frames at once, in blocks of variables that do not touch each other.  Jacobians come from
finite differences, different variables at different frames, between which they are interpolated.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

import numpy as np

from .between_frames import continuous
from .blocks import Blocks
from .channels import put, taken
from .clip import Clip
from .closed_form import carried_channels
from .control_rig import ControlRig
from .damped import UNSEEN
from .descent import Descent, Steps
from .leftover import ALIKE, FINER, PLACES, shared_out
from .misfit import References, errors
from .structure import Structure, finer_controls, measured_structure
from .swings import swung_as_nearby
from .trial import ControlChannels, ControlFit, FitProblem, Trial

# A limb's end that is no further than this from its target, in parts of the body's size, is as good as there.
_NEAR = 1e-3
# What goals pull counts so little while the trunk is brought to about its place, and how strongly variables are drawn
# to where they began meanwhile: controls that do again what others do stay about where they are.
_WAITING, _FIRM = 1e-3, 1e-2
# A frame with larger errors after the first rounds cannot be reached; one with larger errors after all is missed.
_LOST, _MISSED = 2e-3, 1e-3
# One that comes as near as this while places count alone may be reached after all.
_AGAIN = 1e-2
# What a limb's goal also moves counts so little while the goal is looked for.
_ASIDE = 0.01


@dataclass(frozen=True)
class FitOptions:
    """passes: of the closed form.  near, far: rounds of the descent in either way of judging, see `Descent.run`.

    trunk: rounds in which what goals pull waits for the trunk.  goals: rounds of the goals of limbs alone.
    """

    passes: int = 2
    near: tuple[tuple[int, int], ...] = ((6, 5), (6, 6), (2, 12), (1, 20))
    trunk: tuple[tuple[int, int], ...] = ((8, 6), (8, 6))
    goals: tuple[tuple[int, int], ...] = ((2, 8), (1, 8))
    far: tuple[tuple[int, int], ...] = ((2, 16), (2, 16), (2, 16), (2, 16))


def fit_steps(
    controls: ControlRig, problem: FitProblem, options: FitOptions = FitOptions()
) -> Generator[Trial, np.ndarray, ControlFit]:
    """Yields trials of channels and is sent what the rig then evaluates to; see ``Evaluations``.

    What no control can reach is left as near as the least squares of all carriers have it.
    """
    clip = Clip(controls, problem)
    settled = np.ones(len(problem.pose), bool)
    still = np.zeros((len(problem.pose), len(controls.controls)), bool)
    for state in np.unique(problem.state):
        frames = np.flatnonzero(problem.state == state)
        goals, unsettled = yield from _fitted(clip, frames, state, options)
        still[frames], settled[unsettled] = goals, False
    yield from clip.refresh(np.arange(len(clip.pose)))
    return _judged(clip, settled, still)


def _fitted(
    clip: Clip, frames: np.ndarray, state: int, options: FitOptions
) -> Generator[Trial, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Frames in which switches stand alike; the goals of limbs (C,) bool, and the frames that are not at rest."""
    structure = yield from measured_structure(clip, frames, state)
    if structure is None:
        return np.zeros(len(clip.controls.controls), bool), frames[:0]
    yield from _carry(clip, frames, state, structure.goals, options.passes)
    unsettled = yield from _descend(clip, frames, state, structure, options)
    yield from _to_ends(clip, frames, structure, options)
    return structure.goals, unsettled


def _descend(
    clip: Clip, frames: np.ndarray, state: int, structure: Structure, options: FitOptions
) -> Generator[Trial, np.ndarray, np.ndarray]:
    """All that the closed form leaves, with the goals of limbs where it has put them; frames that are not at rest."""
    yield from _hold(clip, frames, state, structure.goals)
    near, _ = structure.blocks(~structure.goals)
    if not near.blocks:
        return frames[:0]
    finer, weights = finer_controls(clip), _trunk_alone(clip, frames, state, structure.goals)
    yield from Descent(clip, frames, near, weights, patience=1e-2, home=_FIRM).run(options.trunk)
    yield from clip.refresh(frames)
    begun = taken(clip.channels, frames)
    descent = Descent(clip, frames, near)
    for number, round_ in enumerate(options.near[:2]):
        yield from descent.run((round_,))
        if number == 1:
            yield from descent.follow_neighbours()
        if structure.goals.any():
            yield from _nudge(clip, frames, state, structure.goals)
            descent.correct()
    lost = descent.missed(_LOST)
    open_, found, way = lost, lost[:0], PLACES
    if len(lost):
        if finer.any():
            lost, way = frames, FINER  # of which those that are reached would go another way
        _begin_again(clip, frames, begun, descent.variables_missed(_LOST))
        open_ = yield from shared_out(clip, lost, state, structure, way, options.far)
        found = np.setdiff1d(lost, Descent(clip, lost, near).missed(_AGAIN))
        found = yield from _finished(clip, found, near, options)
    more = yield from _near(clip, np.setdiff1d(frames, lost), state, structure, near, options)
    if structure.goals.any():
        yield from _nudge(clip, lost, state, structure.goals)
        yield from swung_as_nearby(clip, lost, state, structure)
    return np.union1d(np.setdiff1d(open_, found), more)


def _finished(
    clip: Clip, frames: np.ndarray, near: Blocks, options: FitOptions
) -> Generator[Trial, np.ndarray, np.ndarray]:
    """The frames that can be reached after all, of some that seemed not to be; the others stay as they are."""
    if not len(frames):
        return frames
    kept, pose = taken(clip.channels, frames), clip.pose[frames]
    descent = Descent(clip, frames, near)
    yield from descent.run(options.near[2:])
    back = np.isin(frames, descent.missed(_MISSED))
    put(clip.channels, frames[back], taken(kept, back))
    clip.pose[frames[back]] = pose[back]
    return frames[~back]


def _begin_again(clip: Clip, frames: np.ndarray, begun: ControlChannels, variables: np.ndarray) -> None:
    """Give controls of some variables (n, 6 C) bool the channels that they had at frames (n,)."""
    again, now = variables.reshape(len(frames), -1, 6).any(axis=2)[..., None], taken(clip.channels, frames)
    location, rotation = np.where(again, begun.location, now.location), np.where(again, begun.rotation, now.rotation)
    put(clip.channels, frames, ControlChannels(location, rotation, now.scale))


def _near(
    clip: Clip, frames: np.ndarray, state: int, structure: Structure, near: Blocks, options: FitOptions
) -> Generator[Trial, np.ndarray, np.ndarray]:
    """Frames at which little is left: the rest of it, as far as there is a rest, see `_descend`."""
    if not len(frames):
        return frames
    descent = Descent(clip, frames, near)
    yield from descent.run(options.near[2:])
    if len((yield from _reach(clip, frames, state, structure, options))):
        descent = Descent(clip, frames, near)
        yield from descent.run(options.near[1:])
    missed, seen = descent.missed(_MISSED), descent.missed(UNSEEN)
    unsettled = np.setdiff1d(descent.unsettled(), seen)
    for some, way in ((missed, PLACES), (np.setdiff1d(seen, missed), ALIKE)):
        if len(some):
            unsettled = np.union1d(unsettled, (yield from shared_out(clip, some, state, structure, way, options.far)))
            if structure.goals.any():
                yield from _nudge(clip, some, state, structure.goals)
    return unsettled


def _trunk_alone(clip: Clip, frames: np.ndarray, state: int, goals: np.ndarray) -> np.ndarray:
    """(n, 6 K) of errors: what goals (C,) bool pull has to wait until the trunk is about where it is to be."""
    out = np.ones((len(frames), len(clip.controls.carriers), 6))
    out[:, clip.controls.moves[state][goals].any(axis=0)] = _WAITING
    return out.reshape(len(frames), -1)


def _hold(clip: Clip, frames: np.ndarray, state: int, goals: np.ndarray) -> Steps:
    """Put the goals of limbs (C,) bool where the source's relation to their carriers has them."""
    if not goals.any():
        return
    source, pose = taken(clip.problem.source, frames), clip.problem.pose[frames]
    riders = np.where(goals, clip.controls.riders[state], -1)
    found = carried_channels(clip.controls, clip.stepper, source, pose, clip.targets[frames], riders, goals)
    channels = taken(clip.channels, frames)
    channels.location[:, goals], channels.rotation[:, goals] = found.location[:, goals], found.rotation[:, goals]
    put(clip.channels, frames, channels)
    yield from clip.refresh(frames)


def _nudge(clip: Clip, frames: np.ndarray, state: int, goals: np.ndarray) -> Steps:
    """Move the goals of limbs (C,) bool by what their carriers still miss: IK comes to rest a little off its goal.

    What is far off is out of reach, or waits for the trunk, and its goal stays.
    """
    if not len(frames):
        return
    yield from clip.refresh(frames)
    channels, pose = taken(clip.channels, frames), clip.pose[frames]
    riders = np.where(goals, clip.controls.riders[state], -1)
    found = carried_channels(clip.controls, clip.stepper, channels, pose, clip.targets[frames], riders, goals)
    whole = References.to_armature(len(clip.controls.carriers))
    error = clip.errors(frames, whole).reshape(len(frames), -1, 6)[:, riders[goals], :3]
    share = np.clip(2.0 - np.linalg.norm(error, axis=-1, keepdims=True) / _NEAR, 0.0, 1.0)
    now = channels.location[:, goals]
    channels.location[:, goals] = now + share * (found.location[:, goals] - now)
    put(clip.channels, frames, channels)
    yield from clip.refresh(frames)


def _reach(
    clip: Clip, frames: np.ndarray, state: int, structure: Structure, options: FitOptions
) -> Generator[Trial, np.ndarray, np.ndarray]:
    """Step the goals of limbs by themselves where their carriers are missed; the frames at which that was of use.

    That is so where the source's limb did not reach its goal, which therefore says little about the carrier.
    """
    goals = structure.goals
    carriers = clip.controls.riders[state][goals]
    return (yield from _stepped_alone(clip, frames, lambda: structure.blocks(goals)[1], carriers, 0.5, options))


def _to_ends(clip: Clip, frames: np.ndarray, structure: Structure, options: FitOptions) -> Steps:
    """Step controls that pull chains by their place alone until the ends are where they are to be, whatever the trunk
    can do: they were judged against what they hang on."""
    pulling = structure.ends >= 0
    if not pulling.any():
        return
    carriers = structure.ends[pulling]
    yield from _stepped_alone(clip, frames, lambda: structure.whole_blocks(pulling), carriers, 1.0, options)


def _stepped_alone(
    clip: Clip,
    frames: np.ndarray,
    blocks: Callable[[], Blocks],
    carriers: np.ndarray,
    useful: float,
    options: FitOptions,
) -> Generator[Trial, np.ndarray, np.ndarray]:
    """Step the variables of blocks where some carriers are missed, as if these alone counted.

    What does not bring them to a share of the distance before, useful, is taken back; returns the frames where it did.
    """
    whole = References.to_armature(len(clip.controls.carriers))
    before = _worst(clip, frames, whole, carriers)
    missed = before > 5.0 * UNSEEN
    frames, before = frames[missed], before[missed]
    if not len(frames):
        return frames
    kept, pose = taken(clip.channels, frames), clip.pose[frames]
    weights = np.full((len(frames), len(clip.controls.carriers), 6), _ASIDE)
    weights[:, carriers] = 1.0
    yield from Descent(clip, frames, blocks(), weights.reshape(len(weights), -1)).run(options.goals)
    yield from clip.refresh(frames)
    useless = _worst(clip, frames, whole, carriers) > useful * before
    put(clip.channels, frames[useless], taken(kept, useless))
    clip.pose[frames[useless]] = pose[useless]
    return frames[~useless]


def _worst(clip: Clip, frames: np.ndarray, references: References, carriers: np.ndarray) -> np.ndarray:
    """(n,) the largest distance of some carriers from their targets, in parts of the body's size."""
    error = clip.errors(frames, references).reshape(len(frames), -1, 6)
    return np.linalg.norm(error[:, carriers, :3], axis=-1).max(axis=1, initial=0.0)


def _carry(clip: Clip, frames: np.ndarray, state: int, still: np.ndarray, passes: int) -> Steps:
    """Closed form: each of frames (n,) keeps the best of what was tried, the source's own channels among them.

    still: (C,) bool, see `carried_channels`.
    """
    controls, targets = clip.controls, clip.targets[frames]
    parents, riders = controls.carrier_parents, controls.riders[state]
    references = References(parents, parents)
    channels, pose = taken(clip.channels, frames), clip.pose[frames]
    best = _squares(clip.errors(frames, references))
    for _ in range(passes):
        channels = carried_channels(controls, clip.stepper, channels, pose, targets, riders, still)
        pose = yield from clip.evaluate(frames, channels)
        misfit = _squares(clip.errors_of(clip.carried(pose), frames, references))
        better = misfit < best
        put(clip.channels, frames[better], taken(channels, better))
        clip.pose[frames[better]], best[better] = pose[better], misfit[better]


def _judged(clip: Clip, settled: np.ndarray, still: np.ndarray) -> ControlFit:
    """What was found, with its errors in the armature's space."""
    whole = References.to_armature(len(clip.controls.carriers))
    off = errors(clip.carried(clip.pose), clip.targets, whole, 1.0, radian=1.0)
    misses, turns = np.linalg.norm(off[..., :3], axis=-1), np.linalg.norm(off[..., 3:], axis=-1)
    found = replace(clip.channels, rotation=continuous(clip.stepper, clip.channels.rotation))
    return ControlFit(found, clip.pose, misses, turns, settled, clip.evaluations, still)


def _squares(values: np.ndarray) -> np.ndarray:
    return np.einsum("nk,nk->n", values, values)
