"""Takes errors of carriers away by damped Gauss-Newton steps, at all frames of a clip and in all blocks at once."""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np

from .blocks import Blocks
from .channels import put, taken
from .clip import Clip
from .damped import HOME, DampedBlock
from .measuring import STEP, Samples
from .trial import ControlChannels, Trial

# A frame whose errors are larger, and so many times those of a frame nearby, may stand in another valley.
_LOST, _TIMES, _SWEEPS = 2e-4, 3.0, 3

Steps = Generator[Trial, np.ndarray, None]
Judge = Callable[[DampedBlock, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class Descent:
    """Of frames (n,) of a clip in which switches stand alike."""

    def __init__(
        self,
        clip: Clip,
        frames: np.ndarray,
        blocks: Blocks,
        weights: np.ndarray | None = None,
        patience: float = 0.03,
        home: float = HOME,
        towards: np.ndarray | float = 0.0,
    ):
        """weights: (n, 6 K) of errors.  patience, home: see `DampedBlock`.

        towards: (n, 6 C) where variables are drawn to, from where they began.
        """
        self._clip, self._frames, self._blocks = clip, frames, blocks
        now, away = clip.errors(frames, blocks.references), clip.away(frames) - towards
        weights = np.ones_like(now) if weights is None else weights
        self._fits = [
            DampedBlock(now[:, block.rows], away[:, block.columns], weights[:, block.rows], patience, home)
            for block in blocks.blocks
        ]

    def run(self, rounds: tuple[tuple[int, int], ...]) -> Steps:
        """rounds: for each, at every how many frames Jacobians are measured, and how many steps are made on them."""
        for stride, steps in rounds:
            at = self._open()
            yield from self._look_again(at)  # the last trial was not kept everywhere
            at = self._open()
            if not len(at):
                return
            wanted = [fit.open()[at].any() for fit in self._fits]
            groups = self._blocks.stepped_together(self._clip.stepper.variables.size, wanted)
            channels = taken(self._clip.channels, self._frames[at])
            repeats = max(2, -(-len(at) // stride))
            samples = yield from self._clip.measure(self._frames[at], channels, groups, repeats)
            self._learn(wanted, at, samples)
            yield from self._descend(steps)
        yield from self._look_again(self._open())

    def rest(self, at: np.ndarray) -> None:
        """Make no steps at some of this descent's frames, (n,) bool, unless those nearby show a better place."""
        for fit in self._fits:
            fit.settled[at] = True

    def correct(self) -> None:
        """Take the errors of the clip's own pose, evaluated at all frames."""
        now = self._clip.errors(self._frames, self._blocks.references)
        for block, fit in zip(self._blocks.blocks, self._fits, strict=True):
            fit.correct(np.arange(len(now)), now[:, block.rows])

    def missed(self, least: float) -> np.ndarray:
        """Frames, of the clip, with larger errors than that."""
        return self._frames[np.any([fit.worst() > least for fit in self._fits], axis=0)]

    def variables_missed(self, least: float) -> np.ndarray:
        """(n, 6 C) bool, the variables of blocks with larger errors than that, at each of this descent's frames."""
        out = np.zeros((len(self._frames), self._clip.stepper.variables.size), bool)
        for block, fit in zip(self._blocks.blocks, self._fits, strict=True):
            out[:, block.columns] = (fit.worst() > least)[:, None]
        return out

    def cost(self) -> np.ndarray:
        """(n,) what is left in all blocks, and how far variables are from where they began, as a length."""
        return np.sqrt(np.sum([fit.cost() for fit in self._fits], axis=0))

    def left(self) -> np.ndarray:
        """(n,) what is left in all blocks alone, as a length."""
        return np.sqrt(np.sum([np.sum(fit.errors**2, axis=1) for fit in self._fits], axis=0))

    def unsettled(self) -> np.ndarray:
        """Frames, of the clip, at which steps could have gone on."""
        return self._frames[self._open()]

    def _open(self) -> np.ndarray:
        """Frames, among this descent's, that are not at rest, and where that can be seen."""
        return np.flatnonzero(np.any([fit.open() for fit in self._fits], axis=0))

    def _look_again(self, at: np.ndarray) -> Steps:
        if not len(at):
            return
        yield from self._clip.refresh(self._frames[at])
        now = self._clip.errors(self._frames[at], self._blocks.references)
        for block, fit in zip(self._blocks.blocks, self._fits, strict=True):
            fit.correct(at, now[:, block.rows])

    def _learn(self, wanted: list[bool], at: np.ndarray, samples: Samples) -> None:
        """Jacobians of the blocks that are wanted, at frames `at` among this descent's, from samples among those."""
        frames = self._frames[at]
        before = self._clip.errors(frames, self._blocks.references)[samples.frames]
        after = self._clip.errors_of(samples.carried, frames[samples.frames], self._blocks.references)
        answers = (after - before) / STEP
        for block, fit, want in zip(self._blocks.blocks, self._fits, wanted, strict=True):
            if not want:
                continue
            jacobian = np.zeros((len(frames), len(block.rows), len(block.columns)))
            for group in range(block.groups.max() + 1):
                mine = np.flatnonzero(samples.groups == group)
                mine = mine[np.argsort(samples.frames[mine])]
                values = _between(samples.frames[mine], answers[mine][:, block.rows], np.arange(len(frames)))
                columns = np.flatnonzero(block.groups == group)
                jacobian[..., columns] = values[..., None] * block.touches[:, columns]
            fit.learn(jacobian, at)

    def _descend(self, steps: int) -> Steps:
        """Steps until all blocks are at rest at all frames."""
        for _ in range(steps):
            going = [np.flatnonzero(fit.active) for fit in self._fits]
            some = np.unique(np.concatenate(going))
            if not len(some):
                break
            tried = [fit.steps(active) for fit, active in zip(self._fits, going, strict=True)]
            step = self._whole_step(some, going, tried)
            channels = taken(self._clip.channels, self._frames[some])
            yield from self._judge(some, going, tried, step, channels, DampedBlock.judge)

    def follow_neighbours(self) -> Steps:
        """Where a frame is lost, try what was found, against the source, at the nearest frames that are not."""
        for _ in range(_SWEEPS):
            found = False
            for side in (-1, 1):
                nearby = [nearest_better(fit.worst(), side) for fit in self._fits]
                going = [np.flatnonzero(other >= 0) for other in nearby]
                some = np.unique(np.concatenate(going))
                if not len(some):
                    continue
                tried = [
                    fit.away[other[at]] - fit.away[at] for fit, other, at in zip(self._fits, nearby, going, strict=True)
                ]
                step = self._whole_step(some, going, tried)
                channels = taken(self._clip.channels, self._frames[some])
                better = yield from self._judge(some, going, tried, step, channels, DampedBlock.judge_jumps)
                found |= better
            if not found:
                break

    def _whole_step(self, some: np.ndarray, going: list[np.ndarray], tried: list[np.ndarray]) -> np.ndarray:
        """(m, 6 C) the steps of all blocks at frames `some` (m,), which hold those at which each block goes."""
        step = np.zeros((len(some), self._clip.stepper.variables.size))
        for block, active, part in zip(self._blocks.blocks, going, tried, strict=True):
            step[np.searchsorted(some, active)[:, None], block.columns] = part
        return step

    def _judge(
        self, some: np.ndarray, going: list, tried: list, step: np.ndarray, channels: ControlChannels, judge: Judge
    ) -> Generator[Trial, np.ndarray, bool]:
        """Evaluate a step and keep what it is worth, block by block; whether any was."""
        clip, frames, found = self._clip, self._frames[some], False
        pose = yield from clip.evaluate(frames, clip.stepped(channels, step))
        now = clip.errors_of(clip.carried(pose), frames, self._blocks.references)
        for block, fit, active, tries in zip(self._blocks.blocks, self._fits, going, tried, strict=True):
            at = np.searchsorted(some, active)
            kept = judge(fit, active, tries, now[at][:, block.rows])
            step[at[~kept, None], block.columns] = 0.0
            found |= kept.any()
        put(clip.channels, frames, clip.stepped(channels, step))
        # Where a block went back this is not what its channels make, but no other block's errors tell it.
        clip.pose[frames] = pose
        return found


def nearest_better(worst: np.ndarray, side: int, times: float = _TIMES) -> np.ndarray:
    """(n,) the nearest frame before (-1) or after (1) each lost one, of errors (n,), that is far better, else -1."""
    run = worst[::-side]
    lost = np.flatnonzero(run > _LOST)
    out = np.full(len(run), -1)
    better = run[None] < run[lost, None] / times
    better &= np.arange(len(run)) < lost[:, None]
    some = better.any(axis=1)
    out[lost[some]] = len(run) - 1 - better[some, ::-1].argmax(axis=1)
    out = out[::-side]
    return out if side < 0 else np.where(out >= 0, len(run) - 1 - out, -1)


def _between(known: np.ndarray, values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """(n, r) values (m, r) at known (m,) rising frames, linear between them, at wanted (n,) frames."""
    if len(known) == 1:
        return np.repeat(values, len(wanted), axis=0)
    high = np.clip(np.searchsorted(known, wanted), 1, len(known) - 1)
    low = high - 1
    share = np.clip((wanted - known[low]) / (known[high] - known[low]), 0.0, 1.0)[:, None]
    return values[low] * (1.0 - share) + values[high] * share
