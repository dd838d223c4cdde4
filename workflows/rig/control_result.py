"""What is written to the controls of a rig whose bones are moved by them, and how near it comes to what was solved."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ...scene.motion import BoneMotion, motion_of_channels
from ...solvers.controls.blending import blended
from ...solvers.controls.control_rig import ControlRig
from ...solvers.controls.trial import ControlChannels, ControlFit, FitProblem


@dataclass(frozen=True)
class ControlResult:
    """problem: what was fitted; its source are channels that play the source motion, on whatever controls are written.
    fit: what came of it.  own: the source's channels.  switches: values by path that properties are keyed to.
    notes: for the user, a sentence each.  locked: bones of which keyed channels are locked, with those that each may
    move.  outside: of bones that IK pulls to what is no bone of the rig, that by name.
    original, motion: the source's channels and those that are written, which lie between the problem's source and the
    fitted ones; bones that are no controls do not move in them."""

    controls: ControlRig
    problem: FitProblem
    fit: ControlFit
    own: ControlChannels
    switches: dict[str, float]
    notes: tuple[str, ...]
    original: BoneMotion
    motion: BoneMotion
    locked: dict[str, frozenset[str]]
    outside: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, controls, problem, fit, own, switches, notes, locked, like: BoneMotion) -> ControlResult:
        """like: a motion over the same frames."""
        original, motion = (_motion(controls, channels, like) for channels in (own, fit.channels))
        return cls(controls, problem, fit, own, switches, notes, original, motion, locked)

    def faded(self, influence: np.ndarray) -> ControlResult:
        """The same with another influence (F,) of the fitted channels."""
        shown = blended(self.problem.source, self.fit.channels, influence, self.controls.modes)
        return replace(self, motion=_motion(self.controls, shown, self.original))

    @property
    def is_whole(self) -> np.ndarray:
        """(F,) bool, at which frames what is written is what was fitted."""
        fitted = _motion(self.controls, self.fit.channels, self.original)
        both = zip(self.motion.channels(), fitted.channels(), strict=True)
        return np.all([(new == old).all(axis=(1, 2)) for new, old in both], axis=0)

    @property
    def solvable(self) -> np.ndarray:
        """(B, 3) bool, which of location, rotation and scale of each bone may be written."""
        return channels_that_change(self.controls, self.problem.variables)


def channels_that_change(controls: ControlRig, variables: np.ndarray) -> np.ndarray:
    """(B, 3) bool, which of location, rotation and scale of each bone variables (C, 6) change."""
    out = np.zeros((len(controls.rig.names), 3), bool)
    out[controls.controls, 0] = variables[:, :3].any(axis=1)
    out[controls.controls, 1] = variables[:, 3:].any(axis=1)
    return out


def _motion(controls: ControlRig, channels: ControlChannels, like: BoneMotion) -> BoneMotion:
    frames, bones = len(channels.location), len(controls.rig.names)
    location, rotation, scale = np.zeros((frames, bones, 3)), np.zeros((frames, bones, 4)), np.ones((frames, bones, 3))
    rotation[..., [mode == "QUATERNION" for mode in controls.rig.rotation_modes], 0] = 1.0
    for whole, part in ((location, channels.location), (rotation, channels.rotation), (scale, channels.scale)):
        whole[:, controls.controls] = part
        whole.flags.writeable = False
    return motion_of_channels(controls.rig, (location, rotation, scale), like)
