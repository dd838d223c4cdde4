"""What the user chose to write results to, of a rig whose bones are moved by controls."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from ...scene import actions
from ...scene.channels import SIZES
from ...scene.sampling import strip_curves
from ...solvers.controls.control_rig import MAIN, NO_TRUNK, SPINE_FK, TWEAK, ControlRig
from ...solvers.controls.plan import FK, IK, Plan, as_keyed, with_poles, with_trunk, without_roots, written_to
from ...solvers.core.errors import InputError

WRITE_TO = ("AS_KEYED", "FK", "IK", "BOTH")
TRUNKS = {"KEYED": NO_TRUNK, "MAIN": MAIN, "SPINE_FK": SPINE_FK, "TWEAKS": TWEAK}


@dataclass(frozen=True)
class WriteChoices:
    """write_to: of ``WRITE_TO``.  trunk: of ``TRUNKS``.  only: names of controls, None for all."""

    write_to: str = "AS_KEYED"
    trunk: str = "KEYED"
    only: tuple[str, ...] | None = None

    @classmethod
    def of(cls, settings) -> WriteChoices:
        """What ``RigResultSettings`` are set to."""
        left_out = not all(item.use for item in settings.controls)
        only = tuple(item.name for item in settings.controls if item.use) if left_out else None
        return cls(settings.write_to, settings.trunk, only)

    def __iter__(self):
        """Texts, for comparing."""
        yield from (self.write_to, self.trunk, None if self.only is None else "\n".join(self.only))


def plans_of(
    ob, controls: ControlRig, source: tuple, values: np.ndarray, chosen: WriteChoices, solved: Collection[str]
) -> list[Plan]:
    """One fit after the other: what is shown first, then what is to agree with it.

    solved: names of bones.
    source: action and slot, None and None for NLA strips alone.  values: (F, P) of the switches as the source has them.
    Raises InputError where nothing is left to be written.
    """
    body = np.isin([controls.rig.names[bone] for bone in controls.carriers], list(solved))
    own = with_trunk(controls, as_keyed(controls, *keyed_controls(ob, controls, source)), TRUNKS[chosen.trunk], body)
    keyed = Plan(own, values, np.zeros(0, int), np.zeros(0, int))
    if chosen.write_to == "AS_KEYED":
        plans = [keyed]
    elif chosen.write_to == "BOTH":
        others = [written_to(controls, own, values, end) for end in (FK, IK)]
        keyed = replace(keyed, variables=with_poles(controls, own, values))
        plans = [keyed, *(_alone(controls, plan) for plan in others if len(plan.switched))]
    else:
        plans = [written_to(controls, own, values, {"FK": FK, "IK": IK}[chosen.write_to])]
    plans = [replace(plan, variables=without_roots(controls, plan.variables)) for plan in plans]
    return [_limited(ob, controls, plan, chosen.only) for plan in plans]


def _alone(controls: ControlRig, plan: Plan) -> Plan:
    """With the controls alone of limbs that are switched: the rest is posed already."""
    limbs = np.isin(controls.limb_switches, plan.switched)
    own = controls.limb_controls[limbs].any(axis=(0, 1))
    return replace(plan, variables=plan.variables & own[:, None])


def _limited(ob, controls: ControlRig, plan: Plan, only: tuple[str, ...] | None) -> Plan:
    if only is None:
        return plan
    names = [controls.rig.names[bone] for bone in controls.controls]
    variables = plan.variables & np.isin(names, only)[:, None]
    if not variables.any():
        raise InputError(
            f"None of the chosen controls of '{ob.name}'{_some(only)} is one that a result would be written to; choose "
            "others, or have more written under Trunk."
        )
    return replace(plan, variables=variables)


def _some(names: tuple[str, ...]) -> str:
    return f" ({', '.join(names[:3])})" if names else ""


def keyed_controls(ob, controls: ControlRig, source: tuple) -> tuple[np.ndarray, np.ndarray]:
    """(C,) bool each: the controls whose location, and those whose rotation the source keys."""
    curves = strip_curves(ob) if source[0] is None else actions.playing_curves(*source)
    keyed = {bone for curve in curves if (bone := actions.bone_of_path(curve.data_path)) and bone[1] in SIZES}
    names = [controls.rig.names[bone] for bone in controls.controls]
    turning = [channel for channel in SIZES if channel.startswith("rotation")]
    placed = np.array([(name, "location") in keyed for name in names], bool)
    turned = np.array([any((name, channel) in keyed for channel in turning) for name in names], bool)
    return placed, turned
