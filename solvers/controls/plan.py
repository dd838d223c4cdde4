"""Which controls a result is written to, and which channels of them may change.

C controls, K carriers, P switches, F frames, L limbs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .chain_goals import chain_goals, chain_poles
from .control_rig import MAIN, SPINE_FK, TWEAK, ControlRig
from .limb_states import with_states
from .trunk_place import first_carrier, only_details, placing_control, placing_roots

_MET = 1e-3  # of switches
FK, IK = 0, 1  # ends of the switch of a limb, as in ``ControlRig.limb_values``


@dataclass(frozen=True)
class Plan:
    """One fit. variables: (C, 6) bool.  values: (F, P) of the switches.  switched: those that differ from the
    source's, as indices.  moving: limbs (n,) that keep their controls because their switches move in the clip."""

    variables: np.ndarray
    values: np.ndarray
    switched: np.ndarray
    moving: np.ndarray

    @property
    def active(self) -> np.ndarray:
        """(C,) bool, the controls that change."""
        return self.variables.any(axis=1)

    @property
    def posed(self) -> np.ndarray:
        """(C, 2) bool, whether the location and the rotation of each control change."""
        return self.variables.reshape(-1, 2, 3).any(axis=2)


def as_keyed(controls: ControlRig, placed: np.ndarray, turned: np.ndarray) -> np.ndarray:
    """(C, 6) bool, the variables of controls whose location (C,) or rotation (C,) is keyed.

    Where the place of a control is keyed it may move and turn, where its rotation alone is keyed it may turn: a foot
    that was keyed on flat ground turns with a slope.
    """
    return np.repeat(np.stack((placed, placed | turned), axis=1), 3, axis=1) & controls.free


def with_trunk(controls: ControlRig, variables: np.ndarray, least: int, body: np.ndarray) -> np.ndarray:
    """Variables (C, 6) with those of the trunk's controls, of what ``ControlRig.trunk`` tells from MAIN up to least.

    Main controls and those of an FK spine turn; tweaks move.  The control that carries most moves too where no other
    moves what the body begins with.  body: (K,) bool, the carriers that are solved: controls that move none of them,
    as those of a face, stay out, and so do those of details, as of breasts.
    """
    kind = controls.trunk if controls.trunk is not None else np.zeros(len(variables), int)
    kind = np.where(controls.moves[..., body].any(axis=(0, 2)) & ~only_details(controls), kind, 0)
    turn = (kind >= MAIN) & (kind <= min(least, SPINE_FK))
    move = (kind == TWEAK) & (least >= TWEAK)
    placing = placing_control(controls)
    if least >= MAIN and placing is not None and kind[placing] and not _is_placed(controls, variables):
        move[placing] = True
    return variables | (np.repeat(np.stack((move, turn), axis=1), 3, axis=1) & controls.free)


def _is_placed(controls: ControlRig, variables: np.ndarray) -> bool:
    """Whether variables (C, 6) move what the body begins with, the root's left out."""
    moving = without_roots(controls, variables)[:, :3].any(axis=1)
    return bool(controls.moves[:, moving, first_carrier(controls)].any())


def without_roots(controls: ControlRig, variables: np.ndarray) -> np.ndarray:
    """Variables (C, 6) without the controls that place the whole character, where others move its body too."""
    chosen = variables.any(axis=1)
    if not chosen.any():
        return variables
    roots = chosen & placing_roots(controls, chosen)
    first = first_carrier(controls)
    others = chosen & ~roots & controls.moves[:, :, first].all(axis=0)
    return np.where(roots[:, None] & others.any(), False, variables)


def written_to(controls: ControlRig, variables: np.ndarray, values: np.ndarray, end: int) -> Plan:
    """The plan in which every limb is written to the controls of one end of its switch.

    variables: (C, 6) as keyed, which limbs keep that are at that end all the time.  values: (F, P) of the source.
    Limbs whose switches move keep theirs too, and controls that pose a limb at either end what is keyed of them: a foot
    may turn by where its goal is.  Written are also the goals of IK limbs of which none is keyed in its place, and the
    poles of those of which none is.
    """
    keyed, variables, values, switched, moving = variables, variables.copy(), values.copy(), [], []
    for limb, switch in enumerate(controls.limb_switches if controls.limb_switches is not None else ()):
        off = np.abs(values[:, switch] - controls.limb_values[limb, end])
        if off.max() < _MET:
            if end == IK:
                then = with_states(controls, values)
                variables |= _missing_goal(then, variables, limb, then.state_of(values[:1])[0])
            continue
        if np.ptp(values[:, switch]) > _MET:
            moving.append(limb)
            continue
        variables[controls.limb_controls[limb].any(axis=0)] = False
        values[:, switch] = controls.limb_values[limb, end]
        switched.append(limb)
    if switched:
        then = with_states(controls, values)
        state = then.state_of(values[:1])[0]
        posing = np.any([_of_limb(then, limb, end, state) for limb in switched], axis=0)
        variables |= posing | (keyed & posing.any(axis=1)[:, None])
    if end == IK:
        variables |= _unkeyed_goals(controls, variables, values)
        variables = with_poles(controls, variables, values)
    switches = np.array([controls.limb_switches[limb] for limb in switched], int)
    return Plan(variables, values, switches, np.array(moving, int))


def with_poles(controls: ControlRig, variables: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Variables (C, 6) with those that swing the limbs in IK that are written, where none does: a goal bends no knee.

    values: (F, P) of the switches; limbs whose switches move keep their controls.
    """
    then = with_states(controls, values)
    state, written = then.state_of(values[:1])[0], variables.any(axis=1)
    out = variables.copy()
    for limb, switch in enumerate(controls.limb_switches if controls.limb_switches is not None else ()):
        is_in_ik = np.abs(values[:, switch] - controls.limb_values[limb, IK]).max() < _MET
        swings = _swings(then, limb, state)
        if is_in_ik and written[controls.limb_controls[limb, IK]].any() and not written[swings].any():
            out |= _of_limb(then, limb, IK, state) & swings[:, None]
    goals, poles = chain_poles(then, state)
    for goal in np.unique(goals):
        own = poles[goals == goal]
        if written[goal] and not written[own].any():
            out[own[0], :3] = True
    return out


def _swings(controls: ControlRig, limb: int, state: int) -> np.ndarray:
    """(C,) bool, the controls of a limb in IK that move its first carrier and not all of it, as a pole does."""
    carriers = controls.limb_carriers[limb]
    moves = controls.moves[state]
    own = controls.limb_controls[limb, IK] & moves[:, np.flatnonzero(carriers)[0]]
    return own & ~moves[:, carriers].all(axis=1)


def _missing_goal(controls: ControlRig, variables: np.ndarray, limb: int, state: int) -> np.ndarray:
    """(C, 6) bool: what places a limb in IK where nothing does that is written; all it takes where none of it is."""
    own, pose = controls.limb_controls[limb, IK], _of_limb(controls, limb, IK, state)
    if not variables[own].any():
        return pose
    placing = own & controls.moves[state][:, controls.limb_carriers[limb]].all(axis=1)
    is_placed = variables[placing, :3].any()
    return pose & (placing & pose[:, :3].any(axis=1) & ~is_placed)[:, None]


def _unkeyed_goals(controls: ControlRig, variables: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(C, 6) bool, those of the goals of chains without a switch that nothing pulls yet."""
    goals = chain_goals(controls, controls.state_of(values[:1])[0])
    out = np.zeros_like(variables)
    found = (goals >= 0) & ~variables[:, :3].any(axis=1)
    out[found] = controls.free[found]
    return out


def _of_limb(controls: ControlRig, limb: int, end: int, state: int) -> np.ndarray:
    """(C, 6) bool: for each bone of a limb one control that carries it, and one that swings what none carries.

    Of several that carry a bone the one highest up in the rig: the others, as a foot's spin and heel, do again what it
    does.  In IK the goal, where it carries none.
    """
    own, carriers = controls.limb_controls[limb, end], np.flatnonzero(controls.limb_carriers[limb])
    own = own & ~placing_roots(
        controls, np.ones(len(own), bool)
    )  # of a rig that is one limb, the root poses nothing else
    depth = np.zeros(len(controls.rig.names), int)
    for bone, parent in enumerate(controls.rig.parents):
        depth[bone] = depth[parent] + 1 if parent >= 0 else 0
    posing = own & (controls.riders >= 0).any(axis=0)
    posed = controls.posed_by(posing[:, None] & controls.free.reshape(-1, 2, 3).any(axis=2)).riders[state]
    riders = np.where(own, np.where(posed >= 0, posed, _carried(controls, state)), -1)
    out, turning = np.zeros((len(own), 6), bool), _turning(controls, state)
    for carrier in carriers:
        found = np.flatnonzero((riders == carrier) & (turning[:, carrier] | (end == IK)))
        above = controls.carrier_parents[carrier]
        if not found.size and above in carriers:  # what moves it without what it hangs on
            found = np.flatnonzero(own & controls.moves[state, :, carrier] & ~controls.moves[state, :, above])
        if found.size:
            control = found[depth[controls.controls[found]].argmin()]
            moved = controls.moves[state]
            is_placed = moved[control, carriers].all() if end == IK else _is_apart(moved[own], carrier, above, carriers)
            out[control] = controls.free[control] & np.repeat([is_placed, True], 3)
    if end == IK and not out[:, :3].any():
        goals = own & (chain_goals(controls, state, switched_too=True) >= 0)
        out[goals] = controls.free[goals]
    first = carriers[:1]
    if end == IK and not (riders == first).any():
        swings = _swings(controls, limb, state)
        found = np.flatnonzero(swings & ~out.any(axis=1) & controls.free[:, :3].any(axis=1))
        if found.size:  # a pole moves, it does not turn
            out[found[0]] = controls.free[found[0]] & np.repeat([True, False], 3)
    return out


def _is_apart(moves: np.ndarray, carrier: int, above: int, limb: np.ndarray) -> bool:
    """Whether no control of a limb (n,) that moves the carrier above another moves that too, moves (C, K).

    So it is with a hoof that is itself the goal of its leg.
    """
    return above in limb and not (moves[:, above] & moves[:, carrier]).any()


def _turning(controls: ControlRig, state: int) -> np.ndarray:
    """(C, K) bool, whether a carrier goes rigidly with a control that is turned: a bone that copies another's rotation
    goes with its own channels as these are moved alone."""
    out = np.ones(controls.moves.shape[1:], bool)
    if controls.pairs is not None:
        out[:] = False
        out[tuple(controls.pairs.T)] = controls.carried[state, :, 1]
    return out


def _carried(controls: ControlRig, state: int) -> np.ndarray:
    """(C,) the first carrier that each control carries rigidly when it is posed alone, -1 for none."""
    alone = np.full(len(controls.controls), -1)
    if controls.pairs is None:
        return alone
    for (control, carrier), rigid in zip(controls.pairs, controls.carried[state].any(axis=1), strict=True):
        if rigid and alone[control] < 0:
            alone[control] = carrier
    return alone
