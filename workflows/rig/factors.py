"""A factor of a rig's settings over the frames, as its influence: constant, keyed or driven."""

from __future__ import annotations

import numpy as np

from ...scene import actions
from ...scene.influence import factor_of, factor_rows, is_driven, sampled_factor
from ...scene.live_action import keys_digest, same_keys
from .action import bound_action, played_action, plays_live, source_played
from .live_action import live_slot, owns_live
from .live_source import untold


def sampled_setting(context, ob, workflow, name: str, frames: np.ndarray) -> np.ndarray:
    """(F,) of a factor of the settings, by the action that the rig plays while live, else by the bound one.

    Before those of the bound action come keys that the user has set while live, see ``kept_keys``. A driver needs
    stepping through the frames.
    """
    path = workflow.setting_path(name)
    if is_driven(ob, path):
        return sampled_factor(context, ob, path, frames)
    if plays_live(ob, workflow):
        return factor_rows(context.scene, ob, path, *played_action(ob), frames)
    kept = kept_keys(ob, workflow, name)
    if kept is not None:
        return factor_of(kept[1], context.scene, frames)
    with source_played(ob, workflow):
        return factor_rows(context.scene, ob, path, *played_action(ob), frames)


def kept_keys(ob, workflow, name: str):
    """The action in which the user has set keys of a factor while live, and their curve; None where there are none.

    They are in the live action, as long as it is kept, and then in the result that was baked of it. Over keys that the
    bound action has of its own count only those of a kept live action, until the bound one is changed.
    """
    settings, path = workflow.settings_of(ob), workflow.setting_path(name)
    own = actions.find_curve(*bound_action(ob, workflow), path)
    for action in (settings.live_action, settings.result):
        curve = None if action is None else actions.kept_curve(action, path)
        if curve is None:
            continue
        if own is None or (action == settings.live_action and _is_newer(ob, workflow, curve, own)):
            return action, curve
    return None


def _is_newer(ob, workflow, curve, own) -> bool:
    """Whether a live action's keys were changed since they were taken over from the bound action, and that was not."""
    is_same = keys_digest(*bound_action(ob, workflow)) == workflow.settings_of(ob).live_source
    return is_same and not same_keys(curve, own)


def going_on(scene, ob, workflow, name: str, frames: np.ndarray) -> np.ndarray | None:
    """(F,) of a factor by its keys in the kept live action, which plays on when Live is switched on, whatever the bound
    action has; None where it has none, or a driver moves the factor."""
    path, action = workflow.setting_path(name), workflow.settings_of(ob).live_action
    if not owns_live(ob, workflow) or is_driven(ob, path):
        return None
    curve = actions.find_curve(action, live_slot(ob, workflow), path)
    return None if curve is None else factor_of(curve, scene, frames)


def notes_of_kept_keys(ob, workflow) -> list[str]:
    """Says which factors follow keys of an action that is not the bound one."""
    if plays_live(ob, workflow):
        return []
    found = ((name, kept_keys(ob, workflow, name)) for name in workflow.keyed_factors(ob))
    return [
        f"{workflow.factor_label(ob, name)} follows its keys in '{kept[0].name}'; delete them there to use the slider"
        for name, kept in found
        if kept is not None and not is_driven(ob, workflow.setting_path(name))
    ]


def present_setting(ob, workflow, name: str, scene, frames: np.ndarray) -> np.ndarray:
    """(F,) of a live rig, without stepping; raises LiveProblem where only a driver knows it."""
    path = workflow.setting_path(name)
    if is_driven(ob, path):
        raise untold(ob)
    return factor_rows(scene, ob, path, *played_action(ob), frames)


def mark_of_setting(ob, workflow, name: str):
    """What a factor of the settings is made of, to compare: its keys, its value where it has none, or "driven"."""
    path = workflow.setting_path(name)
    if is_driven(ob, path):
        return "driven"
    curve = actions.find_curve(*played_action(ob), path)
    return float(ob.path_resolve(path)) if curve is None else actions.keys_of(curve)
