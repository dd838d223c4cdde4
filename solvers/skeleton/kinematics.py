"""Forward and inverse kinematics of a Blender armature, over all frames at once.

Matrices are 4x4, act on column vectors, and are in armature space unless said otherwise.  F frames, B bones.
A bone's *basis* is its own location, rotation and scale channels as one matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..core.errors import InputError
from ..rotations import channels

INHERIT_SCALE = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")
ROTATION_MODES = ("QUATERNION", "AXIS_ANGLE", *channels.EULER_ORDERS)
_SHEAR_IGNORED = 1e-4  # the program leaves smaller cosines between the side axes alone
_SHEARED = 2.0 * _SHEAR_IGNORED


@dataclass(frozen=True)
class Rig:
    """The rest skeleton of one armature object, parents first.

    names: B bone names.  parents: (B,) int, -1 for a root.  rest: (B, 4, 4) armature space.  lengths: (B,).
    use_connect, inherit_rotation, use_local_location: (B,) bool.
    inherit_scale: B of INHERIT_SCALE.  rotation_modes: B of ROTATION_MODES.
    name: the armature object's, for messages.
    Raises InputError when a bone comes before its parent, or has an unknown mode.
    """

    names: tuple[str, ...]
    parents: np.ndarray
    rest: np.ndarray
    lengths: np.ndarray
    use_connect: np.ndarray
    inherit_rotation: np.ndarray
    inherit_scale: tuple[str, ...]
    use_local_location: np.ndarray
    rotation_modes: tuple[str, ...]
    name: str = "Armature"

    def __post_init__(self):
        if not len(self.names):
            raise InputError(f"'{self.name}' has no bones.")
        late = np.flatnonzero(self.parents >= np.arange(len(self.parents)))
        if late.size:
            raise InputError(f"Bone '{self.names[late[0]]}' comes before its parent; sort parents first.")
        for bone, scale, mode in zip(self.names, self.inherit_scale, self.rotation_modes, strict=True):
            if scale not in INHERIT_SCALE or mode not in ROTATION_MODES:
                raise InputError(f"Bone '{bone}': unknown inherit scale '{scale}' or rotation mode '{mode}'.")

    def index(self, name: str) -> int:
        """Index of a bone by its exact name; raises InputError when there is none."""
        if name not in self.names:
            raise InputError(f"'{self.name}' has no bone '{name}'.")
        return self.names.index(name)

    @cached_property
    def offsets(self) -> np.ndarray:
        """(B, 4, 4) rest matrix relative to the parent's rest matrix."""
        out = self.rest.copy()
        child = self.parents >= 0
        out[child] = np.linalg.inv(self.rest[self.parents[child]]) @ self.rest[child]
        return out

    @cached_property
    def levels(self) -> tuple[np.ndarray, ...]:
        """Bone indices of depth 0, 1, ...: all bones of a level can be posed together."""
        depth = np.zeros(len(self.parents), int)
        for bone, parent in enumerate(self.parents):
            depth[bone] = depth[parent] + 1 if parent >= 0 else 0
        return tuple(np.flatnonzero(depth == level) for level in range(depth.max() + 1))

    def ancestry(self, bones: np.ndarray) -> np.ndarray:
        """Indices, rising, of bones (n,) and all their ancestors."""
        above = np.zeros(len(self.parents), bool)
        for bone in bones:
            while bone >= 0 and not above[bone]:
                above[bone] = True
                bone = self.parents[bone]
        return np.flatnonzero(above)

    @cached_property
    def is_plain(self) -> np.ndarray:
        """(B,) bool: the bone follows its parent's whole matrix, location included."""
        full = np.array([mode == "FULL" for mode in self.inherit_scale])
        return self.use_local_location & ((self.parents < 0) | (full & self.inherit_rotation))

    @cached_property
    def leaves(self) -> np.ndarray:
        """Indices of bones without children."""
        return np.setdiff1d(np.arange(len(self.parents)), self.parents)


def _part_of(rig: Rig, bones: np.ndarray) -> Rig:
    """A rig of some bones (n,) alone, rising; all their ancestors are among them."""
    index = np.full(len(rig.parents) + 1, -1)
    index[bones] = np.arange(len(bones))
    return Rig(
        tuple(rig.names[bone] for bone in bones),
        index[rig.parents[bones]],
        rig.rest[bones],
        rig.lengths[bones],
        rig.use_connect[bones],
        rig.inherit_rotation[bones],
        tuple(rig.inherit_scale[bone] for bone in bones),
        rig.use_local_location[bones],
        tuple(rig.rotation_modes[bone] for bone in bones),
        rig.name,
    )


@dataclass(frozen=True)
class _Frame:
    """What a bone hangs in: its pose is [turn @ basis turn | place @ location], columns scaled."""

    turn: np.ndarray  # (F, n, 3, 3)
    place: np.ndarray  # (F, n, 4, 4)
    scale: np.ndarray | None  # (F, n, 3), None where it is one everywhere


def pose_matrices(rig: Rig, basis: np.ndarray) -> np.ndarray:
    """Armature-space pose (F, B, 4, 4) of basis matrices (F, B, 4, 4).

    Follows the program's rules for each inherit-scale mode, inherit rotation, local location and connected
    bones (which ignore their location channel).  Constraints are not part of it.
    """
    pose = np.empty(basis.shape)
    for bones in rig.levels:
        pose[:, bones] = _apply(rig, bones, _frame(rig, bones, pose), basis[:, bones])
    return pose


def basis_from_pose(rig: Rig, pose: np.ndarray) -> np.ndarray:
    """Basis matrices (F, B, 4, 4) that give the armature-space pose (F, B, 4, 4).

    A connected bone's location is zero, whatever the pose says.  A pose collapsed by a zero scale has no
    inverse: there the nearest basis is returned (pseudo-inverse).
    """
    bones = np.arange(len(rig.parents))
    frame = _frame(rig, bones, pose)
    target = pose[..., :3, :3]
    if frame.scale is not None:
        scale = np.where(np.abs(frame.scale) > 1e-12, frame.scale, 1.0)
        target = target / scale[..., None, :]
    basis = np.zeros(pose.shape)
    basis[..., 3, 3] = 1.0
    basis[..., :3, :3] = _inverse(frame.turn) @ target
    basis[..., :3, 3] = _location(rig, bones, frame, pose[..., :3, 3])
    return basis


def rotate_bones(
    rig: Rig, basis: np.ndarray, increments: np.ndarray, heads: dict[int, np.ndarray] | None = None
) -> np.ndarray:
    """New basis (F, B, 4, 4) in which every bone is turned by its increment from where it was.

    increments: (F, B, 3, 3) rotations in armature space; bone b goes from orientation R_b to
    increments_b R_b, whatever its parents do.  heads: bone index -> (F, 3) new armature-space head, for bones
    that are not connected.  Scale channels stay, location channels too where no head is given.
    A bone is carried by its parent's increment and only the rest of its own goes into its channels, which is
    exact where no bone has a non-uniform scale.
    Raises InputError for a wrong shape and for a head given to a connected bone.
    """
    if increments.shape != (*basis.shape[:2], 3, 3):
        raise InputError(f"Increments have shape {increments.shape}, expected {(*basis.shape[:2], 3, 3)}.")
    turn = inherited_turns(rig, basis)
    follows = (rig.parents >= 0) & rig.inherit_rotation
    carried = np.where(follows[:, None, None], increments[:, np.maximum(rig.parents, 0)], np.eye(3))
    own = np.swapaxes(carried, -1, -2) @ increments
    out = basis.copy()
    out[..., :3, :3] = np.swapaxes(turn, -1, -2) @ own @ turn @ basis[..., :3, :3]
    if heads:
        bones = np.array(sorted(heads))
        placer = HeadPlacer(rig, bones)
        part = out[:, placer.above]
        placer.place(part, np.stack([heads[bone] for bone in bones], axis=1))
        out[:, placer.above] = part
    return out


class HeadPlacer:
    """Sets locations that put some bones' heads where they are wanted; only those bones and their ancestors count."""

    def __init__(self, rig: Rig, bones: np.ndarray):
        """bones: (n,).  Raises InputError for a connected bone."""
        connected = bones[rig.use_connect[bones]]
        if connected.size:
            raise InputError(f"Bone '{rig.names[connected[0]]}' is connected and cannot be moved; disconnect it.")
        self.above = rig.ancestry(bones)
        self._part = _part_of(rig, self.above)
        place = np.full(len(rig.names), -1)
        place[bones] = np.arange(len(bones))
        self._levels = [(level, place[self.above[level]]) for level in self._part.levels]

    def place(self, basis: np.ndarray, heads: np.ndarray) -> None:
        """Set locations in place.

        basis: (F, m, 4, 4) of the bones `above`, all else in it as it is wanted.  heads: (F, n, 3) armature space.
        """
        locations, pose = basis[..., :3, 3], np.empty(basis.shape)
        for level, place in self._levels:
            frame = _frame(self._part, level, pose)
            if (place >= 0).any():
                found = _location(self._part, level, frame, heads[:, place])
                locations[:, level[place >= 0]] = found[:, place >= 0]
            if level is not self._levels[-1][0]:
                pose[:, level] = _apply(self._part, level, frame, basis[:, level])


def carriers(parents: np.ndarray, solved: np.ndarray) -> np.ndarray:
    """(B,) which of the solved bones (K,) each bone rides on: itself or its nearest solved ancestor, K for none.

    parents: (B,) the bone that each bone moves with, -1 for none, in any order.
    """
    index = np.full(len(parents) + 1, len(solved))
    index[solved] = np.arange(len(solved))
    at = np.arange(len(parents))
    climbing = index[at] == len(solved)
    while climbing.any():
        at[climbing] = parents[at[climbing]]
        climbing = (at >= 0) & (index[at] == len(solved))
    return index[at]


def tops(parents: np.ndarray) -> np.ndarray:
    """(B,) the parentless bone above each, itself included."""
    at = np.arange(len(parents))
    while (parents[at] >= 0).any():
        at = np.where(parents[at] >= 0, parents[at], at)
    return at


def carry_increments(parents: np.ndarray, solved: np.ndarray, increments: np.ndarray) -> np.ndarray:
    """Increments for all bones (F, B, 3, 3) from those (F, K, 3, 3) of the solved bones (K,).

    A bone that was not solved rides on its nearest solved ancestor; without one it does not turn.
    parents: see `carriers`.
    """
    still = np.broadcast_to(np.eye(3), (len(increments), 1, 3, 3))
    return np.concatenate((increments, still), axis=1)[:, carriers(parents, solved)]


def posed(rig: Rig, bones: np.ndarray, pose: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Pose (F, n, 4, 4) of bones (n,) from their basis (F, n, 4, 4); pose: (F, B, 4, 4), their parents in it."""
    return _apply(rig, bones, _frame(rig, bones, pose), basis)


def locations(rig: Rig, bones: np.ndarray, pose: np.ndarray, heads: np.ndarray) -> np.ndarray:
    """Location channels (F, n, 3) that put the heads of bones (n,) at (F, n, 3); pose: see `posed`."""
    return _location(rig, bones, _frame(rig, bones, pose), heads)


def inherited_turns(rig: Rig, basis: np.ndarray) -> np.ndarray:
    """(F, B, 3, 3) orthonormal, armature space: what the rotation of a basis (F, B, 4, 4) is applied to."""
    bones = np.arange(len(rig.parents))
    return orthogonal(_frame(rig, bones, pose_matrices(rig, basis)).turn)


def basis_turns(basis: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """(..., B, 3, 3) rotations in a basis (..., B, 4, 4), without scales and their signs; see `basis_to_channels`."""
    matrix = basis[..., :3, :3]
    return orthogonal(matrix) * _fitting(signs, matrix)[..., None, :]


def channels_to_basis(rig: Rig, location: np.ndarray, rotation: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Basis (F, B, 4, 4) of location and scale (F, B, 3) and rotation (F, B, 4) in each bone's mode.

    Rotation holds w x y z, or angle and axis, or the x y z angles and an unused zero.
    A connected bone's location counts as zero, as in the program.
    """
    basis = np.zeros((*location.shape[:2], 4, 4))
    basis[..., 3, 3] = 1.0
    basis[..., :3, 3] = np.where(rig.use_connect[:, None], 0.0, location)
    for mode, bones in _by(rig.rotation_modes):
        basis[:, bones, :3, :3] = _to_matrix(mode, rotation[:, bones]) * scale[:, bones, None, :]
    return basis


def basis_to_channels(
    rig: Rig, basis: np.ndarray, start: np.ndarray, signs: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Channels location (F, B, 3), rotation (F, B, 4), scale (F, B, 3) of a basis (F, B, 4, 4).

    Rotation is unwrapped over time beginning nearest to start (B, 4), in each bone's rotation mode.
    signs: (B, 3) of the scales, kept where they fit the basis; elsewhere all are negative when it is mirrored,
    else positive.  Sheared axes are made orthogonal about the bone's length.
    """
    matrix = basis[..., :3, :3]
    sign = _fitting(signs, matrix)
    scale = np.linalg.norm(matrix, axis=-2) * sign
    turn = orthogonal(matrix) * sign[..., None, :]
    rotation = np.zeros((*basis.shape[:2], 4))
    for mode, bones in _by(rig.rotation_modes):
        rotation[:, bones] = _from_matrix(mode, turn[:, bones], start[bones])
    return basis[..., :3, 3].copy(), rotation, scale


def _fitting(signs: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """(..., B, 3) signs (B, 3) of scales, where they do not fit the handedness of a matrix (..., B, 3, 3) all alike."""
    hand = np.where(np.linalg.det(matrix) < 0.0, -1.0, 1.0)[..., None]
    return np.where(signs.prod(axis=-1, keepdims=True) == hand, signs, hand)


def _to_matrix(mode: str, rotation: np.ndarray) -> np.ndarray:
    """Rotation channels (F, n, 4) of one mode to matrices (F, n, 3, 3)."""
    if mode == "QUATERNION":
        return channels.quaternion_to_matrix(rotation)
    if mode == "AXIS_ANGLE":
        return channels.axis_angle_to_matrix(rotation)
    return channels.euler_to_matrix(rotation[..., :3], mode)


def _from_matrix(mode: str, turn: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Rotations (F, n, 3, 3) to unwrapped channels (F, n, 4) of one mode, first nearest to start (n, 4)."""
    if mode == "QUATERNION":
        return channels.unwrap_quaternion(channels.matrix_to_quaternion(turn), start)
    if mode == "AXIS_ANGLE":
        return channels.unwrap_axis_angle(channels.matrix_to_axis_angle(turn), start)
    out = np.zeros((*turn.shape[:2], 4))
    out[..., :3] = channels.unwrap_euler(channels.matrix_to_euler(turn, mode), mode, start[..., :3])
    return out


def _by(modes: tuple[str, ...]) -> list[tuple[str, np.ndarray]]:
    """Each mode that occurs with the indices where it does."""
    modes = np.array(modes)
    return [(str(mode), np.flatnonzero(modes == mode)) for mode in np.unique(modes)]


def _apply(rig: Rig, bones: np.ndarray, frame: _Frame, basis: np.ndarray) -> np.ndarray:
    """Pose (F, n, 4, 4) of some bones from their basis (F, n, 4, 4) and the frame they hang in."""
    location = np.where(rig.use_connect[bones, None], 0.0, basis[..., :3, 3])
    pose = np.zeros(basis.shape)
    pose[..., 3, 3] = 1.0
    pose[..., :3, :3] = frame.turn @ basis[..., :3, :3]
    pose[..., :3, 3] = (frame.place[..., :3, :3] @ location[..., None])[..., 0] + frame.place[..., :3, 3]
    if frame.scale is not None:
        pose[..., :3, :3] *= frame.scale[..., None, :]
    return pose


def _location(rig: Rig, bones: np.ndarray, frame: _Frame, heads: np.ndarray) -> np.ndarray:
    """Location channels (F, n, 3) that put heads (F, n, 3) where they are; zero for connected bones."""
    away = heads - frame.place[..., :3, 3]
    location = (_inverse(frame.place[..., :3, :3]) @ away[..., None])[..., 0]
    return np.where(rig.use_connect[bones, None], 0.0, location)


def _inverse(matrices: np.ndarray) -> np.ndarray:
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


def _frame(rig: Rig, bones: np.ndarray, pose: np.ndarray) -> _Frame:
    """The frames that bones (n,) hang in, given the pose (F, B, 4, 4) of their parents."""
    parents = rig.parents[bones]
    offsets = rig.offsets[bones]
    parent_pose = pose[:, np.maximum(parents, 0)]
    if (parents < 0).any():
        parent_pose[:, parents < 0] = np.eye(4)
    whole = parent_pose @ offsets
    if rig.is_plain[bones].all():
        return _Frame(whole[..., :3, :3], whole, None)
    turn, scale = whole[..., :3, :3].copy(), np.ones((*whole.shape[:2], 3))
    for group in _alike(rig, bones):
        example, rest = bones[group[0]], rig.rest[parents[group], :3, :3]
        rule = _inheriting if rig.inherit_rotation[example] else _not_inheriting
        turn[:, group], scale[:, group] = rule(
            rig.inherit_scale[example], parent_pose[:, group, :3, :3], offsets[group, :3, :3], rest
        )
    place, free = whole, ~rig.use_local_location[bones]
    place[:, free, :3, :3] = parent_pose[:, free, :3, :3]
    return _Frame(turn, place, scale)


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
        turn = turn * _mean_scale(parent)[..., None, None]
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
        turn = turn * _mean_scale(parent)[..., None, None]
    return turn @ offset, 1.0


def _mean_scale(matrices: np.ndarray) -> np.ndarray:
    """Cube root of the volume change (...) of matrices (..., 3, 3)."""
    return np.cbrt(np.abs(np.linalg.det(matrices)))


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
