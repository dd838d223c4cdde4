"""Which bones of a rig an animator would key, which channels of theirs are free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from . import actions
from .bone_dependence import bones_reached, moved_by
from .channels import SIZES
from .interference import driven_bones
from .sampling import strip_curves
from .switching import changing_constraints, plain_chains, switching

# They leave a bone where it is keyed, within bounds, or do not act on where it is.
_BOUNDS = frozenset({"LIMIT_LOCATION", "LIMIT_ROTATION", "LIMIT_SCALE", "LIMIT_DISTANCE", "MAINTAIN_VOLUME"})


@dataclass(frozen=True)
class Candidates:
    """Bones that may be keyed, C, in the order of the armature's bones.

    bones: (C,) int.  free: (C, 6) bool, location x, y, z and rotation x, y, z that are neither locked nor driven.
    keyed: (C, 2) bool, whether what the rig plays moves and turns each.
    shaped: whether custom shapes tell controls from the rest.
    locked: names of bones that would be controls but for their locks.  kept: those of them that are keyed all the same.
    """

    bones: np.ndarray
    free: np.ndarray
    keyed: np.ndarray
    shaped: bool
    locked: tuple[str, ...]
    kept: tuple[str, ...]


def find_candidates(ob: bpy.types.Object, action, slot) -> Candidates:
    """Of an armature object that plays an action, or NLA strips alone where it is None.

    Bones with a custom shape, and those that are keyed; where no bone has a shape, those that are keyed, those that
    constraints look at and those that can be switched free of them.  What constraints wholly override, and what has no
    free channel, is none of them.
    """
    bones = [ob.pose.bones[bone.name] for bone in ob.data.bones]
    free = np.array([_free(bone) for bone in bones]) & ~_driven_channels(ob, bones)
    keyed = keyed_bones(ob, action, slot)
    moved = np.array([[(bone.name, way) in keyed for way in ("location", "rotation")] for bone in bones])
    is_keyed = moved.any(axis=1)
    shaped = np.array([bone.custom_shape is not None for bone in bones])
    overridden = overridden_bones(ob, (action, slot))
    if shaped.any():
        chosen = shaped | (is_keyed & ~overridden)
    else:
        used = _targets(ob) | {bone for _path, bone in switching(ob, (action, slot))}
        chosen = (is_keyed | np.isin([bone.name for bone in bones], list(used))) & ~overridden
    usable = free.any(axis=1)
    locked, kept = (
        tuple(bones[number].name for number in np.flatnonzero(some & ~usable)) for some in (chosen, chosen & is_keyed)
    )
    found = np.flatnonzero(chosen & usable)
    return Candidates(found, free[found], moved[found], bool(shaped.any()), locked, kept)


def overridden_bones(ob: bpy.types.Object, source: tuple) -> np.ndarray:
    """(B,) bool: bones that a constraint places whatever their channels say, at all times, and that no key switches.

    source: action and slot that the rig moves by.
    """
    animated = changing_constraints(ob, source)
    animated |= {(bone.name, each.name) for bone, each in plain_chains(ob, source)}
    found: set[str] = set()
    for bone in ob.pose.bones:
        for each in bone.constraints:
            whole = not each.mute and each.influence >= 1.0 and each.type not in _BOUNDS
            if not whole or (bone.name, each.name) in animated:
                continue
            if each.type in {"IK", "SPLINE_IK"}:
                found.update(link.name for link in moved_by(bone, each))
            elif each.type == "COPY_TRANSFORMS" and each.mix_mode == "REPLACE":
                found.add(bone.name)
            elif each.type == "COPY_ROTATION" and each.mix_mode == "REPLACE" and bone.bone.use_connect:
                if each.use_x and each.use_y and each.use_z:
                    found.add(bone.name)
    return np.array([bone.name in found for bone in ob.data.bones])


def unlocked(ob: bpy.types.Object, names: Sequence[str]) -> np.ndarray:
    """(C, 6) bool, location x, y, z and rotation x, y, z of bones that are not locked now."""
    return np.array([_free(ob.pose.bones[name]) for name in names], bool).reshape(-1, 6)


def locked_keys(ob: bpy.types.Object, action, slot) -> dict[str, frozenset[str]]:
    """Bones of which a keyed location is locked, in part or wholly, or a keyed rotation wholly, as are controls that
    were not meant to be moved; with the bones that each may move.

    A rotation that is locked in part is a hinge, or a swing as of Rigify's IK limbs.
    """
    keyed, found = keyed_bones(ob, action, slot), {}
    for bone in ob.pose.bones:
        free = _free(bone)
        locked = [way for way, is_free in (("location", free[:3].all()), ("rotation", free[3:].any())) if not is_free]
        if any((bone.name, way) in keyed for way in locked) and not bone.bone.use_connect:
            found[bone.name] = frozenset()
    if not found:
        return found
    names, reached = [bone.name for bone in ob.data.bones], bones_reached(ob)
    return {name: frozenset(names[k] for k in np.flatnonzero(reached[names.index(name)])) for name in found}


def _free(bone) -> np.ndarray:
    """(6,) channels of a pose bone that are not locked."""
    location = [not locked and not bone.bone.use_connect for locked in bone.lock_location]
    turning = [not locked for locked in bone.lock_rotation]
    return np.array(location + turning)


def _driven_channels(ob, bones) -> np.ndarray:
    """(B, 6) channels that drivers set; of quaternions all."""
    out = np.zeros((len(bones), 6), bool)
    if ob.animation_data is None or not driven_bones(ob).any():
        return out
    index = {bone.name: number for number, bone in enumerate(bones)}
    for curve in ob.animation_data.drivers:
        bone = actions.bone_of_path(curve.data_path)
        if curve.mute or bone is None or bone[0] not in index:
            continue
        if bone[1] == "location":
            out[index[bone[0]], curve.array_index] = True
        elif bone[1] == "rotation_euler":
            out[index[bone[0]], 3 + curve.array_index] = True
        elif bone[1] in SIZES and bone[1] != "scale":
            out[index[bone[0]], 3:] = True
    return out


def keyed_bones(ob, action, slot) -> set[tuple[str, str]]:
    """Names of bones with "location" or "rotation", whichever is animated."""
    curves = [*(actions.playing_curves(action, slot) if action is not None else ()), *strip_curves(ob)]
    bones = [actions.bone_of_path(curve.data_path) for curve in curves]
    return {(bone[0], bone[1].partition("_")[0]) for bone in bones if bone is not None and bone[1] in SIZES}


def _targets(ob) -> set[str]:
    """Names of bones that constraints of the rig's bones look at."""
    found = set()
    for bone in ob.pose.bones:
        for each in bone.constraints:
            for part in (each, *getattr(each, "targets", ())):
                if getattr(part, "target", None) == ob:
                    found.add(part.subtarget)
            if getattr(each, "pole_target", None) == ob:
                found.add(each.pole_subtarget)
    return found
