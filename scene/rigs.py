"""Armature objects as arrays: the rest skeleton, its joint limits, and joints over time."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

import bpy
import numpy as np

from ..solvers.core.errors import SceneError
from ..solvers.core.types import JointTrack, Skeleton
from ..solvers.skeleton.rig import Rig
from .names import named

_FLAT = 1e-6  # smallest over largest object scale under which it counts as zero (float32 matrices)
_UNEVEN = 1e-4  # relative difference of the object's axis scales that still counts as uniform


@dataclass(frozen=True)
class JointLimits:
    """How far bones may turn about their own axes, as Euler angles of the bone's basis in the order given.

    lower, upper: (B, 3) radians.  limited: (B, 3) bool, which of the axes have a limit at all.
    orders: B Euler orders.  ignored: names of bones with limits in another space than the bone's own.
    """

    lower: np.ndarray
    upper: np.ndarray
    limited: np.ndarray
    orders: tuple[str, ...]
    ignored: tuple[str, ...]


def find_rig(context: bpy.types.Context, name: str) -> bpy.types.Object:
    """The armature object of the scene with that name or full name.

    Raises SceneError with the nearest names there are, and for a name that several share.
    """
    objects = context.scene.objects
    found = named(objects, name)
    if found is not None:
        require_armature(found)
        return found
    if any(name in (ob.name, ob.name_full) for ob in bpy.data.objects):
        raise SceneError(f"'{name}' is not in the scene '{context.scene.name}'; link it to the scene.")
    rigs = {ob.name_full.casefold(): ob.name_full for ob in objects if ob.type == "ARMATURE"}
    near = [rigs[key] for key in difflib.get_close_matches(name.casefold(), rigs, cutoff=0.5)] or list(rigs.values())
    hint = " or ".join(f"'{rig}'" for rig in near[:5])
    raise SceneError(
        f"There is no object '{name}' in the scene; "
        + (f"did you mean {hint}?" if hint else "it has no armature either, check that this is the right file.")
    )


def require_armature(ob: bpy.types.Object) -> None:
    """Raises SceneError unless the object is an armature with bones that plays its pose."""
    if ob.type != "ARMATURE":
        raise SceneError(f"'{ob.name}' is of type {ob.type}; choose an armature.")
    if not ob.data.bones:  # its length is counted bone by bone
        raise SceneError(f"Armature '{ob.name}' has no bones.")
    if ob.data.is_editmode:
        raise SceneError(f"Armature '{ob.name}' is being edited; leave Edit Mode.")
    if ob.data.pose_position == "REST":
        raise SceneError(f"Armature '{ob.name}' shows its rest position; switch it to Pose Position.")


def why_not_editable(ob: bpy.types.Object | None) -> str | None:
    """Why what is selected is no rig that can be changed, or None."""
    if ob is None or ob.type != "ARMATURE":
        return "Select an armature."
    try:
        require_editable(ob)
    except SceneError as error:
        return str(error)
    return None


def require_editable(ob: bpy.types.Object) -> None:
    """Raises SceneError for a linked object that is not a library override: nothing can be kept on it."""
    if ob.library is not None:
        raise SceneError(
            f"'{ob.name}' is linked from '{ob.library.filepath}' and cannot be changed; "
            "make a library override or a local copy of it."
        )


def read_rig(ob: bpy.types.Object) -> Rig:
    """The rest skeleton of an armature object, in the order of its bones, parents first.

    Raises SceneError when the object is not an armature in pose position.
    """
    require_armature(ob)
    bones = ob.data.bones
    names = tuple(bone.name for bone in bones)
    index = {name: number for number, name in enumerate(names)}
    flat = np.empty(16 * len(bones), np.float32)
    bones.foreach_get("matrix_local", flat)
    return Rig(
        names=names,
        parents=np.array([index[bone.parent.name] if bone.parent else -1 for bone in bones]),
        rest=matrices(flat).astype(float),
        lengths=np.array([bone.length for bone in bones]),
        use_connect=np.array([bone.use_connect for bone in bones]),
        inherit_rotation=np.array([bone.use_inherit_rotation for bone in bones]),
        inherit_scale=tuple(bone.inherit_scale for bone in bones),
        use_local_location=np.array([bone.use_local_location for bone in bones]),
        rotation_modes=tuple(ob.pose.bones[name].rotation_mode for name in names),
        name=ob.name,
    )


def matrices(flat: np.ndarray) -> np.ndarray:
    """(n, 4, 4) of what foreach_get fills with matrices: it goes down the columns."""
    return flat.reshape(-1, 4, 4).transpose(0, 2, 1)


def constrained_bones(ob: bpy.types.Object) -> np.ndarray:
    """(B,) bool: bones with constraints and those that constraints of the rig refer to: controls, mechanisms."""
    found = set()
    for bone in ob.pose.bones:
        for constraint in bone.constraints:
            found.add(bone.name)
            for target in (constraint, *getattr(constraint, "targets", ())):
                if getattr(target, "target", None) == ob:
                    found.add(target.subtarget)
            if getattr(constraint, "pole_target", None) == ob:
                found.add(constraint.pole_subtarget)
    return np.array([bone.name in found for bone in ob.data.bones], bool)


def deform_bones(ob: bpy.types.Object) -> np.ndarray:
    """(B,) bool: the bones that deform meshes; all bones when none is marked so."""
    deform = np.array([bone.use_deform for bone in ob.data.bones])
    return deform if deform.any() else np.ones(len(deform), bool)


def joint_limits(ob: bpy.types.Object) -> JointLimits:
    """Limit Rotation constraints in the bone's own space, and IK limits, of each bone of the rig.

    Where both limit an axis the narrower range counts.
    """
    bones = [ob.pose.bones[bone.name] for bone in ob.data.bones]
    lower, upper = np.full((len(bones), 3), -np.inf), np.full((len(bones), 3), np.inf)
    orders, ignored = [], []
    for number, bone in enumerate(bones):
        order = bone.rotation_mode if bone.rotation_mode in _EULER else "XYZ"
        for limit in _rotation_limits(bone):
            if limit.owner_space != "LOCAL":
                ignored.append(bone.name)
                continue
            order = limit.euler_order if limit.euler_order != "AUTO" else order
            _narrow(lower[number], upper[number], _constraint_ranges(limit))
        _narrow(lower[number], upper[number], _ik_ranges(bone))
        orders.append(order)
    limited = np.isfinite(lower)
    return JointLimits(
        np.where(limited, lower, 0.0), np.where(limited, upper, 0.0), limited, tuple(orders), tuple(ignored)
    )


_EULER = frozenset({"XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"})


def _rotation_limits(bone: bpy.types.PoseBone) -> list:
    return [c for c in bone.constraints if c.type == "LIMIT_ROTATION" and not c.mute and c.influence > 0.0]


def _constraint_ranges(limit) -> list[tuple[float, float] | None]:
    """Range of each axis that a Limit Rotation constraint limits, None for a free one."""
    return [
        (getattr(limit, f"min_{axis}"), getattr(limit, f"max_{axis}")) if getattr(limit, f"use_limit_{axis}") else None
        for axis in "xyz"
    ]


def _ik_ranges(bone: bpy.types.PoseBone) -> list[tuple[float, float] | None]:
    """Range of each axis that is limited for inverse kinematics, None for a free one."""
    return [
        (getattr(bone, f"ik_min_{axis}"), getattr(bone, f"ik_max_{axis}"))
        if getattr(bone, f"use_ik_limit_{axis}")
        else None
        for axis in "xyz"
    ]


def _narrow(lower: np.ndarray, upper: np.ndarray, ranges: list[tuple[float, float] | None]) -> None:
    """Cut the ranges of three axes (3,) down, in place."""
    for axis, limits in enumerate(ranges):
        if limits is not None:
            lower[axis], upper[axis] = max(lower[axis], limits[0]), min(upper[axis], limits[1])


def joint_track(rig: Rig, pose: np.ndarray, object_world: np.ndarray, fps: float, frames: np.ndarray) -> JointTrack:
    """World positions of the heads of all bones, in the rig's order, then of the tails of leaf bones.

    pose: (F, B, 4, 4) armature space; object_world: (F, 4, 4); fps: rows a second; frames: (F,) scene frames.
    A tail's joint is named "<bone>/tail" and its parent is the bone's head.
    Raises SceneError naming the object where its scale is zero or negative.
    """
    require_positive_scale(rig.name, object_world, frames)
    skeleton = Skeleton(joint_names(rig), np.concatenate((rig.parents, rig.leaves)))
    return JointTrack(skeleton, joint_positions(rig, pose, object_world), fps, frames)


def joint_names(rig: Rig) -> tuple[str, ...]:
    """All bones, for their heads, then "<bone>/tail" of leaf bones."""
    return rig.names + tuple(f"{rig.names[leaf]}/tail" for leaf in rig.leaves)


def joint_positions(rig: Rig, pose: np.ndarray, object_world: np.ndarray) -> np.ndarray:
    """World places (F, J, 3) of the joints that `joint_names` lists; pose (F, B, 4, 4), object_world (F, 4, 4)."""
    ends = pose[:, rig.leaves]
    tails = ends[..., :3, 3] + ends[..., :3, 1] * rig.lengths[rig.leaves, None]
    local = np.concatenate((pose[..., :3, 3], tails), axis=1)
    return local @ np.swapaxes(object_world[:, :3, :3], -1, -2) + object_world[:, None, :3, 3]


def require_positive_scale(name: str, object_world: np.ndarray, frames: np.ndarray) -> None:
    """Raises SceneError where the object's world matrix (F, 4, 4) is no number, flat or mirrored."""
    bad = ~np.isfinite(object_world).all(axis=(1, 2))
    if bad.any():
        raise SceneError(
            f"The transform of '{name}' is not a number at frame {frames[bad.argmax()]:g}; clear or repair it."
        )
    size = np.linalg.norm(object_world[:, :3, :3], axis=-2)
    flat = size.min(axis=-1) <= _FLAT * size.max(axis=-1)
    for bad, what in ((flat, "zero"), (np.linalg.det(object_world[:, :3, :3]) < 0.0, "negative")):
        if bad.any():
            raise SceneError(
                f"'{name}' has a {what} scale at frame {frames[bad.argmax()]:g}; "
                "give it and its parents a positive scale and apply it (Ctrl+A)."
            )


def require_uniform_scale(name: str, object_world: np.ndarray, frames: np.ndarray) -> None:
    """Raises SceneError where the object's world matrix (F, 4, 4) stretches one axis more than another."""
    gram = np.swapaxes(object_world[:, :3, :3], -1, -2) @ object_world[:, :3, :3]
    square = np.trace(gram, axis1=1, axis2=2) / 3.0
    uneven = np.abs(gram - square[:, None, None] * np.eye(3)).max(axis=(1, 2)) > 2.0 * _UNEVEN * square
    if uneven.any():
        raise SceneError(
            f"'{name}' is scaled unevenly at frame {frames[uneven.argmax()]:g}, so that its bones change "
            "length as they turn; apply the scale of the object and its parents (Ctrl+A)."
        )
