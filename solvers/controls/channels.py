"""Channels of controls as matrices and back, and steps on those that may change.

n frames, C controls.  A step (n, C, 6) has no unit: parts of a quarter of the body's size along x, y, z, then radians
about x, y, z, which move bodies about as far.
Where all three channels of a kind may change, they are stepped in the control's own posed axes, so that what a step
does hardly depends on the pose (no gimbal lock); otherwise channel by channel, so that locked ones stay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..rotations import channels as turns
from ..rotations import rotation_vectors as rotvec
from ..skeleton.bone_channels import basis_turns, channels_to_basis
from ..skeleton.inheritance import orthogonal
from ..skeleton.rig import Rig, part_of
from .control_rig import ControlRig
from .trial import ControlChannels

# A radian counts as much as this part of the body's size, about the length of a limb's bone.
RADIAN = 0.25


@dataclass(frozen=True)
class Stepper:
    """Changes channels of controls, of those alone that may change.

    rig: the controls as a rig of their own, without parents.  variables: (C, 6) bool.  size: of the body.
    """

    rig: Rig
    variables: np.ndarray
    size: float

    @classmethod
    def of(cls, controls: ControlRig, variables: np.ndarray, size: float) -> Stepper:
        """Of all controls of a rig; what is locked is no variable, whatever variables (C, 6) says."""
        rig, bones = controls.rig, controls.controls
        alone = part_of(replace(rig, parents=np.full(len(rig.parents), -1)), bones)
        variables = variables & controls.free
        variables[:, :3] &= ~alone.use_connect[:, None]
        return cls(alone, variables, size)

    def basis(self, channels: ControlChannels) -> np.ndarray:
        """(n, C, 4, 4) what the channels make of each control in the frame that it hangs in."""
        return channels_to_basis(self.rig, channels.location, channels.rotation, channels.scale)

    def step(self, channels: ControlChannels, step: np.ndarray) -> ControlChannels:
        """Channels after a step (n, C, 6); rotations keep the branch that is nearest to the one before."""
        step = np.where(self.variables, step, 0.0)
        turn = self._turn(channels)
        shift = self.size * RADIAN * step[..., :3]
        own = self.variables[:, :3].all(axis=-1)
        shift[:, own] = (turn[:, own] @ shift[:, own, :, None])[..., 0]
        rotation = channels.rotation.copy()
        for mode, some in _by_mode(self.rig, self._turned_about_own):
            turned = turn[:, some] @ rotvec.exp(step[:, some, 3:])
            rotation[:, some] = _nearest(mode, turned, channels.rotation[:, some])
        for mode, some in _by_mode(self.rig, ~self._turned_about_own & self.variables[:, 3:].any(axis=-1)):
            if mode in turns.EULER_ORDERS:
                rotation[:, some, :3] += step[:, some, 3:]
            else:
                turned = rotvec.exp(rotvec.log(turn[:, some]) + step[:, some, 3:])
                rotation[:, some] = _nearest(mode, turned, channels.rotation[:, some])
        return ControlChannels(channels.location + shift, rotation, channels.scale)

    def between(self, start: ControlChannels, end: ControlChannels) -> np.ndarray:
        """The step (n, C, 6) that leads from start to end, zero in what may not change."""
        turn, turned = self._turn(start), self._turn(end)
        out = np.empty((*start.location.shape[:2], 6))
        out[..., :3] = (end.location - start.location) / (self.size * RADIAN)
        own = self.variables[:, :3].all(axis=-1)
        out[:, own, :3] = (np.swapaxes(turn[:, own], -1, -2) @ out[:, own, :3, None])[..., 0]
        whole = self._turned_about_own
        out[:, whole, 3:] = rotvec.log(np.swapaxes(turn[:, whole], -1, -2) @ turned[:, whole])
        for mode, some in _by_mode(self.rig, ~whole):
            if mode in turns.EULER_ORDERS:
                out[:, some, 3:] = end.rotation[:, some, :3] - start.rotation[:, some, :3]
            else:
                out[:, some, 3:] = rotvec.log(turned[:, some]) - rotvec.log(turn[:, some])
        return np.where(self.variables, out, 0.0)

    def reach(self, channels: ControlChannels, basis: np.ndarray) -> ControlChannels:
        """Channels that make a basis (n, C, 4, 4) as far as they may change; scales stay."""
        location = np.where(self.variables[:, :3], basis[..., :3, 3], channels.location)
        rotation = channels.rotation.copy()
        for mode, some in _by_mode(self.rig, self.variables[:, 3:].any(axis=-1)):
            found = _nearest(mode, orthogonal(basis[:, some, :3, :3]), channels.rotation[:, some])
            if mode in turns.EULER_ORDERS:
                found[..., :3] = np.where(self.variables[some, 3:], found[..., :3], rotation[:, some, :3])
            rotation[:, some] = found
        return ControlChannels(location, rotation, channels.scale)

    @property
    def _turned_about_own(self) -> np.ndarray:
        """(C,) bool: whose rotation is stepped about its own axes, since none of its channels is kept."""
        return self.variables[:, 3:].all(axis=-1)

    def _turn(self, channels: ControlChannels) -> np.ndarray:
        """(n, C, 3, 3) the rotations alone."""
        plain = replace(channels, scale=np.ones_like(channels.scale))
        return basis_turns(self.basis(plain), np.ones((len(self.rig.names), 3)))


def taken(channels: ControlChannels, frames: np.ndarray | slice) -> ControlChannels:
    """Of some frames."""
    return ControlChannels(channels.location[frames], channels.rotation[frames], channels.scale[frames])


def put(channels: ControlChannels, frames: np.ndarray, part: ControlChannels) -> None:
    """Write part into some frames of channels."""
    channels.location[frames], channels.rotation[frames] = part.location, part.rotation


def copied(channels: ControlChannels) -> ControlChannels:
    """A copy that can be written into."""
    return ControlChannels(channels.location.copy(), channels.rotation.copy(), channels.scale.copy())


def _by_mode(rig: Rig, chosen: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Each rotation mode that occurs among chosen (C,) controls, with their indices."""
    modes = np.array(rig.rotation_modes)
    found = [(str(mode), np.flatnonzero(chosen & (modes == mode))) for mode in np.unique(modes)]
    return [(mode, some) for mode, some in found if len(some)]


def _nearest(mode: str, turn: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Channels (n, m, 4) in a mode of rotations (n, m, 3, 3), of all that mean the same the nearest to reference."""
    if mode == "QUATERNION":
        found = turns.unwrap_quaternion(turns.matrix_to_quaternion(turn)[None], reference)[0]
        length = np.linalg.norm(reference, axis=-1, keepdims=True)
        return found * np.where(length > 0.0, length, 1.0)
    if mode == "AXIS_ANGLE":
        return turns.unwrap_axis_angle(turns.matrix_to_axis_angle(turn)[None], reference)[0]
    out = np.zeros(reference.shape)
    out[..., :3] = turns.unwrap_euler(turns.matrix_to_euler(turn, mode)[None], mode, reference[..., :3])[0]
    return out
