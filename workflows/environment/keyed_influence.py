"""How strongly a motion heeds each object over the frames: the influence of an object is keyed like a factor."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...scene import actions
from ...scene.influence import is_driven
from ..rig.action import bound_action, played_action
from ..rig.factors import kept_keys, present_setting, sampled_setting

# Of objects by the place in the list: what is keyed and driven, the others are numbers.
Influences = dict[str, np.ndarray]


def setting_of(settings, item) -> str:
    """The name of an object's influence among the settings, as of a factor. item: of the list."""
    number = next(k for k, each in enumerate(settings.surfaces) if each == item)
    return f"surfaces[{number}].influence"


def influence_item(settings, name: str):
    """The object whose influence ``setting_of`` calls so, or None."""
    items = settings.surfaces
    return next((item for k, item in enumerate(items) if name == f"surfaces[{k}].influence"), None)


def keyed_settings(ob, workflow) -> list[str]:
    """The influences that keys or a driver move."""
    names = [f"surfaces[{k}].influence" for k in range(len(workflow.settings_of(ob).surfaces))]
    return [name for name in names if _is_animated(ob, workflow, name)]


def _is_animated(ob, workflow, name: str) -> bool:
    path = workflow.setting_path(name)
    played = (played_action(ob), bound_action(ob, workflow))
    is_keyed = any(actions.find_curve(*each, path) is not None for each in played)
    return is_keyed or is_driven(ob, path) or kept_keys(ob, workflow, name) is not None


def sampled_influences(context, ob, workflow, frames: np.ndarray) -> Influences:
    """Of the objects whose influence is animated, (F,) at scene frames (F,)."""
    return {name: sampled_setting(context, ob, workflow, name, frames) for name in keyed_settings(ob, workflow)}


def present_influences(ob, workflow, scene, frames: np.ndarray) -> Influences:
    """Of a live rig, without stepping; raises LiveProblem where only a driver knows them."""
    return {name: present_setting(ob, workflow, name, scene, frames) for name in keyed_settings(ob, workflow)}


def influence_of(settings, item, known: Influences) -> float | np.ndarray:
    """One number, or (F,) where it changes."""
    values = known.get(setting_of(settings, item))
    if values is None:
        return item.influence
    return float(values[0]) if np.ptp(values) == 0.0 else values


def marked(settings, mark: Callable[[str], object]) -> Sequence[object]:
    """What each object's influence is made of, for comparing. mark: of a setting by name."""
    return [mark(f"surfaces[{k}].influence") for k in range(len(settings.surfaces))]
