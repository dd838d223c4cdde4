"""A control rig from what its bones did when its controls were posed: carriers, and who rides on them."""

from __future__ import annotations

import numpy as np

from .carriers import find_carriers
from .control_rig import ControlRig
from .measured_poses import MeasuredPoses, Probed


def measured_rig(probe: Probed) -> ControlRig:
    """The control rig that measured poses tell; riders are those of the controls that the motion keys."""
    poses = MeasuredPoses.of(probe)
    carriers, parents = find_carriers(poses)
    moves = poses.moves[:, :, carriers]
    active = poses.keyed
    return ControlRig(
        rig=poses.rig,
        controls=poses.controls,
        free=poses.free,
        carriers=carriers,
        carrier_parents=parents,
        rides=_rides(poses, carriers),
        switches=poses.switches,
        states=poses.states,
        riders=_riders(poses, carriers, moves, active),
        moves=moves,
        verified=np.flatnonzero(poses.deform),
    )


def _rides(poses: MeasuredPoses, carriers: np.ndarray) -> np.ndarray:
    """(B,) the carrier that each bone goes with rigidly whatever is posed, the one nearest at rest, -1 for none."""
    bones = np.arange(len(poses.rig.names))
    first, second = (each.ravel() for each in np.meshgrid(bones, carriers, indexing="ij"))
    first, second = (each[poses.may_be_rigid(first, second).all(axis=0)] for each in (first, second))
    rigid = ~poses.loosened(first, second).any(axis=(0, 2))
    heads = poses.rig.rest[:, :3, 3]
    apart = np.where(first == second, -1.0, np.linalg.norm(heads[first] - heads[second], axis=1))
    out = np.full(len(bones), -1)
    for pair in np.flatnonzero(rigid)[np.argsort(-apart[rigid], kind="stable")]:  # the nearest comes last
        out[first[pair]] = np.flatnonzero(carriers == second[pair])[0]
    return out


def _riders(poses: MeasuredPoses, carriers: np.ndarray, moves: np.ndarray, active: np.ndarray) -> np.ndarray:
    """(S, C) the first carrier that a control carries rigidly, whatever the active controls (C,) do, -1 for none."""
    out = np.full(moves.shape[:2], -1)
    controls, which = np.nonzero(moves.any(axis=0))
    own = moves[:, controls, which] & ~poses.loosened_by_own(controls, carriers[which])
    some = own.any(axis=0)
    controls, which, own = controls[some], which[some], own[:, some]
    loose = poses.loosened_by(poses.controls[controls], carriers[which])
    counts = active | (np.arange(len(active)) == controls[:, None])
    rigid = own & ~(loose & counts).any(axis=2)
    for state, pair in zip(*np.nonzero(rigid), strict=True):
        if out[state, controls[pair]] < 0:
            out[state, controls[pair]] = which[pair]
    return out
