"""What is said of the switches and locks of a rig when a result is written to its controls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...scene.control_locks import locks_since
from ...scene.switches import find_switches
from ...scene.switching import animated
from ...scene.unswitchable import unswitchable
from ...solvers.controls.control_rig import ControlRig
from ...solvers.controls.plan import Plan
from .control_variables import WriteChoices


def switch_notes(
    ob, controls: ControlRig, source: tuple, plans: list[Plan], switches: dict[str, float], chosen: WriteChoices
) -> tuple[str, ...]:
    """Sentences without full stops: switches that are keyed, limbs that stay as they are keyed, what is not known.

    source: action and slot that the rig moves by.  switches: values by path that are keyed.
    """
    notes = [f"{path} is keyed to {value:g} over the bound frames" for path, value in switches.items()]
    moving = sorted({int(controls.limb_switches[limb]) for plan in plans for limb in plan.moving})
    notes += [f"{controls.switches[k]} changes in the source: its limb is written as it is keyed" for k in moving]
    if chosen.write_to in ("FK", "BOTH"):
        notes += _left_alone(ob, controls, source)
    return (*notes, *_unknown(ob, controls, source))


def lock_notes(ob, names: Sequence[str], free: np.ndarray) -> Iterator[str]:
    """As `switch_notes`, of controls (C,) that have channels locked which were free at Bind, (C, 6)."""
    locked = locks_since(ob, names, free)
    if locked:
        has = "has channels that were" if len(locked) == 1 else "have channels that were"
        yield f"{_named(locked)} {has} locked after Bind, and {'is' if len(locked) == 1 else 'are'} not written there"


def _left_alone(ob, controls: ControlRig, source: tuple) -> Iterator[str]:
    """Limbs of the body for which no other controls can be chosen."""
    names = controls.rig.names
    limbs = controls.limb_carriers if controls.limb_carriers is not None else np.zeros((0, len(controls.carriers)))
    switched = {names[bone] for bone in controls.carriers[np.asarray(limbs, bool).any(axis=0)]}
    body = {names[bone] for bone in controls.carriers}
    for bones, why in unswitchable(ob, source, controls.switches):
        of_body = [name for name in bones if name in body]
        if of_body and not switched.intersection(of_body):
            yield f"{_named(of_body)} cannot be written to FK, and stay on the controls that are keyed: {why}"


def _unknown(ob, controls: ControlRig, source: tuple) -> Iterator[str]:
    """Switches that the source animates and that were not there at Bind, or did not count."""
    played = {path for path, _index in animated(ob, source)}
    new = [path for path in find_switches(ob, source) if path in played and path not in controls.switches]
    if new:
        what = "switches constraints, and" if len(new) == 1 else "switch constraints, and"
        yield f"{_named(new)} {what} did not count when the rig was bound: bind again"


def _named(names: Sequence[str]) -> str:
    return f"'{names[0]}'" + (f" and {len(names) - 1} more" if len(names) > 1 else "")
