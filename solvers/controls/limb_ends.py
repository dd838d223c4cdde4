"""The carriers that limbs end in, which are placed before all else: feet, hands, hooves."""

from __future__ import annotations

import numpy as np

from .control_rig import ControlRig

_IK = 1  # end of the switch of a limb, as in ``ControlRig.limb_values``


def limb_ends(controls: ControlRig, under: np.ndarray) -> np.ndarray:
    """(K,) bool: of each limb with a switch what its goal in IK carries, whatever the limb is posed by now.

    under: (K, K) bool, whether the second carrier is the first or hangs below it.  Of what a goal carries, the ends are
    those that hang on nothing that it carries: a foot, not its toes.
    """
    out = np.zeros(len(controls.carriers), bool)
    if controls.pairs is None or controls.limb_carriers is None:
        return out
    moves, (control, carrier) = controls.moves.any(axis=0), controls.pairs.T
    pulls = controls.free[control, :3].all(axis=1) & (moves[control] & ~under[carrier]).any(axis=1)
    for limb, own in zip(controls.limb_carriers, controls.limb_controls[:, _IK], strict=True):
        fit = pulls & own[control] & limb[carrier]
        # Where the limb did not reach its goal in the poses that were measured, it is as if it were only turned.
        ways = (fit & carried for carried in controls.carried.any(axis=0).T)
        out[carrier[next((way for way in ways if way.any()), fit)]] = True
    above = controls.carrier_parents
    return out & ~((above >= 0) & out[above])
