"""What of a rig's controls belongs together in one state of its switches, measured on the clip that is fitted."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from ..skeleton.hierarchy import below
from .blocks import Blocks, Looks, blocks_of, groups_apart, whole_blocks
from .channels import taken
from .clip import Clip
from .closed_form import rigid, rigid_inverse
from .control_rig import MAIN, ControlRig
from .measuring import STEP, Samples
from .trial import Trial

# Poses about which it is measured what moves what: steps of this size, at so many frames for each variable.
_DISORDER, _LOOKS = 0.2, 3
# A bone that goes no further than this part of a step stands still.
_STILL = 1e-3
# A control rides where it keeps its relation to this part of its steps, in more than this share of them.
_TOGETHER, _MOSTLY = 0.05, 0.6
_IK = 1  # end of the switch of a limb, as in ``ControlRig.limb_values``


@dataclass(frozen=True)
class Structure:
    """goals: (C,) bool, controls that are the goals of limbs: they pull a chain, and nothing else moves them.

    ends: (C,) int, the end of a chain that each control pulls by its place without carrying it, as the goal of IK
        whose foot turns by itself does, -1 for none.
    samples, looks: what was measured.
    """

    clip: Clip
    samples: Samples
    looks: Looks
    goals: np.ndarray
    ends: np.ndarray

    def blocks(self, controls: np.ndarray) -> tuple[Blocks, Blocks]:
        """Blocks of the variables of some controls (C,) bool, see `blocks_of`; empty where nothing moves."""
        if not controls[self.looks.columns // 6].any():
            return Blocks((), None), Blocks((), None)
        return blocks_of(self.samples, self._looks(controls), *self._body)

    def whole_blocks(self, controls: np.ndarray) -> Blocks:
        """The same, judged against the armature."""
        if not controls[self.looks.columns // 6].any():
            return Blocks((), None)
        return whole_blocks(self.samples, self._looks(controls), *self._body)

    @property
    def _body(self) -> tuple[np.ndarray, float]:
        return self.clip.controls.carrier_parents, self.clip.problem.size

    def _looks(self, controls: np.ndarray) -> Looks:
        looks, some = self.looks, controls[self.looks.columns // 6]
        return Looks(looks.base, looks.columns[some], looks.groups[some], looks.moves)


def measured_structure(clip: Clip, frames: np.ndarray, state: int) -> Generator[Trial, np.ndarray, Structure | None]:
    """Steps variables about poses of no order, since at rest much stands still that moves elsewhere.

    frames: (n,) of the clip, at which switches stand alike.  None where no variable moves anything.
    """
    controls, variables = clip.controls, clip.stepper.variables
    moves = controls.moves[state]
    columns = np.flatnonzero(variables & moves.any(axis=1)[:, None])
    if not len(columns):
        return None
    disorder = np.random.default_rng(0).normal(0.0, _DISORDER, (len(frames), variables.size))
    channels = clip.stepped(taken(clip.problem.source, frames), disorder)
    pose = yield from clip.evaluate(frames, channels)
    groups = groups_apart(columns, moves)
    together = np.zeros((groups.max() + 1, variables.size), bool)
    together[groups, columns] = True
    asked = np.flatnonzero(variables.all(axis=1) & moves.any(axis=1))
    bones = np.concatenate((controls.carriers, controls.controls[asked]))
    samples = yield from clip.measure(frames, channels, together, _LOOKS, bones)
    base, count = rigid(pose[:, bones]), len(controls.carriers)
    ends = _guess_riders(clip, state, samples, base, asked, together)
    goals = np.zeros(len(controls.controls), bool)
    goals[asked] = _untouched(samples, base, asked, together, count, clip.problem.size)
    goals &= (clip.controls.riders[state] >= 0) & strays(clip, state)
    samples = Samples(samples.frames, samples.groups, samples.carried[:, :count])
    return Structure(clip, samples, Looks(base[:, :count], columns, groups, moves), goals, ends)


def finer_controls(clip: Clip) -> np.ndarray:
    """(C,) bool, controls that may change and do again what others of the trunk do, if not all of these are held."""
    trunk, used = clip.controls.trunk, clip.stepper.variables.any(axis=1)
    if trunk is None or not (used & (trunk == MAIN)).any():
        return np.zeros_like(used)
    return used & (trunk > MAIN)


def strays(clip: Clip, state: int) -> np.ndarray:
    """(C,) bool, whether a control moves more than what hangs on the carrier that it rides on."""
    controls = clip.controls
    return (controls.moves[state] & ~below(controls.carrier_parents)[controls.riders[state]]).any(axis=1)


def _guess_riders(
    clip: Clip, state: int, samples: Samples, base: np.ndarray, asked: np.ndarray, together: np.ndarray
) -> np.ndarray:
    """Have controls ride on the end of a chain that they pull where they were not found to ride on anything.

    (C,) int, see ``Structure.ends``.

    A limb that is straight in one of the poses in which the rig was measured parts from its goal; in most of the
    samples of the goal's own steps it does not.  asked: (H,) controls, whose bones follow the carriers in the samples.
    """
    controls, carriers = clip.controls, len(clip.controls.carriers)
    riders, ends = controls.riders.copy(), np.full(len(controls.controls), -1)
    under = below(controls.carrier_parents)
    for number, control in enumerate(asked):
        moved = np.flatnonzero(controls.moves[state, control])
        own = together.reshape(len(together), -1, 6)[:, control].any(axis=-1)[samples.groups]
        if riders[state, control] >= 0 or not own.any():
            continue
        pulls = (controls.moves[state, control] & ~under).any(axis=1)
        pulled = (under | under.T)[np.ix_(moved, moved)].all(axis=1) & pulls[moved]
        known = _carried_alone(controls, state, control, moved[pulled])
        if known is not None:
            riders[state, control] = known
            continue
        before, after = base[samples.frames[own]], samples.carried[own]
        apart = [rigid_inverse(each[:, carriers + number])[:, None] @ each[:, moved] for each in (before, after)]
        change = np.abs(apart[1] - apart[0])[..., :3, :]
        change[..., 3] /= clip.problem.size
        together_mostly = (change.max(axis=(-2, -1)) < _TOGETHER * STEP).mean(axis=0) > _MOSTLY
        placed_mostly = (change[..., 3].max(axis=-1) < _TOGETHER * STEP).mean(axis=0) > _MOSTLY
        if (together_mostly & pulled).any():
            riders[state, control] = moved[(together_mostly & pulled).argmax()]
        elif (placed_mostly & pulled).any():
            ends[control] = moved[(placed_mostly & pulled).argmax()]
    clip.controls = replace(controls, riders=riders)
    return ends


def _carried_alone(controls: ControlRig, state: int, control: int, among: np.ndarray) -> int | None:
    """The first of some carriers that a control of a limb in IK carries where it is turned alone; None where none is.

    It tells in poses in which a limb does not reach its goal, which parts places, not turns.
    """
    if controls.pairs is None or not controls.limb_controls[:, _IK, control].any():
        return None
    carried = controls.carried[state, :, 1] & (controls.pairs[:, 0] == control)
    found = np.intersect1d(controls.pairs[carried, 1], among)
    return int(found[0]) if found.size else None


def _untouched(samples: Samples, base, pulling, together, carriers: int, size: float) -> np.ndarray:
    """(H,) bool, which of the pulling controls no other variable moved."""
    moved = samples.carried[:, carriers:, :3, 3] - base[samples.frames][:, carriers:, :3, 3]
    moved = np.linalg.norm(moved, axis=-1) / size > _STILL * STEP
    own = together.reshape(len(together), -1, 6).any(axis=-1)[:, pulling]
    return ~(moved & ~own[samples.groups]).any(axis=0)
