"""Bones of a rig with controls that no key moves: they count as they were posed at Bind, whatever pose they have.

What a driver sets is no pose: it is another one at each frame.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator

from ...scene import actions
from ...scene.channels import SIZES, rotation_channel
from ...scene.playback import Before, value_at
from ...scene.sampling import strip_curves

_SAME = 1e-6
_REST = {
    "location": (0.0, 0.0, 0.0), "rotation_quaternion": (1.0, 0.0, 0.0, 0.0), "rotation_euler": (0.0, 0.0, 0.0),
    "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0), "scale": (1.0, 1.0, 1.0),
}  # fmt: skip
_NAMED = 3


def noted_pose(ob) -> str:
    """How bones are posed now, as a text that settings keep: of those that are not at rest, by name and channel."""
    found: dict[str, dict[str, list[float]]] = {}
    for bone in ob.pose.bones:
        for channel in _channels(bone):
            values = list(map(float, getattr(bone, channel)))
            if values != list(_REST[channel]):
                found.setdefault(bone.name, {})[channel] = values
    return json.dumps(found, ensure_ascii=False)


def posed_as_bound(ob, noted: str, source: tuple) -> list[Before]:
    """The values at Bind of channels that are otherwise now, of those that the source does not animate.

    noted: by ``noted_pose``; nothing is known where it is empty.  source: action and slot, None and None for strips.
    """
    if not noted:
        return []
    then, keyed = json.loads(noted), _animated(ob, source)
    return [
        Before(path, index, values[index])
        for bone in ob.pose.bones
        for channel in _channels(bone)
        for values in (then.get(bone.name, {}).get(channel, _REST[channel]),)
        if any(abs(now - value) > _SAME for now, value in zip(getattr(bone, channel), values, strict=True))
        for path in (actions.bone_path(bone.name, channel),)
        for index in range(SIZES[channel])
        if (path, index) not in keyed
    ]


def unkeyed_notes(ob, before: list[Before], played: tuple, written: Collection[str]) -> Iterator[str]:
    """A sentence without its full stop of bones that are posed by hand otherwise than at Bind. before: of them.

    played: action and slot, whose channels are posed by keys.  written: bones that are posed by the result.
    """
    keyed = _animated(ob, played)
    moved = [each for each in before if (each.path, each.index) not in keyed]
    moved = [each for each in moved if abs(value_at(ob, each.path, each.index) - each.value) > _SAME]
    names = dict.fromkeys(actions.bone_of_path(each.path)[0] for each in moved)
    names = [f"'{name}'" for name in names if name not in written]
    if names:
        shown = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
        if len(names) > 1:
            are, it, does, shows = "are", "them", "their poses do", "show"
        else:
            are, it, does, shows = "is", "it", "its pose does", "shows"
        yield (
            f"{shown} {are} posed by hand otherwise than at Bind, and the source does not key {it}: {does} not count "
            f"but {shows} in the result; clear the pose of {it}, or key {it} in the source and bind again"
        )


def _channels(bone) -> tuple[str, str, str]:
    return "location", rotation_channel(bone.rotation_mode), "scale"


def _animated(ob, played: tuple) -> set[tuple[str, int]]:
    """Path and index of what an action, the strips and the drivers of a rig animate."""
    drivers = ob.animation_data.drivers if ob.animation_data else ()
    curves = [*(actions.playing_curves(*played) if played[0] is not None else ()), *strip_curves(ob), *drivers]
    return {(curve.data_path, curve.array_index) for curve in curves}
