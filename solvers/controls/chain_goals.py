"""Goals of limbs that no control rides on: controls that pull a chain of carriers by one of its joints."""

from __future__ import annotations

import numpy as np

from ..skeleton.hierarchy import below
from .control_rig import ControlRig

_AT = 0.01  # parts of the body's size by which a goal may lie beside its joint


def chain_goals(controls: ControlRig, state: int, switched_too: bool = False) -> np.ndarray:
    """(C,) int, the carrier at whose head, at rest, a control lies that moves what that hangs on too, -1 for others.

    Only controls that move nothing beside one chain, and may be moved in all ways, are goals: of several at one
    carrier the one highest up in the rig.  What limbs with switches hold is left out, unless switched_too.
    """
    rig, under = controls.rig, below(controls.carrier_parents)
    heads = rig.rest[:, :3, 3]
    switched = np.zeros(len(controls.carriers), bool)
    if controls.limb_carriers is not None and not switched_too:
        switched = controls.limb_carriers.any(axis=0)
    depth = np.zeros(len(rig.names), int)
    for level, bones in enumerate(rig.levels):
        depth[bones] = level
    out = np.full(len(controls.controls), -1)
    for control in np.argsort(depth[controls.controls], kind="stable"):
        moved = np.flatnonzero(controls.moves[state, control])
        is_chain = (under | under.T)[np.ix_(moved, moved)].all()
        if len(moved) < 2 or not is_chain or switched[moved].any() or not controls.free[control, :3].all():
            continue
        away = np.linalg.norm(heads[controls.carriers[moved]] - heads[controls.controls[control]], axis=-1)
        nearest = int(away.argmin())
        if nearest > 0 and away[nearest] < _AT * controls.size and moved[nearest] not in out:
            out[control] = moved[nearest]
    return out


def chain_poles(controls: ControlRig, state: int) -> tuple[np.ndarray, np.ndarray]:
    """(n,) and (n,) controls: goals of chains, and controls that swing these; of each goal the farthest from it first.

    A pole may be moved in all ways, moves the beginning of the chain but not all of it, and nothing beside; it is none
    of the bones of the chain, and carries none.
    """
    moves, found = controls.moves[state], []
    heads = controls.rig.rest[:, :3, 3]
    for goal in np.flatnonzero(chain_goals(controls, state) >= 0):
        chain = moves[goal]
        first = np.flatnonzero(chain)[0]
        poles = moves[:, first] & ~moves[:, chain].all(axis=1) & ~moves[:, ~chain].any(axis=1)
        poles &= controls.free[:, :3].all(axis=1) & (controls.riders[state] < 0)
        poles &= ~np.isin(controls.controls, controls.carriers)
        away = np.linalg.norm(heads[controls.controls] - heads[controls.carriers[first]], axis=-1)
        found += [(goal, pole) for pole in sorted(np.flatnonzero(poles), key=lambda each: -away[each])]
    goals, poles = zip(*found, strict=True) if found else ((), ())
    return np.array(goals, int), np.array(poles, int)
