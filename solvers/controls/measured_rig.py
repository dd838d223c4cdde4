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
    bones = len(poses.rig.names)
    out = np.full(bones, -1)
    best = np.full(bones, np.inf)
    heads = poses.rig.rest[:, :3, 3]
    every = np.arange(bones)
    for number, carrier in enumerate(carriers):
        rigid = ~poses.loosened(every, np.full(bones, carrier)).any(axis=(0, 2))
        apart = np.linalg.norm(heads - heads[carrier], axis=1)
        apart[carrier] = -1.0
        taken = rigid & (apart < best)
        out[taken], best[taken] = number, apart[taken]
    return out


def _riders(poses: MeasuredPoses, carriers: np.ndarray, moves: np.ndarray, active: np.ndarray) -> np.ndarray:
    """(S, C) the first carrier that a control carries rigidly, whatever the active controls (C,) do, -1 for none."""
    out = np.full(moves.shape[:2], -1)
    states, controls, which = np.nonzero(moves)
    pairs = np.unique(np.stack((controls, which), axis=1), axis=0)
    loose = poses.loosened_by(poses.controls[pairs[:, 0]], carriers[pairs[:, 1]])
    counts = active[None] | (np.arange(len(active)) == pairs[:, :1])
    rigid = ~(loose & counts).any(axis=2) & moves[:, pairs[:, 0], pairs[:, 1]]
    for state, number in zip(*np.nonzero(rigid), strict=True):
        control, carrier = pairs[number]
        if out[state, control] < 0:
            out[state, control] = carrier
    return out
