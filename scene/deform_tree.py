"""What moves with what, noted on the bones of a rig that has no hierarchy of its own.

Notes are numbers and lie on the bones themselves, so that they stay right when bones are renamed, and travel with the
armature through copies, files and libraries.
"""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

# A number of its own for each bone, and that of the bone it moves with; none of the latter on a root.
_OWN, _FOLLOWED = "motion_loom_bone", "motion_loom_moves_with"


def note_parents(data: bpy.types.Armature, names: Sequence[str], parents: np.ndarray) -> None:
    """Note on the bones of an armature which bone each moves with. names: B bones.  parents: (B,), -1 for none."""
    for number, (name, parent) in enumerate(zip(names, parents, strict=True)):
        bone = data.bones[name]
        bone[_OWN] = number
        if parent >= 0:
            bone[_FOLLOWED] = int(parent)


def noted_parents(ob: bpy.types.Object, names: Sequence[str]) -> np.ndarray:
    """(B,) which of the named bones of a rig each moves with as it was noted, -1 where nothing is noted.

    A note that leads to no bone any more, or in a circle by notes and parents, counts for nothing.
    """
    bones = [ob.data.bones[name] for name in names]
    index = {name: number for number, name in enumerate(names)}
    parents = [index.get(bone.parent.name, -1) if bone.parent else -1 for bone in bones]
    places = {bone[_OWN]: number for number, bone in reversed(list(enumerate(bones))) if _OWN in bone}
    out = np.array([places.get(bone.get(_FOLLOWED), -1) for bone in bones])
    for number in np.flatnonzero(out >= 0):
        seen, at = set(), out[number]
        while at >= 0 and at != number and at not in seen:
            seen.add(at)
            at = parents[at] if parents[at] >= 0 else out[at]
        if at == number:
            out[number] = -1
    return out
