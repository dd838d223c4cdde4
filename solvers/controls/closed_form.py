"""Where controls go that ride rigidly on carriers, in closed form: no evaluation, all frames at once.

A control that rides on a carrier goes where that carrier carries it.  The frame that its channels are in is taken
from what the rig was evaluated to and goes along with what carries it, so no offset between bones is needed.
"""

from __future__ import annotations

import numpy as np

from ..skeleton.inheritance import orthogonal
from ..skeleton.rig import Rig
from .channels import Stepper
from .control_rig import ControlRig
from .trial import ControlChannels


def carried_channels(
    controls: ControlRig,
    stepper: Stepper,
    channels: ControlChannels,
    pose: np.ndarray,
    targets: np.ndarray,
    state: np.ndarray,
) -> ControlChannels:
    """Channels that put controls where their carriers' targets carry them.

    channels: of n frames.  pose: (n, B, 4, 4) what they evaluate to.  targets: (n, K, 4, 4) of the carriers, both in
    armature space.  state: (n,) int.  Exact where the frames that controls hang in go rigidly with a carrier; elsewhere
    the result is evaluated and handed in again.  Controls without a carrier keep their channels.
    """
    carried = rigid(targets) @ rigid_inverse(rigid(pose[:, controls.carriers]))
    bones = controls.controls
    basis = stepper.basis(channels)
    hung = pose[:, bones] @ _inverse(basis)
    under = frame_carriers(controls)
    goes = np.where(under[:, None, None] >= 0, carried[:, under], np.eye(4))
    rider = controls.riders[state]
    there = np.take_along_axis(carried, np.maximum(rider, 0)[..., None, None], axis=1) @ pose[:, bones]
    wanted = np.where((rider >= 0)[..., None, None], _inverse(goes @ hung) @ there, basis)
    return stepper.reach(channels, wanted)


def frame_carriers(controls: ControlRig) -> np.ndarray:
    """(C,) int, the carrier with which the frame of each control's channels goes as far as is known, -1 where none.

    That of its parent, else of the nearest bone above that rides on one.
    """
    above = nearest_carriers(controls.rig, controls.rides)
    parents = controls.rig.parents[controls.controls]
    return np.where(parents >= 0, above[parents], -1)


def nearest_carriers(rig: Rig, rides: np.ndarray) -> np.ndarray:
    """(B,) int, what each bone or else the nearest one above it rides on, -1 where none does. rides: (B,) int."""
    found = rides.copy()
    for level in rig.levels[1:]:
        found[level] = np.where(found[level] < 0, found[rig.parents[level]], found[level])
    return found


def rigid(matrices: np.ndarray) -> np.ndarray:
    """Matrices (..., 4, 4) without scale and shear."""
    out = matrices.copy()
    out[..., :3, :3] = orthogonal(matrices[..., :3, :3])
    return out


def rigid_inverse(matrices: np.ndarray) -> np.ndarray:
    """Inverses of rigid matrices (..., 4, 4)."""
    out = np.zeros(matrices.shape)
    out[..., :3, :3] = np.swapaxes(matrices[..., :3, :3], -1, -2)
    out[..., :3, 3] = -(out[..., :3, :3] @ matrices[..., :3, 3, None])[..., 0]
    out[..., 3, 3] = 1.0
    return out


def _inverse(matrices: np.ndarray) -> np.ndarray:
    """Inverses (..., 4, 4), where a scale of zero leaves none of the matrix without scale."""
    flat = np.abs(np.linalg.det(matrices[..., :3, :3])) < 1e-12
    return np.linalg.inv(np.where(flat[..., None, None], rigid(matrices), matrices))
