"""What the user keys in a live action beside what is solved there.

Solving goes by the bound action: where the rig's object is, how long bones are. Keys that hold such a channel still are
as good as a value; keys that move it would play under a pose that was solved without them.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ...scene import actions
from ...scene.channels import DELTAS, SIZES
from ...scene.live_action import same_keys
from ..core.follower import LiveProblem
from .action import bound_action
from .live_action import live_slot, noted_channels

_OF_BONES = {"location": 0, "scale": 2}  # column of what is noted; turning is what solving writes


def held_by_user(ob, workflow, joints: Collection[str]) -> tuple[str | int | float, ...]:
    """Path, index and value of each channel that the live action alone holds still, for comparing.

    joints: names of all that is solved, bones among them.
    Raises LiveProblem where it moves one otherwise than the bound action does.
    """
    action = workflow.settings_of(ob).live_action
    own = _placing(ob, joints, action, live_slot(ob, workflow))
    bound = _placing(ob, joints, *bound_action(ob, workflow))
    solved, held = _solved(ob, workflow), []
    for key in sorted(own.keys() | bound.keys()):
        if key in solved or (key in own and key in bound and same_keys(own[key], bound[key])):
            continue
        value = None if key in bound else _still_value(own[key])
        if value is None:
            raise LiveProblem(
                f"{_whose(ob, key[0])} is keyed in '{action.name}' otherwise than in what is bound. Delete these keys, "
                "or key the source and bind again."
            )
        held += [*key, value]
    return tuple(held)


def _placing(ob, joints: Collection[str], action, slot) -> dict:
    """The curves of an action that place the object or the joints of the rig, by path and index."""
    solved = {name for name in joints if name in ob.data.bones}
    found = {}
    for curve in actions.playing_curves(action, slot) if action is not None else ():
        bone = actions.bone_of_path(curve.data_path)
        placing = curve.data_path in (*SIZES, *DELTAS) if bone is None else bone[0] in solved and bone[1] in _OF_BONES
        if placing:
            found[curve.data_path, curve.array_index] = curve
    return found


def _solved(ob, workflow) -> set[tuple[str, int]]:
    """Path and index of what solving has keyed of that."""
    keyed = noted_channels(ob, workflow)
    return {
        (actions.bone_path(bone.name, channel), index)
        for row, bone in enumerate(ob.data.bones)
        for channel, column in _OF_BONES.items()
        for index in range(SIZES[channel])
        if keyed[row, column]
    }


def _still_value(curve) -> float | None:
    """The value that a curve holds, None where it moves."""
    values = actions.keys_of(curve)[:, [1, 3, 5]]
    return float(values[0, 0]) if not len(curve.modifiers) and np.ptp(values) == 0.0 else None


def _whose(ob, path: str) -> str:
    bone = actions.bone_of_path(path)
    return f"'{ob.name}' itself ({path})" if bone is None else f"Bone '{bone[0]}' of '{ob.name}' ({bone[1]})"
