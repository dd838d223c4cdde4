"""Where controls go that ride rigidly on carriers, in closed form: no evaluation, all frames at once.

A control that rides on a carrier goes where that carrier carries it.  The frame that its channels are in is taken
from what the rig was evaluated to and goes along with what carries it, so no offset between bones is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    riders: np.ndarray,
    still: np.ndarray,
) -> ControlChannels:
    """Channels that put controls where their carriers' targets carry them.

    channels: of n frames.  pose: (n, B, 4, 4) what they evaluate to.  targets: (n, K, 4, 4) of the carriers, both in
    armature space.  riders: (C,) int, the carrier on which each control rides, -1 for none.
    still: (C,) bool, whose frames are known to go with nothing that changes.
    Exact where the frames that controls hang in go rigidly with a carrier; elsewhere the result is evaluated and
    handed in again.  Controls without a carrier keep their channels.
    """
    carried = rigid(targets) @ rigid_inverse(rigid(pose[:, controls.carriers]))
    bones = controls.controls
    basis = stepper.basis(channels)
    hung = _frames(controls, pose, basis)
    under = np.where(still, -1, frame_carriers(controls, riders))
    goes = np.where(under[:, None, None] >= 0, carried[:, under], np.eye(4))
    there = carried[:, riders] @ pose[:, bones]
    wanted = _inverse(goes @ hung.turn) @ there
    wanted[..., :3, 3] = (_inverse(goes @ hung.place) @ there[..., 3:])[..., :3, 0]
    wanted = np.where((riders >= 0)[:, None, None], wanted, basis)
    return stepper.reach(channels, wanted)


@dataclass(frozen=True)
class _Frames:
    """(n, C, 4, 4) each, armature space: what a control's rotation, and what its location, is applied to."""

    turn: np.ndarray
    place: np.ndarray


def _frames(controls: ControlRig, pose: np.ndarray, basis: np.ndarray) -> _Frames:
    """What controls hang in, from a pose (n, B, 4, 4) and the basis (n, C, 4, 4) that they have in it.

    A bone without local location is moved along the axes of its parent, or of the armature.
    """
    bones, parents = controls.controls, controls.rig.parents[controls.controls]
    turn = pose[:, bones] @ _inverse(basis)
    place = turn.copy()
    free = np.flatnonzero(~controls.rig.use_local_location[bones])
    if len(free):
        axes = np.where((parents[free] >= 0)[:, None, None], pose[:, parents[free]], np.eye(4))[..., :3, :3]
        heads, location = pose[:, bones[free]][..., :3, 3], basis[:, free][..., :3, 3]
        moved = place[:, free]
        moved[..., :3, :3] = axes
        moved[..., :3, 3] = heads - (axes @ location[..., None])[..., 0]
        place[:, free] = moved
    return _Frames(turn, place)


def arrivals(
    carried: np.ndarray, targets: np.ndarray, parents: np.ndarray, turned: np.ndarray, placed: np.ndarray
) -> np.ndarray:
    """(n, K, 4, 4) where carriers come to when some are turned to their targets, and all else goes along.

    carried, targets: (n, K, 4, 4) rigid.  parents: (K,) the carriers' tree.  turned, placed: (K,) bool, whose rotation
    and whose place is put right.
    """
    out = carried.copy()
    for k, parent in enumerate(parents):
        if parent >= 0:
            out[:, k] = out[:, parent] @ rigid_inverse(carried[:, parent]) @ carried[:, k]
        if turned[k]:
            out[:, k, :3, :3] = targets[:, k, :3, :3]
        if placed[k]:
            out[:, k, :3, 3] = targets[:, k, :3, 3]
    return out


def frame_carriers(controls: ControlRig, riders: np.ndarray) -> np.ndarray:
    """(C,) int, the carrier with which the frame of each control's channels goes as far as is known, -1 where none.

    That of its parent, else of the nearest bone above that rides on one.  riders: see `carried_channels`.
    """
    rides = controls.rides.copy()
    rides[controls.controls] = np.where(riders >= 0, riders, rides[controls.controls])
    above = nearest_carriers(controls.rig, rides)
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
