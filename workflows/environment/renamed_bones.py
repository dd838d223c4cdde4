"""Bones that got another name since bind: what the user chose of them goes along when the rig is bound again.

Blender renames them in curves and constraints, and not in texts of settings.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...solvers.core.types import Skeleton
from .contacts import TAIL, Contact


def renamed_bones(ob, before: Skeleton, now: Skeleton) -> dict[str, str]:
    """The names of solved bones now, by those at the bind before, of those that have another one.

    They are told by their place among the solved joints; none where these are others.
    """
    if not np.array_equal(before.parents, now.parents):
        return {}
    pairs = zip(before.names, now.names, strict=True)
    both = ((old.removesuffix(TAIL), new.removesuffix(TAIL)) for old, new in pairs)
    return {old: new for old, new in both if old not in ob.data.bones and new not in before.names}


def rename_bones(settings, renamed: Mapping[str, str]) -> list[str]:
    """Give what was chosen of bones their new names; a sentence of each of which anything was."""
    found = {}
    for item in settings.joints:
        if item.name in renamed:
            if item.mode != "AUTO":
                found[item.name] = None
            item.name = renamed[item.name]
    edited = [item for item in settings.contacts if Contact.of(item).is_edited]
    for item in (*edited, *settings.pins, *settings.bones):
        if item.bone in renamed:
            found[item.bone] = None
            item.bone = renamed[item.bone]
    for item in edited:
        if item.is_own and item.object in renamed:
            found[item.object] = None
            item.object = renamed[item.object]
    return [f"Bone '{old}' is called '{renamed[old]}' now: what was chosen of it goes along" for old in found]
