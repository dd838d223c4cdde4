"""What moves the bones of a rig beside keys, as digests: what was measured of controls holds as long as they stay."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import bpy
import numpy as np

from .rig_state import bones_state

_NO_NAMES = frozenset()
# Of constraints, what says how they act; influences and the like may be keyed or driven.
_ACTS = (
    "type", "subtarget", "pole_subtarget", "chain_count", "owner_space", "target_space", "mix_mode", "use_tail",
    "use_stretch", "use_rotation", "track_axis", "up_axis", "map_to", "volume",
)  # fmt: skip


def mechanism_marks(ob: bpy.types.Object) -> dict[str, str]:
    """Digests by what they are of, in words as in "The constraints of 'Rig' ...", of an armature object.

    Those of what belongs to single bones are one to a bone, in the order of their names, so that it can be told which
    have changed.
    """
    *_, rest, length, _scale, _position = bones_state(ob, _Nothing)
    names = [bone.name for bone in ob.data.bones]
    parents = [(bone.name, bone.parent.name if bone.parent else "") for bone in ob.data.bones]
    rows = [_rounded(row) for row in np.column_stack((rest.reshape(-1, 16), length))]
    held = {name: [] for name in names}
    for each in _constraints(ob):
        held[each[0]].append(repr(_acting(each[1], ob)))
    of_bones = {
        "rotation modes": [ob.pose.bones[name].rotation_mode for name in names],
        "bone lengths and rest pose": rows,
        "constraints": ["\n".join(held[name]) for name in names],
    }
    return {
        "bones": _digest(*map(repr, sorted(parents))),
        **{what: _each(names, texts) for what, texts in of_bones.items()},
        "drivers": _digest(*(repr(_driving(each, ob)) for each in _drivers(ob))),
    }


def changed_mechanism(ob: bpy.types.Object, marks: dict[str, str], names: Sequence[str]) -> dict[str, str]:
    """What has changed since marks were taken of a rig whose bones had some names, and which bones, "" if unknown."""
    now, present = mechanism_marks(ob), [bone.name for bone in ob.data.bones]
    out = {}
    for what, mark in marks.items():
        if now.get(what) == mark:
            continue
        if what == "bones":
            out[what] = _which(set(names) - set(present), "gone") or _which(set(present) - set(names), "new")
            continue
        before, after = mark.split(), now.get(what, "").split()
        if len(before) == len(names) and len(after) == len(present) and what != "drivers":
            then, here = (dict(zip(sorted(b), a, strict=True)) for b, a in ((names, before), (present, after)))
            changed = {name for name in then if name in here and then[name] != here[name]}
            if changed:
                out[what] = _which(changed)
        else:
            out[what] = ""
    return out


def _which(names: set[str], how: str = "") -> str:
    if not names:
        return ""
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    state = how and f" {'are' if more else 'is'} {how}"
    return f"'{min(names)}'{more}{state}"


class _Nothing:
    """No bone is scaled by keys, for the sizes that keys may change are not looked at."""

    scaled = _NO_NAMES


def _constraints(ob) -> list:
    return [(bone.name, each) for bone in ob.pose.bones for each in bone.constraints]


def _drivers(ob) -> list:
    return [each for owner in (ob, ob.data) if owner.animation_data for each in owner.animation_data.drivers]


def _acting(constraint, ob) -> list:
    about = [constraint.path_from_id(), *(str(getattr(constraint, name, "")) for name in _ACTS)]
    held = [constraint, *getattr(constraint, "targets", ())]
    about += [(_named(getattr(each, "target", None), ob), getattr(each, "subtarget", "")) for each in held]
    return [*about, _named(getattr(constraint, "pole_target", None), ob)]


def _driving(curve, ob) -> list:
    driver = curve.driver
    variables = [
        (each.name, each.type, [(_named(t.id, ob), t.data_path, t.bone_target, t.transform_type) for t in each.targets])
        for each in driver.variables
    ]
    return [curve.data_path, curve.array_index, curve.mute, driver.type, driver.expression, variables]


def _named(datablock, ob) -> str:
    """The name of what is referred to; a copy of a rig refers to itself as the rig does."""
    return "" if datablock is None else {ob: "itself", ob.data: "its data"}.get(datablock, datablock.name_full)


def _rounded(values: np.ndarray) -> str:
    """Numbers as a text in which rounding does not show."""
    return (np.round(values, 5) + 0.0).astype(np.float32).tobytes().hex()


def _each(names: Sequence[str], texts: Sequence[str]) -> str:
    """Short digests of a text to each bone, in the order of the bones' names."""
    ordered = [text for _, text in sorted(zip(names, texts, strict=True))]
    return " ".join(hashlib.blake2b(text.encode(), digest_size=4).hexdigest() for text in ordered)


def _digest(*texts: str) -> str:
    return hashlib.blake2b("\n".join(texts).encode(), digest_size=8).hexdigest()
