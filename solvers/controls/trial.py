"""What the fit of controls asks of whatever evaluates the rig, and what it is given: arrays alone.

A fit is a generator that yields a ``Trial`` and is sent the pose that the rig takes.  Blender evaluates it in
production, a few lines of NumPy in tests.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ControlChannels:
    """Channels of C controls over F frames.

    location: (F, C, 3).  rotation: (F, C, 4) in each control's mode, as in ``skeleton.bone_channels``.
    scale: (F, C, 3).
    """

    location: np.ndarray
    rotation: np.ndarray
    scale: np.ndarray


@dataclass(frozen=True)
class Trial:
    """Channels to evaluate. frames: (n,) indices of frames.  channels: of all controls at those frames."""

    frames: np.ndarray
    channels: ControlChannels


Evaluations = Generator[Trial, np.ndarray, object]
"""Yields trials of n frames and is sent poses (n, B, 4, 4) of all bones in armature space."""


@dataclass(frozen=True)
class FitProblem:
    """What is to be fitted, F frames.

    source: the channels that the source action makes.  pose: (F, B, 4, 4) armature space, what they evaluate to.
    targets: (F, K, 4, 4) armature space, where the carriers are to be; their axes may be of any length.
    variables: (C, 6) bool, the channels that may change, see ``ControlRig.free``.
    state: (F,) int, the measured state of the switches at each frame.
    size: height of the body in the rig's units, against which lengths are judged.
    """

    source: ControlChannels
    pose: np.ndarray
    targets: np.ndarray
    variables: np.ndarray
    state: np.ndarray
    size: float


@dataclass(frozen=True)
class ControlFit:
    """What a fit found.

    channels: of all controls.  pose: (F, B, 4, 4) what the rig evaluates to with them.
    misses: (F, K) distance between the heads of carriers and their targets, in the rig's units.
    turns: (F, K) angle between them, radians.
    converged: (F,) bool.  evaluations: (F,) how often each frame was evaluated.
    still: (F, C) bool, controls that no other moves: goals of limbs that hang on nothing that was fitted.
    """

    channels: ControlChannels
    pose: np.ndarray
    misses: np.ndarray
    turns: np.ndarray
    converged: np.ndarray
    evaluations: np.ndarray
    still: np.ndarray
