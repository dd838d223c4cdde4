"""Which carriers a fit did not bring to their targets, where most, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from .closed_form import rigid
from .control_rig import ControlRig
from .misfit import References, errors
from .trial import ControlFit, FitProblem


class Why(Enum):
    """Why a carrier is not where it is to be."""

    NO_CONTROL = "no control moves it"
    HELD = "the controls that move it are locked or are not written"
    OUT_OF_REACH = "out of reach of the controls that are written"


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
                _why(controls, problem, frame, carrier),
            )  # fmt: skip
        )
    return tuple(sorted(found, key=lambda each: -much[each.frame, each.carrier]))


def _why(controls: ControlRig, problem: FitProblem, frame: int, carrier: int) -> Why:
    movers = controls.moves[problem.state[frame], :, carrier]
    if not movers.any():
        return Why.NO_CONTROL
    written = (problem.variables & controls.free).any(axis=1)
    return Why.OUT_OF_REACH if (movers & written).any() else Why.HELD
