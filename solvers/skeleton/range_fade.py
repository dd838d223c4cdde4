"""How a motion that was changed over a range of frames goes back to its source before and after it.

At either end of the range the change of each bone's channels is kept, and fades over some frames of the source.
Locations and scales go by their difference; rotations by the turn that takes the source's to the changed one, along its
shortest arc (Shoemake 1985), so that no rotation mode matters.

n frames outside of the range, B bones.  Channels are location (.., B, 3), rotation (.., B, 4) in each bone's mode and
scale (.., B, 3), see ``bone_channels``.
"""

from __future__ import annotations

import numpy as np

from ..rotations.channels import axis_angle_to_matrix, matrix_to_axis_angle, matrix_to_quaternion
from ..rotations.frame_channels import FrameChannels
from .bone_channels import channels_to_basis
from .hung_bones import HungPlacer, hung_among
from .kinematics import pose_matrices
from .rig import Rig

Channels = tuple[np.ndarray, np.ndarray, np.ndarray]


def fade_weights(count: int) -> np.ndarray:
    """(count,) of the change in the 1st to the last frame outside of a range: it leaves at rest and ends at rest, 0 in
    the last frame."""
    t = np.arange(1, count + 1) / max(count, 1)
    return 1.0 - t * t * (3.0 - 2.0 * t)


class RangeFade:
    """The way back on one side of a range, as far as the source and the rig tell it."""

    def __init__(
        self,
        rig: Rig,
        source: Channels,
        end: Channels,
        weights: np.ndarray,
        motion_parents: np.ndarray | None = None,
        placed: np.ndarray | tuple = (),
    ):
        """source: of the n frames.  end: of the source at the end of the range, each (B, ..).  weights: (n,).
        motion_parents (B,), placed (P,): bones that move with another one than their parent keep their places on it,
        see ``hung_bones``.
        """
        self.source = source
        self._rig, self._end, self._weights = rig, end, weights
        self._turns, self._end_turns = _turns(rig, source[1]), _turns(rig, end[1][None])[0]
        self._modes = FrameChannels(rig.rotation_modes * len(weights))
        self._placer = None
        hung = np.empty(0, int) if motion_parents is None else hung_among(rig, motion_parents, np.asarray(placed, int))
        if hung.size and len(weights):
            self._hung, self._placer = hung, HungPlacer(rig, motion_parents, hung)
            self._pose = pose_matrices(rig, channels_to_basis(rig, *source))

    def channels(self, changed: Channels) -> Channels:
        """Of the n frames; rotations are nearest to the source's, which they equal where a weight is 0.

        changed: at the end of the range, each (B, ..).
        """
        t = self._weights[:, None, None]
        location, _, scale = (
            kept + t * (new - old) for kept, new, old in zip(self.source, changed, self._end, strict=True)
        )
        arc = matrix_to_axis_angle(_turns(self._rig, changed[1][None])[0] @ np.swapaxes(self._end_turns, -1, -2))
        arcs = np.repeat(arc[None], len(self._weights), axis=0)
        arcs[..., 0] *= self._weights[:, None]
        turned = matrix_to_quaternion(axis_angle_to_matrix(arcs) @ self._turns)
        near = self.source[1].reshape(-1, 4)
        rotation = self._modes.nearest(turned.reshape(-1, 4), near).reshape(turned.shape)
        if self._placer is not None:
            basis = channels_to_basis(self._rig, location, rotation, scale)
            self._placer.place(basis, self._pose)
            location[:, self._hung] = basis[..., :3, 3][:, self._hung]
        still = self._weights == 0.0
        for part, own in zip((location, rotation, scale), self.source, strict=True):
            part[still] = own[still]
        return location, rotation, scale


def _turns(rig: Rig, rotation: np.ndarray) -> np.ndarray:
    """Rotation channels (n, B, 4) as matrices (n, B, 3, 3)."""
    zero = np.zeros((*rotation.shape[:2], 3))
    return channels_to_basis(rig, zero, rotation, zero + 1.0)[..., :3, :3]
