"""The bound motion of a rig is read, whatever the rig plays, and noted."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ...scene.interference import require_result_plays
from ...scene.motion import BoneMotion, read_motion
from ...scene.rigs import require_armature, require_editable
from .action import live_copy, remember_source, source_played
from .live_keys import held_by_user
from .live_source import keep_motion


def read_bound_motion(context, ob, workflow, frames: np.ndarray, joints: Collection[str]) -> BoneMotion:
    """The motion that the bound source makes at scene frames (F,), stepping through them where that is needed.

    joints: names of what is solved, bones among them.
    Raises SceneError for a rig that cannot be read, or over whose result something else would act, and LiveProblem for
    keys that the user has set under a live result.
    """
    require_armature(ob)
    require_editable(ob)
    if live_copy(ob, workflow) is not None:
        held_by_user(ob, workflow, joints)  # refuses what would play under the result
    with source_played(ob, workflow):
        motion = read_motion(context, ob, frames)
        require_result_plays(ob, {name for name in joints if name in ob.data.bones}, workflow.heeds_limits(ob))
    return motion


def note_bound(context, ob, workflow, motion: BoneMotion) -> None:
    """What the rig plays, or the source of what is live, is bound from now on. motion: what was read of it."""
    if workflow.settings_of(ob).live:
        keep_motion(ob, workflow, motion, context.evaluated_depsgraph_get())
    else:
        remember_source(ob, workflow)
