"""The bound motion of a rig is read over its frames, whatever the rig plays, and noted."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ...scene.frames import frames_inside, require_range
from ...scene.held_as_bound import motion_as_bound
from ...scene.interference import require_result_plays, require_unblended
from ...scene.motion import BoneMotion, motion_range, read_motion
from ...scene.rigs import require_armature, require_editable
from ...solvers.controls.control_rig import ControlRig
from ...solvers.core.errors import InputError, StaleBindingError
from .action import bound_action, live_copy, remember_source, result_in_strip, source_played, values_of_source
from .live_keys import held_by_user
from .live_source import keep_motion
from .unkeyed import noted_pose


def bound_frames(context, ob, start: float | None, end: float | None) -> np.ndarray:
    """Whole scene frames (F,) of the rig's motion, see ``motion_range``, or of a part of it.

    Raises InputError for a range without frames, SceneError for a rig that plays nothing.
    """
    require_armature(ob)
    require_editable(ob)
    return frames_within(ob, motion_range(context.scene, ob), start, end)


def frames_within(ob, motion: tuple[float, float], start: float | None, end: float | None) -> np.ndarray:
    """Whole scene frames (F,) from the first to the last of a rig's motion, or of a part of it.

    Raises InputError for a range without frames.
    """
    first, last = motion
    start, end = first if start is None else start, last if end is None else end
    require_range(start, end, f"The range of '{ob.name}'")
    begin, finish = frames_inside(start, end)
    if not finish >= begin:
        raise InputError(
            f"The range {begin:g} to {finish:g} is empty; the animation of '{ob.name}' runs from {first:g} to {last:g}."
        )
    return np.arange(begin, finish + 1, dtype=float)


def read_bound_motion(
    context, ob, workflow, frames: np.ndarray, joints: Collection[str], controls: ControlRig | None = None
) -> BoneMotion:
    """The motion that the bound source makes at scene frames (F,), stepping through them where that is needed.

    joints: names of what is solved, bones among them.  controls: what results are written to, where others move these.
    Raises SceneError for a rig that cannot be read, or over whose result something else would act, and LiveProblem for
    keys that the user has set under a live result.
    """
    require_armature(ob)
    require_editable(ob)
    if live_copy(ob, workflow) is not None:
        _require_source(ob, workflow)
        held_by_user(ob, workflow, joints)  # refuses what would play under the result
    with source_played(ob, workflow):
        motion = read_motion(context, ob, frames, controls is not None)
        require_written_plays(ob, joints, workflow.heeds_limits(ob), controls)
        held = workflow.controls_of(ob).held if controls is not None else None
        moved = held.moved(context, ob, motion) if held is not None else ()
    if moved:
        played = {"source": bound_action(ob, workflow), "before": values_of_source(ob, workflow)}
        motion = motion_as_bound(context, ob, held, motion, silent=result_in_strip(ob, workflow), **played)
    return motion


def _require_source(ob, workflow) -> None:
    """Raises StaleBindingError where the action that a live rig was bound with was deleted."""
    settings = workflow.settings_of(ob)
    if settings.source is None and not settings.bound_strips:
        raise StaleBindingError(
            f"The action that '{ob.name}' was bound with is deleted, it plays '{settings.live_action.name}' live; "
            "undo the deletion, or leave Live, assign an action and bind again."
        )


def require_written_plays(
    ob, joints: Collection[str], limits_heeded: bool, controls: ControlRig | None = None
) -> None:
    """Raises SceneError where a result could not move the rig: of a rig with controls these alone are written."""
    if controls is None:
        require_result_plays(ob, {name for name in joints if name in ob.data.bones}, limits_heeded)
    else:
        require_unblended(ob)


def note_bound(context, ob, workflow, motion: BoneMotion) -> None:
    """What the rig plays, or the source of what is live, is bound from now on. motion: what was read of it."""
    if workflow.settings_of(ob).live:
        keep_motion(ob, workflow, motion, context.evaluated_depsgraph_get())
    else:
        remember_source(ob, workflow)
        workflow.settings_of(ob).bound_pose = noted_pose(ob)
