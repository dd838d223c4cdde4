"""What moves the bones of a rig beside keys, as digests: what was measured of controls holds as long as they stay."""

from __future__ import annotations

import hashlib

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
    """Digests by what they are of, in words as in "The constraints of 'Rig' ...", of an armature object."""
    names, parents, modes, rest, length, *_ = bones_state(ob, _Nothing)
    return {
        "bones": _digest(names, parents),
        "rotation modes": _digest(modes),
        "bone lengths and rest pose": _digest(_rounded(rest), _rounded(length)),
        "constraints": _digest(*(repr(_acting(each, ob)) for each in _constraints(ob))),
        "drivers": _digest(*(repr(_driving(each, ob)) for each in _drivers(ob))),
    }


class _Nothing:
    """No bone is scaled by keys, for the sizes that keys may change are not looked at."""

    scaled = _NO_NAMES


def _constraints(ob) -> list:
    return [each for bone in ob.pose.bones for each in bone.constraints]


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


def _digest(*texts: str) -> str:
    return hashlib.blake2b("\n".join(texts).encode(), digest_size=8).hexdigest()
