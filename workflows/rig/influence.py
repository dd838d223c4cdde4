"""How much of a result is shown over the frames: the influence of a rig's settings, constant, keyed or driven."""

from __future__ import annotations

import numpy as np

from ...scene.influence import factor_rows, is_driven, sampled_factor
from .action import played_action, plays_live, source_played
from .live_source import untold


def sampled_influence(context, ob, workflow, frames: np.ndarray) -> np.ndarray:
    """(F,) of the action that the rig plays while live, else of the bound one; drivers need stepping through."""
    path = workflow.influence_path
    if is_driven(ob, path):
        return sampled_factor(context, ob, path, frames)
    if plays_live(ob, workflow):
        return factor_rows(context.scene, ob, path, *played_action(ob), frames)
    with source_played(ob, workflow):
        return factor_rows(context.scene, ob, path, *played_action(ob), frames)


def present_influence(ob, workflow, scene, frames: np.ndarray) -> np.ndarray:
    """(F,) of a live rig, without stepping; raises LiveProblem where a driver tells it."""
    if is_driven(ob, workflow.influence_path):
        raise untold(ob)
    return factor_rows(scene, ob, workflow.influence_path, *played_action(ob), frames)
