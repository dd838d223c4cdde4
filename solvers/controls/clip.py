"""A clip whose controls are being fitted: the channels found so far, what they evaluate to, and how to try others."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from .channels import Stepper, copied, taken
from .closed_form import rigid
from .control_rig import ControlRig
from .measuring import Samples, measured
from .misfit import References, errors
from .trial import ControlChannels, FitProblem, Trial

Posing = Generator[Trial, np.ndarray, np.ndarray]
Measuring = Generator[Trial, np.ndarray, Samples]


class Clip:
    """channels: of all controls at F frames.  pose: (F, B, 4, 4).  evaluations: (F,) int."""

    def __init__(self, controls: ControlRig, problem: FitProblem):
        self.controls, self.problem = controls, problem
        self.stepper = Stepper.of(controls, problem.variables, problem.size)
        self.targets = rigid(problem.targets)
        self.channels = copied(problem.source)
        self.pose = problem.pose.copy()
        self.evaluations = np.zeros(len(self.pose), int)

    def evaluate(self, frames: np.ndarray, channels: ControlChannels) -> Posing:
        """(n, B, 4, 4) poses at frames (n,); kept as the clip's own only by the caller."""
        self.evaluations[frames] += 1
        return (yield Trial(frames, channels))

    def refresh(self, frames: np.ndarray) -> Generator[Trial, np.ndarray, None]:
        """Evaluate the clip's own channels at frames (n,)."""
        if len(frames):
            self.pose[frames] = yield from self.evaluate(frames, taken(self.channels, frames))

    def measure(
        self,
        frames: np.ndarray,
        channels: ControlChannels,
        groups: np.ndarray,
        repeats: int,
        bones: np.ndarray | None = None,
    ) -> Measuring:
        """Samples about channels of frames (n,), see ``measured``; the samples' frames count among those.

        bones: those of which to keep poses, the carriers where it is None.
        """
        bones = self.controls.carriers if bones is None else bones
        steps = measured(self.stepper, channels, frames, bones, groups, repeats)
        sent = None
        while True:
            try:
                trial = steps.send(sent)
            except StopIteration as end:
                return end.value
            self.evaluations[trial.frames] += 1
            sent = yield trial

    def carried(self, pose: np.ndarray) -> np.ndarray:
        """(n, K, 4, 4) rigid carriers of a pose (n, B, 4, 4)."""
        return rigid(pose[:, self.controls.carriers])

    def errors(self, frames: np.ndarray, references: References) -> np.ndarray:
        """(n, 6 K) of the clip's own pose at frames (n,)."""
        return self.errors_of(self.carried(self.pose[frames]), frames, references)

    def errors_of(self, carried: np.ndarray, frames: np.ndarray, references: References) -> np.ndarray:
        """(n, 6 K) of carriers (n, K, 4, 4) at frames (n,)."""
        found = errors(carried, self.targets[frames], references, self.problem.size)
        return found.reshape(len(frames), -1)

    def away(self, frames: np.ndarray) -> np.ndarray:
        """(n, 6 C) the step from the source's channels to the clip's own."""
        step = self.stepper.between(taken(self.problem.source, frames), taken(self.channels, frames))
        return step.reshape(len(frames), -1)

    def stepped(self, channels: ControlChannels, step: np.ndarray) -> ControlChannels:
        """Channels after a step (n, 6 C)."""
        return self.stepper.step(channels, step.reshape(len(step), -1, 6))
