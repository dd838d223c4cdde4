"""Keys and drivers of entries of the list of objects go along where entries are removed or change their order.

Blender finds them by the place in the list: what was keyed of the third object would move the one that comes third now.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...scene import actions
from ...scene.live_action import keys_digest
from ..rig.action import bound_action, played_action


def move_entry_keys(ob, workflow, places: Mapping[int, int]) -> set[int]:
    """Move keys and drivers of entries to their new places, {old: new}; those of entries that have none are removed.

    In the bound action, the one that is played, and the live action and the result, which keep a user's keys. Returns
    the old places of entries whose keys or drivers were removed.
    """
    settings = workflow.settings_of(ob)
    is_known = keys_digest(*bound_action(ob, workflow)) == settings.live_source
    path = workflow.setting_path("surfaces")
    lost = {place for curves in _lists(ob, workflow) for place in _move(curves, path, places)}
    if is_known:
        # Else keys that were set while live would count no more.
        settings.live_source = keys_digest(*bound_action(ob, workflow))
    return lost


def _lists(ob, workflow):
    """What holds curves, each once: by its address, for every reading makes a new object of the same list."""
    settings, pairs = workflow.settings_of(ob), [bound_action(ob, workflow), played_action(ob)]
    for action in (settings.live_action, settings.result):
        if action is not None:
            pairs += [(action, slot) for slot in (action.slots if actions.HAS_SLOTS else [None])]
    holders = [actions.curve_list(*pair) for pair in pairs if pair[0] is not None and pair[0].library is None]
    found = {holder.as_pointer(): holder.fcurves for holder in holders if holder is not None}
    if ob.animation_data is not None:
        found[0] = ob.animation_data.drivers
    return found.values()


def _move(curves, path: str, places):
    entry = re.compile(re.escape(path) + r"\[(\d+)\](.*)", re.DOTALL)
    lost = set()
    for curve, match in [(curve, entry.fullmatch(curve.data_path)) for curve in curves]:
        place = int(match[1]) if match else None
        if place is None or places.get(place) == place:
            continue
        if place in places:
            curve.data_path = f"{path}[{places[place]}]{match[2]}"
        else:
            lost.add(place)
            curves.remove(curve)
    return lost
