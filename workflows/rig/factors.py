"""A factor of a rig's settings over the frames, as its influence: constant, keyed or driven."""

from __future__ import annotations

import numpy as np

from ...scene import actions
from ...scene.influence import factor_rows, is_driven, sampled_factor
from .action import played_action, plays_live, source_played
from .live_source import untold


def sampled_setting(context, ob, workflow, name: str, frames: np.ndarray) -> np.ndarray:
    """(F,) of a factor of the settings, by the action that the rig plays while live, else by the bound one.

    A driver needs stepping through the frames.
    """
    path = workflow.setting_path(name)
    if is_driven(ob, path):
        return sampled_factor(context, ob, path, frames)
    if plays_live(ob, workflow):
        return factor_rows(context.scene, ob, path, *played_action(ob), frames)
    with source_played(ob, workflow):
        return factor_rows(context.scene, ob, path, *played_action(ob), frames)


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
