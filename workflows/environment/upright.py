"""How upright a rig stays over the frames, and what becomes of bindings from before there was such a setting."""

from __future__ import annotations

import numpy as np

from ...scene import actions
from ...scene.influence import is_driven
from ...scene.session import all_objects
from ...solvers.core.errors import SceneError
from ..rig.action import played_action
from ..rig.factors import present_setting, sampled_setting

_NAME = "upright"
_KNOWN = "knows upright"  # on the datablock that holds a binding
_NOTE = "Bound before there was Upright, so it is 0: the whole body tilts with its ground. Set it to 1 to change that"


def is_older(settings) -> bool:
    """Whether something is bound, by a version that did not know of Upright."""
    return settings.binding is not None and not settings.is_property_set(_NAME) and _KNOWN not in settings.binding


def note_known(settings) -> None:
    """Keep the present value with a new binding, also where it is the default.

    A library override forgets that a property was set to the value that it has in the library: the binding tells, too.
    """
    settings.upright = settings.upright
    settings.binding[_KNOWN] = True


def set_upright(ob, workflow, value: float) -> None:
    """Raises SceneError where keys or a driver would set it back."""
    path = workflow.setting_path(_NAME)
    if is_driven(ob, path) or actions.find_curve(*played_action(ob), path) is not None:
        raise SceneError(f"Upright of '{ob.name}' is animated, --upright cannot change it; change its keys instead.")
    workflow.settings_of(ob).upright = value


def settle_older(workflow) -> None:
    """Bindings that an older version saved keep the result that they had; each says so in its notes."""
    for ob in all_objects():
        if ob.type != "ARMATURE" or ob.library is not None or not is_older(workflow.settings_of(ob)):
            continue
        settings = workflow.settings_of(ob)
        settings.upright = 0.0
        settings.notes = "\n".join((*settings.notes.splitlines(), _NOTE))


def sampled_upright(context, ob, workflow, frames: np.ndarray) -> np.ndarray:
    """(F,) at scene frames (F,); a driver needs stepping through."""
    if is_older(workflow.settings_of(ob)):
        return np.zeros(len(frames))
    return sampled_setting(context, ob, workflow, _NAME, frames)


def present_upright(ob, workflow, scene, frames: np.ndarray, known: np.ndarray | None = None) -> np.ndarray:
    """(F,) of a live rig, without stepping.

    known: as it was read before, which holds where a driver moves it; without it that raises LiveProblem.
    """
    if is_older(workflow.settings_of(ob)):
        return np.zeros(len(frames))
    if known is not None and is_driven(ob, workflow.setting_path(_NAME)):
        return known
    return present_setting(ob, workflow, _NAME, scene, frames)
