"""What a bone hangs in: the frame that its parent's pose and its own rules of inheritance make.

Matrices are 4x4, act on column vectors, and are in armature space.  F frames, B bones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.vectors import mean_scale
from .rig import Rig

_SHEAR_IGNORED = 1e-4  # the program leaves smaller cosines between the side axes alone
_SHEARED = 2.0 * _SHEAR_IGNORED


@dataclass(frozen=True)
class ParentFrame:
    """What a bone hangs in: its pose is [turn @ basis turn | place @ location], columns scaled."""

    turn: np.ndarray  # (F, n, 3, 3)
    place: np.ndarray  # (F, n, 4, 4)
    scale: np.ndarray | None  # (F, n, 3), None where it is one everywhere


def pose_in(rig: Rig, bones: np.ndarray, frame: ParentFrame, basis: np.ndarray) -> np.ndarray:
    """Pose (F, n, 4, 4) of some bones from their basis (F, n, 4, 4) and the frame they hang in."""
    location = np.where(rig.use_connect[bones, None], 0.0, basis[..., :3, 3])
    pose = np.zeros(basis.shape)
    pose[..., 3, 3] = 1.0
    pose[..., :3, :3] = frame.turn @ basis[..., :3, :3]
    pose[..., :3, 3] = (frame.place[..., :3, :3] @ location[..., None])[..., 0] + frame.place[..., :3, 3]
    if frame.scale is not None:
        pose[..., :3, :3] *= frame.scale[..., None, :]
    return pose


def location_in(rig: Rig, bones: np.ndarray, frame: ParentFrame, heads: np.ndarray) -> np.ndarray:
    """Location channels (F, n, 3) that put heads (F, n, 3) where they are; zero for connected bones."""
    away = heads - frame.place[..., :3, 3]
    location = (inverse(frame.place[..., :3, :3]) @ away[..., None])[..., 0]
    return np.where(rig.use_connect[bones, None], 0.0, location)


def inverse(matrices: np.ndarray) -> np.ndarray:
    """Inverses (..., 3, 3) by cofactors, pseudo-inverses where a scale of zero leaves none."""
    (a, b, c), (d, e, f), (g, h, i) = np.moveaxis(matrices, (-2, -1), (0, 1))
    out = np.empty(matrices.shape)
    out[..., 0, 0], out[..., 0, 1], out[..., 0, 2] = e * i - f * h, c * h - b * i, b * f - c * e
    out[..., 1, 0], out[..., 1, 1], out[..., 1, 2] = f * g - d * i, a * i - c * g, c * d - a * f
    out[..., 2, 0], out[..., 2, 1], out[..., 2, 2] = d * h - e * g, b * g - a * h, a * e - b * d
    determinant = a * out[..., 0, 0] + b * out[..., 1, 0] + c * out[..., 2, 0]
    singular = np.abs(determinant) < 1e-18
    out /= np.where(singular, 1.0, determinant)[..., None, None]
    if singular.any():
        out[singular] = np.linalg.pinv(matrices[singular])
    return out


def parent_frame(rig: Rig, bones: np.ndarray, pose: np.ndarray) -> ParentFrame:
    """The frames that bones (n,) hang in, given the pose (F, B, 4, 4) of their parents."""
    parents = rig.parents[bones]
    offsets = rig.offsets[bones]
    parent_pose = pose[:, np.maximum(parents, 0)]
    if (parents < 0).any():
        parent_pose[:, parents < 0] = np.eye(4)
    whole = parent_pose @ offsets
    if rig.is_plain[bones].all():
        return ParentFrame(whole[..., :3, :3], whole, None)
    turn, scale = whole[..., :3, :3].copy(), np.ones((*whole.shape[:2], 3))
    for group in _alike(rig, bones):
        example, rest = bones[group[0]], rig.rest[parents[group], :3, :3]
        rule = _inheriting if rig.inherit_rotation[example] else _not_inheriting
        turn[:, group], scale[:, group] = rule(
            rig.inherit_scale[example], parent_pose[:, group, :3, :3], offsets[group, :3, :3], rest
        )
    place, free = whole, ~rig.use_local_location[bones]
    place[:, free, :3, :3] = parent_pose[:, free, :3, :3]
    return ParentFrame(turn, place, scale)


def _alike(rig: Rig, bones: np.ndarray) -> list[np.ndarray]:
    """Positions in bones (n,) of children that do not follow the whole parent matrix, a group a rule."""
    rules: dict[tuple, list[int]] = {}
    for position, bone in enumerate(bones):
        rule = rig.inherit_scale[bone], bool(rig.inherit_rotation[bone])
        if rig.parents[bone] >= 0 and rule != ("FULL", True):
            rules.setdefault(rule, []).append(position)
    return [np.array(group) for group in rules.values()]


def _inheriting(
    mode: str, parent: np.ndarray, offset: np.ndarray, _rest: np.ndarray
) -> tuple[np.ndarray, np.ndarray | float]:
    """Turn (F, n, 3, 3) and scale after it, for bones that inherit the rotation of parent (F, n, 3, 3)."""
    if mode == "FIX_SHEAR":
        return _unsheared(parent @ offset), 1.0
    if mode == "NONE_LEGACY":
        return _unit_columns(parent) @ offset, 1.0
    if mode == "ALIGNED":
        straight = _unsheared(parent)
        return _unit_columns(straight) @ offset, np.linalg.norm(straight, axis=-2)
    turn = orthogonal(parent) @ offset
    if mode == "AVERAGE":
        turn = turn * mean_scale(parent)[..., None, None]
    return turn, 1.0


def _not_inheriting(
    mode: str, parent: np.ndarray, offset: np.ndarray, rest: np.ndarray
) -> tuple[np.ndarray, np.ndarray | float]:
    """Turn (F, n, 3, 3) and scale after it, for bones that keep the parent's rest rotation (n, 3, 3)."""
    size = np.linalg.norm(parent, axis=-2)
    turn = np.broadcast_to(rest, parent.shape)
    if mode == "FULL":
        return (turn * size[..., None, :]) @ offset, 1.0
    if mode == "ALIGNED":
        return turn @ offset, _size_of_volume(parent, size)
    if mode == "FIX_SHEAR":
        return _unsheared((turn * _size_of_volume(parent, size)[..., None, :]) @ offset), 1.0
    if mode == "AVERAGE":
        turn = turn * mean_scale(parent)[..., None, None]
    return turn @ offset, 1.0


def _size_of_volume(matrices: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Column lengths (..., 3), scaled until their product is the volume change of matrices (..., 3, 3)."""
    product = size.prod(axis=-1)
    filled = product > 0.0
    ratio = np.abs(np.linalg.det(matrices)) / np.where(filled, product, 1.0)
    return size * np.where(filled, np.cbrt(ratio), 1.0)[..., None]


def _unit_columns(matrices: np.ndarray) -> np.ndarray:
    """Columns (..., 3, 3) of length one; a column of zeros stays."""
    length = np.linalg.norm(matrices, axis=-2, keepdims=True)
    return matrices / np.where(length > 0.0, length, 1.0)


def _unsheared(matrices: np.ndarray) -> np.ndarray:
    """Orthogonal columns (..., 3, 3) with the volume kept: y stays, x and z share the correction evenly."""
    x, y, z = (matrices[..., axis] for axis in range(3))
    square = np.einsum("...k,...k->...", y, y)[..., None]
    square = np.where(square > 0.0, square, 1.0)
    x = x - y * (np.einsum("...k,...k->...", x, y)[..., None] / square)
    z = z - y * (np.einsum("...k,...k->...", z, y)[..., None] / square)
    x_length, z_length = _length(x), _length(z)
    x_unit, z_unit = x / x_length, z / z_length
    cosine = np.einsum("...k,...k->...", x_unit, z_unit)[..., None]
    sheared = (np.abs(cosine) > _SHEAR_IGNORED) & (np.abs(cosine) < 1.0 - 1e-7)
    if sheared.any():
        # Sum and difference of two unit vectors are perpendicular, and halfway between them.
        plus, minus = x_unit + z_unit, x_unit - z_unit
        plus, minus = plus / _length(plus), minus / _length(minus)
        shrink = np.sqrt(np.sqrt(np.clip(1.0 - cosine**2, 0.0, 1.0)) / 2.0)
        x = np.where(sheared, (plus + minus) * (x_length * shrink), x)
        z = np.where(sheared, (plus - minus) * (z_length * shrink), z)
    return np.stack((x, y, z), axis=-1)


def _length(vectors: np.ndarray) -> np.ndarray:
    """Lengths (..., 1) of vectors (..., 3), one for zeros so that a division is harmless."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.where(length > 0.0, length, 1.0)


def orthogonal(matrices: np.ndarray) -> np.ndarray:
    """Orthonormal columns (..., 3, 3), sheared ones about the bone's length (y); handedness stays."""
    out = _unit_columns(matrices)
    gram = np.swapaxes(out, -1, -2) @ out
    sheared = np.abs(gram[..., (0, 0, 1), (1, 2, 2)]).max(axis=-1) > _SHEARED
    if sheared.any():
        out[sheared] = _unit_columns(_unsheared(matrices[sheared]))
        gram = np.swapaxes(out, -1, -2) @ out
    return out @ (1.5 * np.eye(3) - 0.5 * gram)  # a Newton step to the polar rotation: rounding of single precision
