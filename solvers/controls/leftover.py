"""What is done where not all carriers can be reached: what is missed is shared out, limbs are put right after."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from .blocks import Blocks
from .channels import put, taken
from .clip import Clip
from .closed_form import arrivals, carried_channels
from .descent import Descent, Steps
from .misfit import References
from .structure import strays
from .trial import Trial

# Carriers that controls are placed by, soles and hands, count so much more.
_PLACED = 3.0
# What is further off than this counts less and less, and nothing is dragged to it: places, and turns, which limbs in
# IK often cannot make, both as errors are.  Not so much less that a frame could come to rest in one of two ways.
_ODD = np.array((0.05, 0.015))
_PASSES = 2


def shared_out(
    clip: Clip, frames: np.ndarray, state: int, far: Blocks, missed: np.ndarray, rounds: tuple[tuple[int, int], ...]
) -> Generator[Trial, np.ndarray, np.ndarray]:
    """Least squares of carriers judged against the furthest; then every limb is put right for itself.

    frames: (n,) at which errors are left.  missed: (6 C,) bool, variables in whose blocks they are.
    rounds: see `Descent.run`.  Returns the frames that are not at rest.
    """
    kept = tuple(block for block in far.blocks if missed[block.columns].any())
    yield from clip.refresh(frames)
    blocks = Blocks(kept, far.references)
    for number, round_ in enumerate(rounds):
        # What was far off may be near by now, and counts again.
        weights = _weights(clip, frames, state, far.references)
        descent = Descent(clip, frames, blocks, weights, patience=1e-3)
        yield from descent.run((round_,))
        if number > 0 and not len(descent.unsettled()):
            break
        if number < len(rounds) - 1:
            yield from descent.follow_neighbours()
        yield from clip.refresh(frames)
    yield from _put_right(clip, frames, state, ~missed.reshape(-1, 6).any(axis=1))
    return descent.unsettled()


def _weights(clip: Clip, frames: np.ndarray, state: int, references: References) -> np.ndarray:
    """(n, 6 K) more for what controls are placed by, less the further something is out of reach.

    Those of Cauchy's M-estimator in iteratively reweighted least squares (Holland & Welsch 1977).
    """
    controls, variables = clip.controls, clip.stepper.variables
    riders = controls.riders[state]
    out = np.ones((len(frames), len(controls.carriers), 6))
    out[:, riders[variables[:, :3].all(axis=1) & (riders >= 0)]] = _PLACED
    error = clip.errors(frames, references).reshape(*out.shape[:2], 2, 3)
    away = np.linalg.norm(error, axis=-1)
    out *= np.repeat(1.0 / np.hypot(1.0, away / _ODD), 3, axis=-1)
    return out.reshape(len(frames), -1)


def _put_right(clip: Clip, frames: np.ndarray, state: int, alone: np.ndarray) -> Steps:
    """Limbs: controls (C,) bool that move nothing but what hangs on their carrier bring it where it is to be.

    They were judged against what they hang on, which may be elsewhere now.
    """
    controls, targets = clip.controls, clip.targets[frames]
    parents, riders = controls.carrier_parents, controls.riders[state]
    own = alone & (riders >= 0) & ~strays(clip, state)
    riders = np.where(own, riders, -1)
    free = clip.stepper.variables
    turned, placed = np.zeros((2, len(parents)), bool)
    turned[riders[own & free[:, 3:].any(axis=1)]] = True
    placed[riders[own & free[:, :3].all(axis=1)]] = True
    whole = References.to_armature(len(parents))
    for _ in range(_PASSES):
        pose, channels = clip.pose[frames], taken(clip.channels, frames)
        arrive = arrivals(clip.carried(pose), targets, parents, turned, placed)
        channels = carried_channels(controls, clip.stepper, channels, pose, arrive, riders, np.zeros_like(own))
        pose = yield from clip.evaluate(frames, channels)
        now = clip.errors_of(clip.carried(pose), frames, whole)
        # All frames or none, so that the motion stays smooth.
        if np.sum(now**2) >= np.sum(clip.errors(frames, whole) ** 2):
            return
        put(clip.channels, frames, channels)
        clip.pose[frames] = pose
