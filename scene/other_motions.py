"""What motion there is on an object beside the one that it plays."""

from __future__ import annotations

import bpy

from . import actions


def other_motions(ob: bpy.types.Object, source: tuple, results: tuple = ()) -> list[str]:
    """The NLA strips of an object and the other slots of its action, in words.

    source: action and slot that it plays; of strips alone, None and None, only those are told that do not play.
    results: actions that are made of it, whose strips are left out.
    """
    data, (action, slot) = ob.animation_data, source
    found = []
    for track in data.nla_tracks if data is not None else ():
        for strip in track.strips:
            is_still = track.mute or strip.mute or not data.use_nla
            if strip.action in results or (action is None and not is_still):
                continue
            found.append(f"strip '{strip.name}' on track '{track.name}'{' (muted)' if is_still else ''}")
    if actions.HAS_SLOTS and action is not None:
        kinds = ("OBJECT", "UNSPECIFIED")
        others = (each for each in action.slots if each.handle != slot.handle and each.target_id_type in kinds)
        found += [f"slot '{each.name_display}' of '{action.name}'" for each in others]
    return found
