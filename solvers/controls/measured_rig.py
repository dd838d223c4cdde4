"""A control rig from what its bones did when its controls were posed: carriers, and who rides on them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .carriers import find_carriers
from .control_rig import ControlRig
from .limb_states import with_states
from .limbs import find_limbs
from .measured_poses import MeasuredPoses, Probed
from .shared_bones import sharing_remark
from .trunk_controls import trunk_controls


def measured_rig(probe: Probed) -> ControlRig:
    """The control rig that measured poses tell; riders are those of the controls that the motion keys, in all
    states of the switches that occur."""
    poses = MeasuredPoses.of(probe)
    carriers, parents = find_carriers(poses)
    moves = poses.moves[:, :, carriers]
    pairs, carried, parted = _pairs(poses, carriers)
    limbs = find_limbs(poses, carriers, parents)
    measured = ControlRig(
        rig=poses.rig,
        controls=poses.controls,
        free=poses.free,
        carriers=carriers,
        carrier_parents=parents,
        rides=_rides(poses, carriers),
        switches=poses.switches,
        states=poses.states,
        riders=np.full(moves.shape[:2], -1),
        moves=moves,
        verified=np.flatnonzero(poses.deform),
        pairs=pairs,
        carried=carried,
        parted=parted,
        limb_switches=limbs.switches,
        limb_values=limbs.values,
        limb_carriers=limbs.carriers,
        limb_controls=limbs.controls,
        remarks=tuple(getattr(probe, "remarks", ())),
        trunk=trunk_controls(poses, carriers, parents, limbs.carriers.any(axis=0)),
    )
    remarks = measured.remarks + sharing_remark(measured, poses.keyed)
    measured = with_states(replace(measured, remarks=remarks), poses.occurring)
    return measured.posed_by(poses.keyed | poses.keyed[:, :1])  # what is moved may turn



def _rides(poses: MeasuredPoses, carriers: np.ndarray) -> np.ndarray:
    """(B,) the carrier that each bone goes with rigidly whatever is posed, the one nearest at rest, -1 for none."""
    bones = np.arange(len(poses.rig.names))
    first, second = (each.ravel() for each in np.meshgrid(bones, carriers, indexing="ij"))
    near = poses.may_be_rigid(first, second).all(axis=0)
    first, second = first[near], second[near]
    rigid = ~poses.loosened(first, second).any(axis=(0, 2))
    heads = poses.rig.rest[:, :3, 3]
    apart = np.where(first == second, -1.0, np.linalg.norm(heads[first] - heads[second], axis=1))
    out = np.full(len(bones), -1)
    for pair in np.flatnonzero(rigid)[np.argsort(-apart[rigid], kind="stable")]:  # the nearest comes last
        out[first[pair]] = np.flatnonzero(carriers == second[pair])[0]
    return out


def _pairs(poses: MeasuredPoses, carriers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs, carried and parted, see ``ControlRig``."""
    carries = poses.carries[..., carriers]
    controls, which = np.nonzero(carries.any(axis=(0, 1)))
    carried = np.stack(
        [carries[:, way, controls, which] & ~poses.loosened_by_own(way, controls, carriers[which]) for way in (0, 1)], 2
    )
    some = carried.any(axis=(0, 2))
    controls, which = controls[some], which[some]
    parted = poses.loosened_by(poses.controls[controls], carriers[which])
    return np.stack((controls, which), axis=1), carried[:, some], parted
