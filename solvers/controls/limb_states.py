"""States of switches that were not measured, composed of states that were.

Each limb goes by its own switch: what poses it is what was measured where that had the value, whatever those of the
other limbs were.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .control_rig import ControlRig

_MET = 1e-3  # of switches


def with_states(controls: ControlRig, values: np.ndarray) -> ControlRig:
    """The same rig, with the states of switches (F, P) that occur and were not measured, composed of others.

    Values between the ends of a limb's switch count as the nearer end.  Riders are to be asked for anew,
    ``ControlRig.posed_by``: those of composed states are missing.
    """
    if controls.pairs is None or not len(controls.limb_switches):
        return controls
    wanted = values.copy()
    ends = controls.limb_values
    at = wanted[:, controls.limb_switches]
    far = np.abs(at - ends[:, 0]) > np.abs(at - ends[:, 1])
    wanted[:, controls.limb_switches] = np.where(far, ends[:, 1], ends[:, 0])
    wanted = np.unique(wanted, axis=0)
    is_new = (np.abs(wanted[:, None] - controls.states) > _MET).any(axis=2).all(axis=1)
    sources = [_sources(controls, state) for state in wanted[is_new]]
    if not sources:
        return controls
    of_carrier = np.array(sources)  # (n, K) the state that tells of each carrier
    carriers, pairs = np.arange(len(controls.carriers)), np.arange(len(controls.pairs))
    of_pair = of_carrier[:, controls.pairs[:, 1]]
    return replace(
        controls,
        states=np.concatenate((controls.states, wanted[is_new])),
        moves=np.concatenate((controls.moves, controls.moves[of_carrier, :, carriers].swapaxes(1, 2))),
        carried=np.concatenate((controls.carried, controls.carried[of_pair, pairs])),
        parted=np.concatenate((controls.parted, controls.parted[of_pair, pairs])),
        riders=np.concatenate((controls.riders, np.full((len(sources), controls.riders.shape[1]), -1))),
    )


def _sources(controls: ControlRig, values: np.ndarray) -> np.ndarray:
    """(K,) the measured state that tells of each carrier at values (P,) of the switches."""
    off = np.abs(controls.states - values)
    of_limbs = np.isin(np.arange(off.shape[1]), controls.limb_switches)
    rest = off[:, ~of_limbs].max(axis=1, initial=0.0)
    nearest = np.lexsort((off[:, of_limbs].sum(axis=1), rest))
    out = np.full(len(controls.carriers), nearest[0])
    for limb, switch in enumerate(controls.limb_switches):
        fitting = nearest[off[nearest, switch] < 0.5 * np.ptp(controls.limb_values[limb])]
        out[controls.limb_carriers[limb]] = fitting[0] if fitting.size else nearest[0]
    return out
