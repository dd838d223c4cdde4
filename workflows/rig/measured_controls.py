"""Which rigs are bound by their controls, and what is measured of these at Bind."""

from __future__ import annotations

import numpy as np

from ...scene.control_probe import probe_rig
from ...scene.interference import overriding, refusal
from ...solvers.controls.control_rig import ControlRig
from ...solvers.controls.measured_rig import measured_rig
from ...solvers.core.errors import InputError, SceneError
from .choose_joints import body_names


def measured_controls(context, ob, frames: np.ndarray, limits_heeded: bool) -> ControlRig | None:
    """The controls of a rig over whose bones something acts that no action can switch off; None for any other.

    Raises SceneError for a rig that cannot be moved by controls either: why, and the way out.
    """
    found = overriding(ob, set(), limits_heeded)
    if not found and _has_drivers(ob):
        found = overriding(ob, body_names(context, ob), limits_heeded)
    if not found:
        return None
    try:
        return measured_rig(probe_rig(context, ob, frames))
    except (InputError, SceneError) as error:
        # Before the motion is read, and all at once.
        raise refusal(ob, overriding(ob, body_names(context, ob), limits_heeded), str(error)) from error


def _has_drivers(ob) -> bool:
    data = ob.animation_data
    return data is not None and any(not driver.mute for driver in data.drivers)
