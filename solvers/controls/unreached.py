"""Which carriers a fit did not bring to their targets, where most, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from .chain_goals import chain_goals, chain_poles
from .closed_form import rigid
from .control_rig import MAIN, ControlRig
from .misfit import References, errors
from .trial import ControlFit, FitProblem
from .trunk_place import only_details, placing_roots

# A limb's bone that is longer or shorter by more than this share is stretched.
_STRETCHED = 5e-3
_IK = 1  # end of the switch of a limb, as in ``ControlRig.limb_values``


class Why(Enum):
    """Why a carrier is not where it is to be."""

    NO_CONTROL = "no control moves it"
    HELD = "the controls that move it are locked or are not written"
    OUT_OF_REACH = "out of reach of the controls that are written"
    STRETCHED = "the rig's IK stretch makes the limb longer or shorter than was solved"


@dataclass(frozen=True)
class Unreached:
    """carrier: an index into the carriers.  frame: where it is missed most.  frames: how many it is missed at.

    away: distance of its head from the target then, in the rig's units.  turned: angle from it then, radians.
    """

    carrier: int
    frame: int
    frames: int
    away: float
    turned: float
    why: Why


def unreached(
    controls: ControlRig, problem: FitProblem, fit: ControlFit, away: float, turned: float
) -> tuple[Unreached, ...]:
    """Carriers that are further than `away` (the rig's units) or `turned` (radians) from their targets, worst first.

    One that only goes along with what it hangs on, which is named, is left out.
    """
    parents = controls.carrier_parents
    own = errors(
        rigid(fit.pose[:, controls.carriers]), rigid(problem.targets), References(parents, parents), 1.0, radian=1.0
    )
    itself = (np.linalg.norm(own[..., :3], axis=-1) > away) | (np.linalg.norm(own[..., 3:], axis=-1) > turned)
    missed = itself & ((fit.misses > away) | (fit.turns > turned))
    much = np.where(missed, np.maximum(fit.misses / away, fit.turns / turned), 0.0)
    found = []
    for carrier in np.flatnonzero(missed.any(axis=0)):
        frame = int(much[:, carrier].argmax())
        found.append(
            Unreached(
                int(carrier),
                frame,
                int(missed[:, carrier].sum()),
                float(fit.misses[frame, carrier]),
                float(fit.turns[frame, carrier]),
                _why(controls, problem, fit, frame, carrier),
            )  # fmt: skip
        )
    return tuple(sorted(found, key=lambda each: -much[each.frame, each.carrier]))


def where_it_begins(controls: ControlRig, missed: tuple[Unreached, ...], carrier: int) -> Unreached | None:
    """Of carriers that are missed, the one because of which one is: itself, or what it hangs on that is missed at least
    half as far; None where neither is."""
    of = {each.carrier: each for each in missed}
    found, least = of.get(carrier), 0.0
    while carrier >= 0:
        here = of.get(carrier)
        if here is not None and here.away >= least:
            found, least = here, max(least, 0.5 * here.away)
        carrier = int(controls.carrier_parents[carrier])
    return found


def unwritten(controls: ControlRig, problem: FitProblem, frame: int, carrier: int) -> int | None:
    """The control that is not written and would do most for a carrier that is missed at a frame, None where none would.

    In a limb it is one of its own at the end of its switch that does not only again what a written one does, as a swing
    beside a goal; in one without a switch it is its goal, or its pole where that is written.
    """
    moves = controls.moves[problem.state[frame]]
    written = (problem.variables & controls.free).any(axis=1)
    fit = moves[:, carrier] & controls.free.any(axis=1) & ~written
    limbs = controls.limb_carriers
    own = np.flatnonzero(limbs[:, carrier]) if limbs is not None else ()
    if len(own):
        fit &= _at_their_ends(controls, own, problem.state[frame])
        fit &= ~(moves[:, None] == moves[written]).all(axis=-1).any(axis=1)
    elif (pulling := fit & _pulls(controls, problem.state[frame], written)).any():
        fit = pulling
    elif controls.trunk is None:
        return None
    else:
        fit &= (controls.trunk == MAIN) & ~placing_roots(controls, np.ones(len(fit), bool)) & ~only_details(controls)
    return int(np.where(fit, moves.sum(axis=1), -1).argmax()) if fit.any() else None


def unplaced(controls: ControlRig, problem: FitProblem, fit: ControlFit, missed: Unreached, away: float) -> int | None:
    """The goal of the limb of a carrier that is missed that is written to turn alone, where that is why: what it holds
    is further than `away` (the rig's units) from its target; None where there is none."""
    frame, state = missed.frame, problem.state[missed.frame]
    goals = chain_goals(controls, state, switched_too=True)
    held = np.where(controls.riders[state] >= 0, controls.riders[state], goals)
    turned = problem.variables[:, 3:].any(axis=1) & ~problem.variables[:, :3].any(axis=1)
    found = turned & controls.free[:, :3].any(axis=1) & controls.moves[state, :, missed.carrier] & (held >= 0)
    pulls = chain_goals(controls, state) >= 0
    for limb in np.flatnonzero(_in_ik(controls, state)):
        whole = controls.moves[state][:, controls.limb_carriers[limb]].all(axis=1)
        pulls |= controls.limb_controls[limb, _IK] & whole
    found = np.flatnonzero(found & pulls & (fit.misses[frame, held] > away))
    return int(found[0]) if found.size else None


def _in_ik(controls: ControlRig, state: int) -> np.ndarray:
    """(L,) bool, the limbs whose switches are nearer to IK in a state."""
    if controls.limb_carriers is None or controls.limb_values is None:
        return np.zeros(0 if controls.limb_carriers is None else len(controls.limb_carriers), bool)
    values = controls.states[state, controls.limb_switches]
    return np.abs(values - controls.limb_values[:, _IK]) < 0.5 * np.ptp(controls.limb_values, axis=1)


def _at_their_ends(controls: ControlRig, limbs: np.ndarray, state: int) -> np.ndarray:
    """(C,) bool, the controls of some limbs at the ends at which their switches are in a state, or nearest to."""
    if controls.limb_switches is None:
        return controls.limb_controls[limbs].any(axis=(0, 1))
    at = controls.states[state, controls.limb_switches[limbs]]
    ends = np.abs(at[:, None] - controls.limb_values[limbs]).argmin(axis=1)
    return controls.limb_controls[limbs, ends].any(axis=0)


def _pulls(controls: ControlRig, state: int, written: np.ndarray) -> np.ndarray:
    """(C,) bool, the goals of chains without a switch, and the poles of those whose goals are written, (C,) bool."""
    out = chain_goals(controls, state) >= 0
    goals, poles = chain_poles(controls, state)
    out[poles[written[goals]]] = True
    return out


def _why(controls: ControlRig, problem: FitProblem, fit: ControlFit, frame: int, carrier: int) -> Why:
    movers = controls.moves[problem.state[frame], :, carrier]
    if not movers.any():
        return Why.NO_CONTROL
    written = (problem.variables & controls.free).any(axis=1)
    if not (movers & written).any():
        return Why.HELD
    return Why.STRETCHED if _is_stretched(controls, problem, fit, frame, carrier) else Why.OUT_OF_REACH


def _is_stretched(controls: ControlRig, problem: FitProblem, fit: ControlFit, frame: int, carrier: int) -> bool:
    """Whether IK has the bones on either side of a limb's joint at other lengths than those of the targets."""
    in_ik = _in_ik(controls, problem.state[frame])
    if not in_ik.any() or not controls.limb_carriers[in_ik, carrier].any():
        return False
    parents = controls.carrier_parents
    ends = np.flatnonzero((parents == carrier) | ((np.arange(len(parents)) == carrier) & (parents >= 0)))
    found, asked = (
        np.linalg.norm(heads[ends, :3, 3] - heads[parents[ends], :3, 3], axis=-1)
        for heads in (fit.pose[frame, controls.carriers], problem.targets[frame])
    )
    return bool((np.abs(found - asked) > _STRETCHED * asked).any())
