"""The list of a rig's controls: what each carries, whether the source keys it, whether results may be written to it."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ...scene.bone_selection import selected_bones
from ...solvers.controls.control_rig import ControlRig
from ...solvers.core.errors import InputError, SceneError
from ..core.list_entries import resized
from .action import bound_action
from .control_variables import keyed_controls


def list_controls(ob, workflow, controls: ControlRig | None) -> None:
    """Write the list of a rig that is bound, empty for one without; what the user chose stays, by name."""
    settings = workflow.settings_of(ob)
    left_out = {item.name for item in settings.controls if not item.use}
    if controls is None:
        resized(settings, "controls", 0, "Controls")
        return
    keyed = np.any(keyed_controls(ob, controls, bound_action(ob, workflow)), axis=0)
    order = np.lexsort((np.arange(len(keyed)), ~keyed))
    for item, control in zip(resized(settings, "controls", len(order), "Controls"), order, strict=True):
        item.name = controls.rig.names[controls.controls[control]]
        rider = controls.riders[:, control].max()
        item.carries = controls.rig.names[controls.carriers[rider]] if rider >= 0 else ""
        item.keyed, item.use = bool(keyed[control]), item.name not in left_out


def choose_controls(settings, names: Collection[str]) -> None:
    """Let results be written to controls of these names alone, to all for none; InputError for one that is none."""
    entries = settings.controls
    known = {item.name for item in entries}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InputError(f"'{unknown[0]}' is no control of '{settings.id_data.name}' as it is bound; choose others.")
    for item in entries:
        item.use = not names or item.name in names


def choose_selected(ob, workflow) -> str:
    """As ``choose_controls``, of the bones that are selected; returns how many there are, in words."""
    known = {item.name for item in workflow.settings_of(ob).controls}
    chosen = [name for name in selected_bones(ob) if name in known]
    if not chosen:
        raise SceneError(f"None of the selected bones is a control of '{ob.name}'; select controls in Pose Mode.")
    choose_controls(workflow.settings_of(ob), chosen)
    return f"Results are written to {len(chosen)} of {len(known)} controls"
