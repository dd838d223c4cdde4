"""Which rigs are bound by their controls, and what is measured of these at Bind."""

from __future__ import annotations

import numpy as np

from ...scene.bone_dependence import moved_by
from ...scene.control_candidates import keyed_bones
from ...scene.control_probe import probe_rig
from ...scene.interference import acting_constraints, looked_at, overriding, refusal
from ...scene.motion import source_of
from ...scene.switching import changing_constraints
from ...solvers.controls.control_rig import ControlRig
from ...solvers.controls.measured_rig import measured_rig
from ...solvers.core.errors import InputError, SceneError
from .choose_joints import body_names


def measured_controls(context, ob, frames: np.ndarray, limits_heeded: bool) -> ControlRig | None:
    """The controls of a rig that is keyed by them, None for any other.

    It is where something acts over its bones that no action can switch off, and where its constraints hold to bones
    that are keyed, or pull chains by IK of which no bone is.
    Raises SceneError for one that cannot be moved by controls though nothing else would do: why, and the way out.
    """
    found = overriding(ob, set(), limits_heeded)
    if not found and _has_drivers(ob):
        found = overriding(ob, body_names(context, ob), limits_heeded)
    if not found and not _has_goals(ob, limits_heeded):
        return None
    try:
        return measured_rig(probe_rig(context, ob, frames))
    except (InputError, SceneError) as error:
        if not found:
            return None  # its constraints are switched off in the result, and named
        # Before the motion is read, and all at once.
        raise refusal(ob, overriding(ob, body_names(context, ob), limits_heeded), str(error)) from error


def _has_drivers(ob) -> bool:
    data = ob.animation_data
    return data is not None and any(not driver.mute for driver in data.drivers)


def _has_goals(ob, limits_heeded: bool) -> bool:
    """Whether constraints of the rig hold to bones of it that are keyed, as goals and poles of limbs are.

    Goals that are planted, and not keyed, are some too where no bone of what they pull is keyed.
    """
    acting = acting_constraints(ob, limits_heeded)
    source = source_of(ob)
    keyed = {bone for bone, _ in keyed_bones(ob, *source)}
    if not looked_at(acting).isdisjoint(keyed):
        return True
    changing = changing_constraints(ob, source)
    acting = [(bone, each) for bone, each in acting if each.influence > 0.0 or (bone.name, each.name) in changing]
    pulled = [(bone, each) for bone, each in acting if each.type == "IK"]
    chains = {link.name for bone, each in pulled for link in moved_by(bone, each)}
    return bool(looked_at(pulled)) and bool(keyed) and chains.isdisjoint(keyed)
